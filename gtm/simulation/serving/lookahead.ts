/** When a request that came now would start its prefill: exact, because the replica is copied and played ahead. */
import { canStart, type Engine, enqueue, forkEngine, nextEventAtMs, runEngine, step, type Waiting } from "./engine.ts";

/**
 * The copy is kept at the moment when the next newcomer could start. A request that joins the queue is played there too,
 * so that asking after each of a thousand requests costs each of them once, not the whole queue each time.
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
      if (ahead === null) return;
      // Time that really passed since, with nothing in the queue.
      runEngine(ahead, Math.max(ahead.nowMs, engine.nowMs), ignore);
      enqueue(ahead, job, ignore);
    },
    forget: () => {
      ahead = null;
    },
    waitMs: () => {
      if (engine.queue.length === 0 && canStart(engine)) return 0;
      ahead ??= forkEngine(engine);
      playUntilOpen(ahead);
      return Math.max(0, ahead.nowMs - engine.nowMs);
    },
  };
};

const ignore = (): void => {};

const playUntilOpen = (engine: Engine): void => {
  while (engine.queue.length > 0 || !canStart(engine)) {
    const atMs = nextEventAtMs(engine);
    // Unreachable: what waits either waits for something that ends, or was refused when it was submitted.
    if (atMs === Number.POSITIVE_INFINITY) throw new Error("a replica waits for nothing");
    step(engine, atMs, ignore);
  }
};
