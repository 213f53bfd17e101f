/** The store inside one process: for one GTM and its agents in the demo and in tests. Complete, and atomic because synchronous. */
import type { Clock } from "./clock.ts";
import { OperationalError } from "./errors.ts";
import type { Store } from "./store.ts";
import { createMemoryChannels } from "./store-memory-channels.ts";
import { createMemoryIndexes } from "./store-memory-indexes.ts";
import { createMemoryStreams } from "./store-memory-streams.ts";
import { createMemoryValues } from "./store-memory-values.ts";

/**
 * @param clock its monotonic time decides what has expired
 * @param onSubscriberFault hears what a subscriber threw: a bug, which must not reach whoever announced; a Node warning where absent
 */
export const createMemoryStore = (clock: Clock, onSubscriberFault: (fault: unknown) => void = warnOfFault): Store => {
  const values = createMemoryValues(clock);
  const indexes = createMemoryIndexes();
  const streams = createMemoryStreams(clock);
  const channels = createMemoryChannels(onSubscriberFault);
  let isOpen = true;

  /** The same call as a promise, refused once the store is closed. */
  const whileOpen =
    <A extends readonly unknown[], R>(call: (...args: A) => R): ((...args: A) => Promise<R>) =>
    async (...args) => {
      if (!isOpen) throw new OperationalError("GTM_STORE_UNREACHABLE", "the memory store has been closed");
      return call(...args);
    };

  return {
    get: whileOpen(values.get),
    getMany: whileOpen((keys: readonly string[]) => keys.map(values.get)),
    put: whileOpen(values.put),
    setIfAbsent: whileOpen(values.setIfAbsent),
    compareAndSet: whileOpen(values.compareAndSet),
    remove: whileOpen((key: string) => {
      values.drop(key);
      indexes.drop(key);
      streams.drop(key);
    }),
    indexAdd: whileOpen(indexes.add),
    indexRemove: whileOpen(indexes.remove),
    indexRange: whileOpen(indexes.range),
    indexTop: whileOpen(indexes.top),
    indexTrim: whileOpen(indexes.trim),
    append: whileOpen(streams.append),
    newest: whileOpen(streams.newest),
    announce: whileOpen(channels.announce),
    subscribe: whileOpen(channels.subscribe),
    isUp: () => isOpen,
    close: async () => {
      isOpen = false;
      for (const kind of [values, indexes, streams, channels]) kind.clear();
    },
  };
};

const warnOfFault = (fault: unknown): void =>
  process.emitWarning(fault instanceof Error ? fault : new Error(String(fault)));
