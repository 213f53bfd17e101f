/** All open event streams: how many there may be, their heartbeats, and their end. */
import type { Entry } from "#gtm/steering/ports.ts";
import type { Clock } from "#shared/clock.ts";
import type { Metrics } from "#shared/metrics.ts";
import type { EventHub } from "./event-hub.ts";
import { type EventStream, openEventStream, type StreamWish } from "./event-stream.ts";

const MOST_STREAMS = 32;

export type EventStreams = {
  /**
   * @param dropReader ends the reader's connection
   * @returns null: too many are open
   */
  readonly open: (wish: StreamWish, dropReader: () => void) => ReadableStream<Uint8Array> | null;
  readonly heartbeat: () => void;
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
  const open = new Set<EventStream>();
  readers.set(0);
  return {
    open: (wish, dropReader) => {
      if (open.size >= MOST_STREAMS) return null;
      const stream: EventStream = openEventStream(wish, {
        hub,
        viewOf,
        monotonicMs: clock.monotonicMs,
        dropReader: () => {
          dropped.inc();
          dropReader();
        },
        onEnd: () => {
          open.delete(stream);
          readers.set(open.size);
        },
      });
      open.add(stream);
      readers.set(open.size);
      return stream.body;
    },
    heartbeat: () => {
      for (const stream of [...open]) stream.heartbeat();
    },
    closeAll: () => {
      for (const stream of [...open]) stream.close();
    },
  };
};
