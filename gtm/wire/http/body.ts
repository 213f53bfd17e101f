/**
 * Reads a request's body to its end and throws it away. Most clients cannot cope with an answer and a closed connection
 * while they are still sending: http.md has the measurement.
 */
import type { IncomingMessage } from "node:http";

export type BodyEnd =
  | { readonly kind: "ended"; readonly bytes: number }
  | { readonly kind: "too-large" }
  | { readonly kind: "too-slow" }
  /** The client went away, or what it sent is no HTTP. */
  | { readonly kind: "aborted" };

export type BodyLimits = { readonly bodyBytes: number; readonly bodyMs: number };

const EMPTY: BodyEnd = { kind: "ended", bytes: 0 };

/** Whether anything follows the headers (RFC 9112 §6.3). */
export const hasBody = ({ headers }: Pick<IncomingMessage, "headers">): boolean =>
  headers["transfer-encoding"] !== undefined ||
  (headers["content-length"] !== undefined && headers["content-length"] !== "0");

/** Octets that Content-Length announces; null: it does not say. */
export const announcedBytes = ({ headers }: Pick<IncomingMessage, "headers">): number | null => {
  const length = headers["content-length"];
  return length === undefined ? null : Number(length);
};

/** Whether a body is known to be too large before any of it has come. */
export const isAnnouncedTooLarge = (incoming: IncomingMessage, { bodyBytes }: BodyLimits): boolean =>
  (announcedBytes(incoming) ?? 0) > bodyBytes;

/**
 * @param incoming of a request whose packet has been parsed to its end
 * @param onChunk sees every chunk once and may not keep it
 */
export const drainBody = (
  incoming: IncomingMessage,
  limits: BodyLimits,
  onChunk: OnChunk,
): Promise<BodyEnd> | BodyEnd => {
  if (!hasBody(incoming)) return EMPTY;
  if (isAnnouncedTooLarge(incoming, limits)) return { kind: "too-large" };
  if (incoming.destroyed) return { kind: "aborted" };
  return (incoming.complete ? takeBuffered : readToEnd)(incoming, limits, onChunk);
};

/** Gives a promise where the next chunk is for later; it never rejects. */
export type OnChunk = ((chunk: Buffer) => Promise<void> | undefined) | null;

/** What came together with its headers; it spares small requests the listeners and the timer, which cost more than they do. */
const takeBuffered = (incoming: IncomingMessage, limits: BodyLimits, onChunk: OnChunk): BodyEnd => {
  let bytes = 0;
  for (let chunk: Buffer | null = incoming.read(); chunk !== null; chunk = incoming.read()) {
    bytes += chunk.length;
    void onChunk?.(chunk);
  }
  return bytes > limits.bodyBytes ? { kind: "too-large" } : { kind: "ended", bytes };
};

const readToEnd = (incoming: IncomingMessage, limits: BodyLimits, onChunk: OnChunk): Promise<BodyEnd> =>
  new Promise((resolve) => {
    let bytes = 0;
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > limits.bodyBytes) settle({ kind: "too-large" });
      else pauseFor(onChunk?.(chunk));
    };
    const pauseFor = (later: Promise<void> | undefined): void => {
      if (later === undefined) return;
      incoming.pause();
      void later.then(() => incoming.resume());
    };
    const onEnd = (): void => settle({ kind: "ended", bytes });
    const onGone = (): void => settle({ kind: "aborted" });
    const timer = setTimeout(() => settle({ kind: "too-slow" }), limits.bodyMs);
    const settle = (end: BodyEnd): void => {
      clearTimeout(timer);
      incoming.off("data", onData).off("end", onEnd).off("close", onGone);
      resolve(end);
    };
    // The error of an aborted body tells nothing that "close" does not; without a listener it would be thrown.
    incoming.on("error", onGone).on("data", onData).on("end", onEnd).on("close", onGone);
  });
