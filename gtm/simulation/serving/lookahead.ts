/** When a request that came now would start its prefill: exact, because the replica is copied and played ahead. */
import {
  canStart,
  type Engine,
  enqueue,
  forkEngine,
  hasRoom,
  nextEventAtMs,
  runEngine,
  step,
  type Waiting,
} from "./engine.ts";

/**
 * While requests wait, the copy is kept at the moment when the next newcomer could start. A request that joins the queue
 * is played there too, so that asking after each of a thousand requests costs each of them once, not the whole queue each
 * time. Without a queue the answer is known without a copy.
 */
export type Lookahead = {
  /** A request has joined the real queue. */
  readonly add: (job: Waiting) => void;
  /** Something happened that the copy could not foresee. */
  readonly forget: () => void;
  /** @returns ms from `engine.nowMs`, 0 or more */
  readonly waitMs: () => number;
};

export const createLookahead = (engine: Engine): Lookahead => {
  let ahead: Engine | null = null;
  return {
    add: (job) => {
      if (engine.queue.length === 0) ahead = null;
      if (ahead === null) return;
      runEngine(ahead, Math.max(ahead.nowMs, engine.nowMs), ignore);
      enqueue(ahead, job, ignore);
    },
    forget: () => {
      ahead = null;
    },
    waitMs: () => {
      const openAtMs = openWithoutQueueAtMs(engine);
      if (openAtMs !== null) return Math.max(0, openAtMs - engine.nowMs);
      ahead ??= forkEngine(engine);
      playUntilOpen(ahead);
      return Math.max(0, ahead.nowMs - engine.nowMs);
    },
  };
};

const ignore = (): void => {};

/** Who has nobody before him and room beside those who run waits for the prefill and the weights alone; null: it is not so. */
const openWithoutQueueAtMs = (engine: Engine): number | null =>
  engine.queue.length > 0 || !hasRoom(engine) ? null : Math.max(engine.readyAtMs, engine.prefill?.endsAtMs ?? 0);

const playUntilOpen = (engine: Engine): void => {
  while (engine.queue.length > 0 || !canStart(engine)) {
    const atMs = nextEventAtMs(engine);
    // Unreachable: what waits either waits for something that ends, or was refused when it was submitted.
    if (atMs === Number.POSITIVE_INFINITY) throw new Error("a replica waits for nothing");
    step(engine, atMs, ignore);
  }
};
