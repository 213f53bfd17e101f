/** One reader's server-sent events: filtered, at a bounded pace, in a bounded buffer; a reader that lags is let go. */
import type { Entry } from "#gtm/steering/ports.ts";
import type { EventHub, Happening } from "./event-hub.ts";
import type { RegionChange } from "./region-changes.ts";

/** HTML Living Standard §9.2: fields a line, an empty line ends the event. */
export const encodeEvent = (event: { id?: string; event: string; data: unknown }): string =>
  `${event.id === undefined ? "" : `id: ${event.id}\n`}event: ${event.event}\ndata: ${JSON.stringify(event.data)}\n\n`;

export const HEARTBEAT = ": heartbeat\n\n";
/** What a browser waits before it reconnects, ms. */
const GREETING = "retry: 2000\n\n";

/** A reader may lag this far, in octets, before it is let go. */
const MOST_BUFFERED = 1_048_576;
/** Decisions one reader is told of in a second; more nobody reads, and each costs the time of several decisions to explain. */
const MOST_PER_SECOND = 200;

export type StreamWish = {
  /** Which decisions and region changes to send. */
  readonly wants: (happening: Happening) => boolean;
  /** null: from now on. */
  readonly lastEventId: string | null;
};

export type StreamParts = {
  readonly hub: EventHub;
  readonly viewOf: (entry: Entry) => unknown;
  readonly monotonicMs: () => number;
  /** Ends the reader's connection; called at most once. */
  readonly dropReader: () => void;
  readonly onEnd: () => void;
};

export type EventStream = {
  readonly body: ReadableStream<Uint8Array>;
  readonly heartbeat: () => void;
  /** Ends it in good order, for a shutdown. */
  readonly close: () => void;
};

export const openEventStream = (wish: StreamWish, parts: StreamParts): EventStream => {
  const { hub } = parts;
  const encoder = new TextEncoder();
  const pace = createPace(parts.monotonicMs);
  let controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  let unsubscribe = (): void => {};

  const end = (): ReadableStreamDefaultController<Uint8Array> | null => {
    const open = controller;
    controller = null;
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
  const tell = (happening: Happening): void => {
    if (!wish.wants(happening)) return;
    send(encodeEvent({ id: hub.idOf(happening), event: happening.kind, data: dataOf(happening, parts) }));
  };
  const tellSkipped = (): void => {
    const decisions = pace.takeSkipped();
    if (decisions > 0) send(encodeEvent({ event: "skipped", data: { decisions } }));
  };
  const resume = (lastEventId: string): void => {
    const resumed = hub.since(lastEventId);
    if (resumed.kind === "gap") send(encodeEvent({ event: "gap", data: { after: lastEventId } }));
    else for (const happening of resumed.happenings) tell(happening);
  };

  const body = new ReadableStream<Uint8Array>(
    {
      start: (opened) => {
        controller = opened;
        send(GREETING);
        if (wish.lastEventId !== null) resume(wish.lastEventId);
        unsubscribe = hub.subscribe((happening) => {
          tellSkipped();
          if (happening.kind !== "decision" || !wish.wants(happening) || pace.allows()) tell(happening);
        });
      },
      cancel: () => {
        end();
      },
    },
    { highWaterMark: MOST_BUFFERED, size: (chunk) => chunk?.byteLength ?? 0 },
  );
  return {
    body,
    heartbeat: () => {
      tellSkipped();
      send(HEARTBEAT);
    },
    close: () => end()?.close(),
  };
};

type RegionEvent = { readonly at: string } & RegionChange;

const dataOf = (happening: Happening, { viewOf }: StreamParts): unknown => {
  switch (happening.kind) {
    case "decision":
      return viewOf(happening.entry);
    case "region":
      return { at: new Date(happening.atMs).toISOString(), ...happening.change } satisfies RegionEvent;
    case "operation":
      return { at: new Date(happening.atMs).toISOString(), ...happening.operation };
  }
};

/** Counts what a second has already carried; what is over is skipped and later told as a number. */
const createPace = (monotonicMs: () => number) => {
  let second = Number.NEGATIVE_INFINITY;
  let told = 0;
  let skipped = 0;
  return {
    allows: (): boolean => {
      const now = Math.floor(monotonicMs() / 1_000);
      if (now !== second) {
        second = now;
        told = 0;
      }
      told += 1;
      if (told <= MOST_PER_SECOND) return true;
      skipped += 1;
      return false;
    },
    /** Only once the second is over in which they were skipped. */
    takeSkipped: (): number => {
      if (Math.floor(monotonicMs() / 1_000) === second) return 0;
      const count = skipped;
      skipped = 0;
      return count;
    },
  };
};
