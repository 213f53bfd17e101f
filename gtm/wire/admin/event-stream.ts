/** One reader's server-sent events: filtered, at a bounded pace, a few writes a second; a reader that lags is let go. */
import type { EventHub, Happening } from "./event-hub.ts";
import { createEventPace } from "./event-pace.ts";
import { type EventTexts, encodeEvent } from "./event-text.ts";

export const HEARTBEAT = ": heartbeat\n\n";
/** What a browser waits before it reconnects, ms. */
const GREETING = "retry: 2000\n\n";

/** A reader may lag this far, in octets, before it is let go. */
const MOST_BUFFERED = 1_048_576;
/** Decisions one reader is told of in a second; more nobody reads, and each costs the time of several decisions to explain. */
export const MOST_PER_SECOND = 200;
/** What comes sooner after a write waits for the next one. */
export const WRITE_EVERY_MS = 250;

export type StreamWish = {
  /** Which decisions and region changes to send. */
  readonly wants: (happening: Happening) => boolean;
  /** null: from now on. */
  readonly lastEventId: string | null;
  /** Decisions a second, 1 to MOST_PER_SECOND. */
  readonly perSecond: number;
};

export type StreamParts = {
  readonly hub: Pick<EventHub, "since" | "subscribe">;
  readonly textOf: EventTexts;
  readonly monotonicMs: () => number;
  /** Ends the reader's connection; called at most once. */
  readonly dropReader: () => void;
  readonly onEnd: () => void;
};

export type EventStream = {
  readonly body: ReadableStream<Uint8Array>;
  readonly heartbeat: () => void;
  /** Writes what waits; to be called every WRITE_EVERY_MS. */
  readonly flush: () => void;
  /** Ends it in good order, for a shutdown. */
  readonly close: () => void;
};

export const openEventStream = (wish: StreamWish, parts: StreamParts): EventStream => {
  const { hub, textOf, monotonicMs } = parts;
  const encoder = new TextEncoder();
  const pace = createEventPace(wish.perSecond, monotonicMs);
  let controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  let unsubscribe = (): void => {};
  /** A happening becomes text only when it is written. */
  let waiting: (Happening | string)[] = [];
  let writtenAtMs = Number.NEGATIVE_INFINITY;

  const end = (): ReadableStreamDefaultController<Uint8Array> | null => {
    const open = controller;
    controller = null;
    waiting = [];
    unsubscribe();
    if (open !== null) parts.onEnd();
    return open;
  };
  const send = (text: string): void => {
    if (controller === null) return;
    controller.enqueue(encoder.encode(text));
    if ((controller.desiredSize ?? 0) > 0) return;
    end();
    parts.dropReader();
  };
  const flush = (): void => {
    if (controller === null || waiting.length === 0) return;
    const due = waiting;
    waiting = [];
    writtenAtMs = monotonicMs();
    let text = "";
    // What a reader that lags is let go for need not be made.
    const room = controller.desiredSize ?? 0;
    for (const one of due) {
      if (text.length > room) break;
      text += typeof one === "string" ? one : textOf(one);
    }
    send(text);
  };
  const add = (one: Happening | string): void => {
    waiting.push(one);
    if (monotonicMs() - writtenAtMs >= WRITE_EVERY_MS) flush();
  };
  const tellSkipped = (): void => {
    const decisions = pace.takeSkipped();
    if (decisions > 0) add(encodeEvent({ event: "skipped", data: { decisions } }));
  };
  const happened = (happening: Happening): void => {
    if (!wish.wants(happening)) return;
    tellSkipped();
    if (happening.kind !== "decision" || pace.allows()) add(happening);
  };
  /** Of very many only the newest: a reader that gets more at once than it may lag would be let go, and come back for them. */
  const resume = (lastEventId: string): void => {
    const resumed = hub.since(lastEventId);
    if (resumed.kind === "gap") waiting.push(encodeEvent({ event: "gap", data: { after: lastEventId } }));
    else {
      const missed = resumed.happenings.filter(wish.wants);
      let over = missed.filter(({ kind }) => kind === "decision").length - wish.perSecond;
      if (over > 0) waiting.push(encodeEvent({ event: "skipped", data: { decisions: over } }));
      for (const one of missed) if (one.kind !== "decision" || --over < 0) waiting.push(one);
    }
    flush();
  };

  const body = new ReadableStream<Uint8Array>(
    {
      start: (opened) => {
        controller = opened;
        send(GREETING);
        if (wish.lastEventId !== null) resume(wish.lastEventId);
        unsubscribe = hub.subscribe(happened);
      },
      cancel: () => {
        end();
      },
    },
    { highWaterMark: MOST_BUFFERED, size: (chunk) => chunk?.byteLength ?? 0 },
  );
  return {
    body,
    flush: () => {
      tellSkipped();
      flush();
    },
    heartbeat: () => {
      tellSkipped();
      waiting.push(HEARTBEAT);
      flush();
    },
    close: () => {
      flush();
      end()?.close();
    },
  };
};
