/**
 * A request's body that may have to be forwarded: held back while it is scanned for what the decision needs, and from then
 * on streamed. Small bodies are whole by then, and could be sent twice; of large ones only the beginning was ever kept.
 */
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { type BodyEnd, drainBody, hasBody, isAnnouncedTooLarge, type OnChunk } from "./body.ts";
import type { Limits } from "./limits.ts";

export type HeldBody = {
  readonly kind: "held";
  /** Octets that were held back. */
  readonly bytes: number;
  readonly isWhole: boolean;
  /** Of one that is whole any number of times; of others once, from the moment that somebody reads of it. null: there is none. */
  readonly send: () => Buffer | Readable | null;
  /** Whether it can be sent (once more). */
  readonly canSend: () => boolean;
  /** Reads what is left and throws it away. */
  readonly discard: () => Promise<BodyEnd> | BodyEnd;
};

/** What a reader of a body meets where it does not end well; it tells the client's connection from the region's. */
export class BodyFault extends Error {
  readonly end: Exclude<BodyEnd, { kind: "ended" }>;
  constructor(end: Exclude<BodyEnd, { kind: "ended" }>) {
    super(`the client's body: ${end.kind}`);
    this.name = "BodyFault";
    this.end = end;
  }
}

export type HoldRules = {
  readonly limits: Pick<Limits, "bodyBytes" | "bodyMs" | "heldMs">;
  /** Asks the client for a body that it holds back itself. */
  readonly onWanted: () => void;
  readonly onChunk: OnChunk;
  /** Whether enough has been seen to decide. @param bytes that are held back */
  readonly isEnough: (bytes: number) => boolean;
};

type Broken = Exclude<BodyEnd, { kind: "ended" }>;

export const holdBody = (
  incoming: IncomingMessage,
  rules: HoldRules,
): Promise<HeldBody | Broken> | HeldBody | Broken => {
  if (!hasBody(incoming)) return NO_BODY;
  if (isAnnouncedTooLarge(incoming, rules.limits)) return { kind: "too-large" };
  if (incoming.destroyed) return { kind: "aborted" };
  if (rules.isEnough(0)) return passing(incoming, [], 0, rules);
  rules.onWanted();
  return new Promise((resolve) => hold(incoming, rules, resolve));
};

const NO_BODY: HeldBody = {
  kind: "held",
  bytes: 0,
  isWhole: true,
  send: () => null,
  canSend: () => true,
  discard: () => ({ kind: "ended", bytes: 0 }),
};

const hold = (incoming: IncomingMessage, rules: HoldRules, resolve: (found: HeldBody | Broken) => void): void => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const settle = (found: HeldBody | Broken): void => {
    clearTimeout(timer);
    incoming.off("data", onData).off("end", onEnd).off("close", onGone);
    resolve(found);
  };
  const pass = (): void => {
    incoming.pause();
    settle(passing(incoming, chunks, bytes, { ...rules, onWanted: () => {} }));
  };
  const onData = (chunk: Buffer): void => {
    chunks.push(chunk);
    bytes += chunk.length;
    void rules.onChunk?.(chunk);
    if (bytes > rules.limits.bodyBytes) settle({ kind: "too-large" });
    else if (rules.isEnough(bytes)) pass();
  };
  const onEnd = (): void => settle(whole(chunks, bytes));
  const onGone = (): void => settle({ kind: "aborted" });
  const timer = setTimeout(pass, rules.limits.heldMs);
  // The error of an aborted body tells nothing that "close" does not; without a listener it would be thrown.
  incoming.on("error", onGone).on("data", onData).on("end", onEnd).on("close", onGone);
};

const whole = (chunks: readonly Buffer[], bytes: number): HeldBody => {
  const [first] = chunks;
  const octets = chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks, bytes);
  return {
    ...{ kind: "held", bytes, isWhole: true },
    send: () => octets,
    canSend: () => true,
    discard: () => ({ kind: "ended", bytes }),
  };
};

const passing = (
  incoming: IncomingMessage,
  begun: readonly Buffer[],
  bytes: number,
  { limits, onWanted }: HoldRules,
): HeldBody => {
  let isSent = false;
  const octets = async function* (): AsyncGenerator<Buffer> {
    isSent = true;
    onWanted();
    let passed = bytes;
    for (const chunk of begun) yield chunk;
    const more = incoming.iterator({ destroyOnReturn: false })[Symbol.asyncIterator]();
    for (;;) {
      const next = await within(more.next(), limits.bodyMs);
      if (next.done === true) return;
      passed += next.value.length;
      if (passed > limits.bodyBytes) throw new BodyFault({ kind: "too-large" });
      yield next.value;
    }
  };
  return {
    ...{ kind: "held", bytes, isWhole: false },
    send: () => Readable.from(octets(), { objectMode: false }),
    canSend: () => !isSent,
    discard: () => {
      onWanted();
      return drainBody(incoming, limits, null);
    },
  };
};

/** @throws {BodyFault} */
const within = async <T>(next: Promise<T>, mostMs: number): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new BodyFault({ kind: "too-slow" })), mostMs);
  });
  try {
    return await Promise.race([next, late]);
  } catch (fault) {
    throw fault instanceof BodyFault ? fault : new BodyFault({ kind: "aborted" });
  } finally {
    clearTimeout(timer);
  }
};
