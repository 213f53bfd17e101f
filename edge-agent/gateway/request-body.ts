/** A request's body: kept whole where it is small, so that it can be sent twice; passed on while it comes where it is not. */
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";

export type BodyRules = {
  /** Kept at most. */
  readonly replayBytes: number;
  /** Passed at most. */
  readonly mostBytes: number;
  /** Nothing came for so long. */
  readonly idleMs: number;
  /** A small body that takes longer than this to come is passed on meanwhile, and not kept. */
  readonly gatherMs: number;
};

export type Body =
  /** May be sent any number of times. null: there is none. */
  | { readonly kind: "whole"; readonly octets: Buffer | null }
  /** May be sent once, from the moment that somebody reads of it. */
  | { readonly kind: "passing"; readonly begun: Buffer; readonly send: () => Readable; readonly isSent: () => boolean }
  | { readonly kind: "too-large" }
  | { readonly kind: "aborted" };

/** What a sender of a `passing` body meets; the client's connection is told apart from the engine's by it. */
export class BodyFault extends Error {
  readonly kind: "too-large" | "too-slow" | "aborted";
  constructor(kind: BodyFault["kind"]) {
    super(kind);
    this.name = "BodyFault";
    this.kind = kind;
  }
}

export const hasBody = ({ headers, httpVersionMajor, method }: IncomingMessage): boolean => {
  if (headers["content-length"] !== undefined) return headers["content-length"] !== "0";
  // HTTP/2 frames a body without saying so before.
  return (
    headers["transfer-encoding"] !== undefined || (httpVersionMajor === 2 && method !== "GET" && method !== "HEAD")
  );
};

/** Never rejects. What is left of a refused body is for the caller to throw away. */
export const readBody = (incoming: IncomingMessage, rules: BodyRules): Promise<Body> => {
  if (!hasBody(incoming)) return Promise.resolve({ kind: "whole", octets: null });
  if (Number(incoming.headers["content-length"] ?? 0) > rules.mostBytes) return Promise.resolve({ kind: "too-large" });
  return new Promise((resolve) => gather(incoming, rules, resolve));
};

const gather = (incoming: IncomingMessage, rules: BodyRules, resolve: (body: Body) => void): void => {
  const chunks: Buffer[] = [];
  let length = 0;
  const done = (body: Body): void => {
    clearTimeout(timer);
    incoming.off("data", onData);
    incoming.off("end", onEnd);
    incoming.off("close", onClose);
    resolve(body);
  };
  const pass = (): void => {
    incoming.pause();
    done(passing(incoming, Buffer.concat(chunks, length), rules));
  };
  const onData = (chunk: Buffer): void => {
    chunks.push(chunk);
    length += chunk.length;
    if (length > rules.replayBytes) pass();
  };
  const onEnd = (): void => {
    const [first] = chunks;
    done({ kind: "whole", octets: chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks, length) });
  };
  const onClose = (): void => done({ kind: "aborted" });
  const timer = setTimeout(pass, rules.gatherMs);
  incoming.on("data", onData);
  incoming.on("end", onEnd);
  incoming.on("close", onClose);
};

const passing = (incoming: IncomingMessage, begun: Buffer, rules: BodyRules): Body => {
  let isSent = false;
  const octets = async function* (): AsyncGenerator<Buffer> {
    isSent = true;
    let length = begun.length;
    if (length > rules.mostBytes) throw new BodyFault("too-large");
    if (length > 0) yield begun;
    const more = incoming.iterator({ destroyOnReturn: false })[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
    for (;;) {
      const coming = more.next();
      // HTTP/2's stream below was paused with it, and reading alone would not wake it. It is being read, so nothing flows past.
      if (incoming.isPaused()) incoming.resume();
      const next = await within(coming, rules.idleMs);
      if (next.done === true) return;
      length += next.value.length;
      if (length > rules.mostBytes) throw new BodyFault("too-large");
      yield next.value;
    }
  };
  return { kind: "passing", begun, send: () => Readable.from(octets(), { objectMode: false }), isSent: () => isSent };
};

/** @throws {BodyFault} */
const within = async <T>(next: Promise<T>, idleMs: number): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new BodyFault("too-slow")), idleMs);
  });
  try {
    return await Promise.race([next, late]);
  } catch (fault) {
    throw fault instanceof BodyFault ? fault : new BodyFault("aborted");
  } finally {
    clearTimeout(timer);
  }
};
