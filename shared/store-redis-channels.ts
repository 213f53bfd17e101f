/** Channels over one listening connection: many who listen to one channel, each heard of on its own, harmed by no other. */
import type { Redis } from "ioredis";

export type RedisChannels = {
  readonly open: (channel: string, onMessage: (message: string) => void) => Subscription;
  readonly clear: () => void;
};

export type Subscription = {
  /** Resolves when Redis has taken it; rejects while the connection is away. */
  readonly taken: Promise<void>;
  readonly end: () => void;
};

type Listener = { readonly onMessage: (message: string) => void; isOpen: boolean };

/** @param onFault hears what a listener threw: a bug, which must not reach the others */
export const createRedisChannels = (redis: Redis, onFault: (fault: unknown) => void): RedisChannels => {
  const channels = new Map<string, Set<Listener>>();

  redis.on("message", (channel: string, message: string) => {
    for (const listener of channels.get(channel) ?? []) {
      if (!listener.isOpen) continue;
      try {
        listener.onMessage(message);
      } catch (fault) {
        onFault(fault);
      }
    }
  });
  const end = (channel: string, listener: Listener): void => {
    if (!listener.isOpen) return;
    listener.isOpen = false;
    const listeners = channels.get(channel);
    listeners?.delete(listener);
    if (listeners?.size !== 0) return;
    channels.delete(channel);
    // Messages that still come are heard by nobody, and a connection made anew asks for none.
    redis.unsubscribe(channel).catch(() => undefined);
  };

  return {
    open: (channel, onMessage) => {
      const listener: Listener = { onMessage, isOpen: true };
      const listeners = channels.get(channel) ?? new Set<Listener>();
      channels.set(channel, listeners.add(listener));
      return {
        // Once more does no harm, and tells whether the connection is there.
        taken: redis.subscribe(channel).then(() => undefined),
        end: () => end(channel, listener),
      };
    },
    clear: () => {
      for (const listeners of channels.values()) for (const listener of listeners) listener.isOpen = false;
      channels.clear();
    },
  };
};
