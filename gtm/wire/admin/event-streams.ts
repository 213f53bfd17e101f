/** All open event streams: how many there may be, their writes and heartbeats, and their end. */
import type { Entry } from "#gtm/steering/ports.ts";
import type { Clock } from "#shared/clock.ts";
import type { Metrics } from "#shared/metrics.ts";
import type { EventHub } from "./event-hub.ts";
import { type EventStream, openEventStream, type StreamWish } from "./event-stream.ts";
import { createEventTexts } from "./event-text.ts";

const MOST_STREAMS = 32;

export type Reader = {
  /** Ends its connection. */
  readonly drop: () => void;
  /** Whether whoever opened it may still read. */
  readonly stands: () => boolean;
};

export type EventStreams = {
  /** @returns null: too many are open */
  readonly open: (wish: StreamWish, reader: Reader) => ReadableStream<Uint8Array> | null;
  readonly heartbeat: () => void;
  /** Writes what waits. */
  readonly flush: () => void;
  /** Ends the streams of those who would not be let in any more. */
  readonly review: () => void;
  readonly closeAll: () => void;
};

type StreamsOptions = {
  readonly hub: EventHub;
  readonly viewOf: (entry: Entry) => unknown;
  readonly clock: Clock;
  readonly metrics: Metrics;
};

export const createEventStreams = ({ hub, viewOf, clock, metrics }: StreamsOptions): EventStreams => {
  const dropped = metrics.counter({
    name: "gtm_admin_event_readers_dropped_total",
    help: "Readers of the event stream that lagged too far behind and were let go.",
  });
  const readers = metrics.gauge({
    name: "gtm_admin_event_readers",
    help: "Readers of the event stream that are connected.",
  });
  const open = new Map<EventStream, Reader>();
  const textOf = createEventTexts(hub, viewOf);
  readers.set(0);
  return {
    open: (wish, reader) => {
      if (open.size >= MOST_STREAMS) return null;
      const stream: EventStream = openEventStream(wish, {
        hub,
        textOf,
        monotonicMs: clock.monotonicMs,
        dropReader: () => {
          dropped.inc();
          reader.drop();
        },
        onEnd: () => {
          open.delete(stream);
          readers.set(open.size);
        },
      });
      open.set(stream, reader);
      readers.set(open.size);
      return stream.body;
    },
    heartbeat: () => {
      for (const stream of [...open.keys()]) stream.heartbeat();
    },
    flush: () => {
      for (const stream of [...open.keys()]) stream.flush();
    },
    review: () => {
      for (const [stream, { stands }] of [...open]) if (!stands()) stream.close();
    },
    closeAll: () => {
      for (const stream of [...open.keys()]) stream.close();
    },
  };
};
