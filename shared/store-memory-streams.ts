/** Capped streams of the memory store. */
import type { Clock } from "./clock.ts";
import type { StreamEntry } from "./store.ts";

export type MemoryStreams = {
  readonly append: (key: string, value: string, cap: number) => string;
  readonly newest: (key: string, count: number) => readonly StreamEntry[];
  readonly drop: (key: string) => void;
  readonly clear: () => void;
};

/** Trimming each time would move the whole stream for every entry; this much more is kept in between. */
const SLACK_FRACTION = 0.125;

export const createMemoryStreams = (clock: Clock): MemoryStreams => {
  const streams = new Map<string, StreamEntry[]>();
  let lastMs = 0;
  let sequence = 0;

  /** Epoch ms and a sequence number, as Redis makes them; grows even when the clock is set back. */
  const nextId = (): string => {
    const nowMs = Math.floor(clock.epochMs());
    sequence = nowMs > lastMs ? 0 : sequence + 1;
    lastMs = Math.max(lastMs, nowMs);
    return `${lastMs}-${sequence}`;
  };

  return {
    append: (key, value, cap) => {
      if (!(Number.isInteger(cap) && cap > 0)) throw new RangeError(`cap must be a whole number above 0, got ${cap}`);
      const entries = streams.get(key) ?? [];
      streams.set(key, entries);
      const id = nextId();
      entries.push({ id, value });
      if (entries.length > cap * (1 + SLACK_FRACTION)) entries.splice(0, entries.length - cap);
      return id;
    },
    newest: (key, count) => {
      const entries = streams.get(key) ?? [];
      return entries.slice(Math.max(0, entries.length - Math.max(0, count))).reverse();
    },
    drop: (key) => {
      streams.delete(key);
    },
    clear: () => streams.clear(),
  };
};
