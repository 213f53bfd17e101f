/** Whether Redis answers: every connection is asked now and then, so that one that hangs is known before somebody waits for it. */
import type { Redis } from "ioredis";

export type Pulse = {
  /** Whether a connection that carries commands answered lately. */
  readonly isBeating: () => boolean;
  /** Resolves when the first connection answered and the channels are there, or the deadline has passed. */
  readonly settled: () => Promise<void>;
  readonly stop: () => void;
};

export type PulseOptions = {
  readonly connections: () => readonly Redis[];
  /** Of the connections, one that only listens. */
  readonly subscriber: Redis;
  readonly deadlineMs: number;
  readonly onChange: (isBeating: boolean) => void;
};

const ASKED_EVERY_MS = 250;

export const createPulse = (options: PulseOptions): Pulse => {
  const { subscriber, deadlineMs } = options;
  /** What each connection was asked and has not answered, in `performance.now()`; a connection without an entry owes nothing. */
  const askedAtMs = new Map<Redis, number>();
  const answering = new Set<Redis>();
  const startedAtMs = performance.now();
  const first = Promise.withResolvers<void>();
  let wasBeating = false;

  const isBeating = (): boolean => {
    for (const redis of answering) if (redis !== subscriber && redis.status === "ready") return true;
    return false;
  };
  const tell = (): void => {
    const now = isBeating();
    const isComplete = now && subscriber.status === "ready";
    if (isComplete || performance.now() - startedAtMs >= deadlineMs) first.resolve();
    if (now === wasBeating) return;
    wasBeating = now;
    options.onChange(now);
  };
  const ask = (redis: Redis): void => {
    const askedMs = askedAtMs.get(redis);
    if (askedMs !== undefined) {
      if (performance.now() - askedMs >= deadlineMs) answering.delete(redis);
      return;
    }
    // Nodes of a Cluster connect when they are first asked for something.
    if (redis.status === "wait") redis.connect().catch(() => undefined);
    if (redis.status !== "ready") {
      answering.delete(redis);
      return;
    }
    askedAtMs.set(redis, performance.now());
    redis
      .ping()
      .then(
        () => answering.add(redis),
        () => answering.delete(redis),
      )
      .finally(() => {
        askedAtMs.delete(redis);
        tell();
      });
  };
  const beat = (): void => {
    const connections = options.connections();
    for (const gone of answering) if (!connections.includes(gone)) answering.delete(gone);
    for (const redis of connections) ask(redis);
    tell();
  };
  const watched = new WeakSet<Redis>();
  /** A connection that has just come up is asked at once. */
  const watch = (): void => {
    for (const redis of options.connections()) {
      if (watched.has(redis)) continue;
      watched.add(redis);
      redis.on("ready", beat);
      redis.on("close", () => {
        answering.delete(redis);
        tell();
      });
    }
  };
  const timer = setInterval(() => {
    watch();
    beat();
  }, ASKED_EVERY_MS);
  timer.unref();
  watch();

  return {
    isBeating,
    settled: () => first.promise,
    stop: () => {
      clearInterval(timer);
      answering.clear();
      first.resolve();
    },
  };
};
