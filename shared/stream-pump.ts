/** One request to an engine or another gateway, whose answer goes to a client while it comes: unbuffered, at the client's pace. */
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { type RawHeaders, rawHeader, rawTextOf } from "./hop-headers.ts";
import { createSseCut, type SseCut } from "./sse-events.ts";

/** What of undici's dispatcher is used; its own type fits. */
export type Dispatches<Options> = { readonly dispatch: (options: Options, handler: PumpHandler) => boolean };

type Controller = {
  rawHeaders?: unknown;
  rawTrailers?: unknown;
  readonly pause: () => void;
  readonly resume: () => void;
  readonly abort: (reason: Error) => void;
};

export type PumpHandler = {
  onRequestStart: (controller: Controller) => void;
  onResponseStart: (controller: Controller, status: number, headers: IncomingHttpHeaders) => void;
  onResponseData: (controller: Controller, chunk: Buffer) => void;
  onResponseEnd: (controller: Controller) => void;
  onResponseError: (controller: Controller, error: Error) => void;
};

export type PumpRules = {
  /** Of HTTP/1.1, or of HTTP/2 by Node's compatible interface. Nothing has been written to it. */
  readonly outgoing: ServerResponse;
  /** Statuses that are thrown away unread, so that somebody else may be asked. */
  readonly declines: (status: number) => boolean;
  /** @returns the answer's headers for the client, names and values in turn */
  readonly headersFor: (status: number, raw: RawHeaders) => string[];
  /** Sees what passes; must not throw, nor keep the octets. */
  readonly head: (status: number, headers: IncomingHttpHeaders) => void;
  readonly chunk: (octets: Uint8Array) => void;
  /** What has to be done before the client gets the chunk that was seen last; null: nothing. Never rejects, and takes no time to speak of. */
  readonly before: () => Promise<void> | null;
  /** What ends a stream of events whose sender died; a whole event. */
  readonly failureEvent: () => string;
  /** A client that takes nothing for so long is cut, so that it does not hold an engine. */
  readonly readerStallMs: number;
};

export type Pumped =
  /** To its end; whether the client took all of it is between it and its connection. */
  | { readonly kind: "served"; readonly status: number }
  /** The client went away; the other side was told so by the end of its connection. */
  | { readonly kind: "aborted" }
  /** The other side died or fell silent in mid-answer: the client got an error event, or a broken connection; never a hang. */
  | { readonly kind: "failed"; readonly error: Error }
  /** Nothing has been written to the client: it may be asked elsewhere. */
  | { readonly kind: "unanswered"; readonly error: Error }
  | { readonly kind: "declined"; readonly status: number; readonly retryAfter: string | null };

/** Never rejects. */
export const pump = <Options>(to: Dispatches<Options>, options: Options, rules: PumpRules): Promise<Pumped> =>
  new Promise((resolve) => {
    const { outgoing } = rules;
    let controller: Controller | null = null;
    let status = 0;
    let cut: SseCut | null = null;
    let stall: NodeJS.Timeout | null = null;
    let isSettled = false;
    /** What came while something had to be done first, in its order; null: nothing has to be. */
    let held: (() => void)[] | null = null;

    const settle = (how: Pumped): void => {
      if (isSettled) return;
      isSettled = true;
      if (stall !== null) clearTimeout(stall);
      outgoing.off("close", onClientGone);
      outgoing.off("drain", onDrain);
      resolve(how);
    };
    const onClientGone = (): void => {
      settle({ kind: "aborted" });
      controller?.abort(new Error("the client went away"));
    };
    const onDrain = (): void => {
      if (stall !== null) clearTimeout(stall);
      stall = null;
      controller?.resume();
    };
    const write = (octets: Uint8Array): void => {
      if (octets.length === 0 || outgoing.write(octets)) return;
      controller?.pause();
      stall ??= setTimeout(() => outgoing.destroy(), rules.readerStallMs);
    };
    const release = (): void => {
      const steps = held ?? [];
      held = null;
      for (const step of steps) if (!isSettled) step();
      if (stall === null && !isSettled) controller?.resume();
    };
    const inOrder = (step: () => void): void => {
      if (held === null) step();
      else held.push(step);
    };
    const breakOff = (error: Error): void => {
      if (cut?.isBetween() === true) outgoing.end(rules.failureEvent());
      else outgoing.destroy();
      settle({ kind: "failed", error });
    };

    const finish = (rawTrailers: unknown): void => {
      const rest = cut?.rest();
      if (rest !== undefined && rest.length > 0) outgoing.write(rest);
      const trailers = trailersOf(rawTrailers);
      if (trailers !== null) outgoing.addTrailers(trailers);
      outgoing.end();
      settle({ kind: "served", status });
    };

    if (outgoing.destroyed || outgoing.closed) return settle({ kind: "aborted" });
    outgoing.on("close", onClientGone);
    outgoing.on("drain", onDrain);
    const handler: PumpHandler = {
      onRequestStart: (started) => {
        controller = started;
        if (isSettled) started.abort(new Error("the client went away"));
      },
      onResponseStart: (from, found, headers) => {
        // Such as 103 Early Hints: meant for this hop.
        if (found < 200 || isSettled) return;
        if (rules.declines(found)) {
          settle({ kind: "declined", status: found, retryAfter: headers["retry-after"] ?? null });
          return from.abort(new Error("declined"));
        }
        const raw = rawTextOf(from.rawHeaders as (Buffer | string)[]);
        const isEvents = isEventStream(headers);
        outgoing.writeHead(found, rules.headersFor(found, raw));
        status = found;
        if (isEvents) outgoing.flushHeaders();
        if (isEvents && isPlain(headers)) cut = createSseCut();
        rules.head(found, headers);
      },
      onResponseData: (_, chunk) => {
        if (isSettled) return;
        rules.chunk(chunk);
        const done = held === null ? rules.before() : null;
        if (done !== null) {
          held = [];
          controller?.pause();
          void done.then(release);
        }
        inOrder(() => write(cut === null ? chunk : cut.pass(chunk)));
      },
      onResponseEnd: (from) => {
        if (!isSettled) inOrder(() => finish(from.rawTrailers));
      },
      onResponseError: (_, error) => {
        if (isSettled) return;
        if (status === 0) settle({ kind: "unanswered", error });
        else inOrder(() => breakOff(error));
      },
    };
    try {
      to.dispatch(options, handler);
    } catch (error) {
      // Such as a dispatcher that has been closed; undici tells of most through the handler.
      handler.onResponseError(NO_CONTROLLER, error instanceof Error ? error : new Error(String(error)));
    }
  });

const NO_CONTROLLER: Controller = { pause: () => {}, resume: () => {}, abort: () => {} };

const isEventStream = (headers: IncomingHttpHeaders): boolean =>
  /^\s*text\/event-stream\b/i.test(String(headers["content-type"] ?? ""));

/** Into a compressed stream nobody can write an event. */
const isPlain = (headers: IncomingHttpHeaders): boolean => /^(?:identity)?$/i.test(headers["content-encoding"] ?? "");

/** RFC 9110 §6.5.1: what frames or routes a message is no trailer. */
const NO_TRAILER = /^(?:transfer-encoding|content-length|host|connection|trailer|content-encoding|content-type)$/i;

const trailersOf = (octets: unknown): Record<string, string> | null => {
  if (!Array.isArray(octets) || octets.length === 0) return null;
  const raw = rawTextOf(octets as (Buffer | string)[]);
  const names = raw.filter((name, at) => at % 2 === 0 && !NO_TRAILER.test(name));
  return names.length === 0
    ? null
    : Object.fromEntries(names.map((name) => [name, rawHeader(raw, name.toLowerCase()) ?? ""]));
};
