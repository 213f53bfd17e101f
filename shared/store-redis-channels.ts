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

export type ChannelsOptions = {
  /** What a listener threw: a bug, which must not reach the others. */
  readonly onBug: (fault: unknown) => void;
  /** A connection made anew could not ask for the channels: the next one does, or the server refuses them. */
  readonly onFault: (fault: Error) => void;
};

/** @param redis does not ask for its channels by itself (`autoResubscribe`): ioredis hears of no failure, and the process dies of it */
export const createRedisChannels = (redis: Redis, { onBug, onFault }: ChannelsOptions): RedisChannels => {
  const channels = new Map<string, Set<Listener>>();

  redis.on("ready", () => {
    if (channels.size > 0) redis.subscribe(...channels.keys()).catch(onFault);
  });

  redis.on("message", (channel: string, message: string) => {
    for (const listener of channels.get(channel) ?? []) {
      if (!listener.isOpen) continue;
      try {
        listener.onMessage(message);
      } catch (fault) {
        onBug(fault);
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
