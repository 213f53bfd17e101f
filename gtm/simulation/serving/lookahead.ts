/** When all prefills that are here will have ended, and one more could start: exact, because the replica is played ahead. */
import { leave } from "./decode-batch.ts";
import { enqueue, type Job, runEngine, step } from "./engine.ts";
import { canStart, type Engine, forkEngine, hasRoom } from "./engine-state.ts";
import { nextEvent, nextEventAtMs, passUntil } from "./pace.ts";
import { nextToEnd } from "./prefill-lane.ts";
import type { PrefixCache } from "./prefix-cache.ts";
import { blocksNeeded } from "./request.ts";

/**
 * Nothing is done unless somebody asks. While requests wait, a copy is kept at the moment when the next newcomer could
 * start, and a request that joins the queue is played there too, so that asking after each of a thousand requests costs
 * each of them once, not the whole queue each time. The memory of a copy that is of no use any more is written over by
 * the next. Without a queue the answer needs no copy of the memory.
 */
export type Lookahead = {
  /** A request has joined the real queue. */
  readonly add: (job: Job) => void;
  /** Something happened that the copy could not foresee. */
  readonly forget: () => void;
  /** @returns ms from `engine.nowMs`, 0 or more */
  readonly waitMs: () => number;
};

export const createLookahead = (engine: Engine): Lookahead => {
  /** As if answers never outgrew their memory. */
  const roomy: Engine["options"] = { ...engine.options, admission: "whole" };
  let ahead: Engine | null = null;
  let spare: PrefixCache | null = null;
  const drop = (): void => {
    spare = ahead?.cache ?? spare;
    ahead = null;
  };
  return {
    add: (job) => {
      if (engine.queue.length === 0) drop();
      if (ahead === null) return;
      runEngine(ahead, Math.max(ahead.nowMs, engine.nowMs), ignore);
      enqueue(ahead, job, ignore);
    },
    forget: drop,
    waitMs: () => {
      // A copy of a queue that was is of no use.
      if (engine.queue.length === 0) {
        drop();
        if (hasRoom(engine) && !mayOutgrow(engine)) return openWithoutQueueMs(engine, roomy);
      }
      ahead ??= forkEngine(engine, spare);
      // One that was made while nobody waited stands still, and meanwhile somebody may have had to make room.
      runEngine(ahead, Math.max(ahead.nowMs, engine.nowMs), ignore);
      playUntilOpen(ahead);
      return Math.max(0, ahead.nowMs - engine.nowMs);
    },
  };
};

const ignore = (): void => {};

/** Whether answers might need all the memory that is free now. */
const mayOutgrow = ({ options, batch, cache }: Engine): boolean => {
  if (options.admission === "whole") return false;
  let blocks = 0;
  for (const { value } of batch.members)
    blocks += blocksNeeded(value.request, options.blockTokens) - value.blocks.length;
  return blocks >= cache.totalBlocks - cache.usedBlocks();
};

/** Who has nobody before him and room beside those who run waits for prefills and weights alone: memory need not be played. */
const openWithoutQueueMs = (engine: Engine, options: Engine["options"]): number => {
  if (engine.lane.length === 0 && engine.nowMs >= engine.readyAtMs) return 0;
  const copy: Engine = {
    ...engine,
    options,
    next: null,
    lane: engine.lane.map((one) => ({ ...one })),
    batch: { ...engine.batch, members: engine.batch.members.slice() },
  };
  while (copy.lane.length > 0 || copy.nowMs < copy.readyAtMs) {
    const { atMs, kind } = nextEvent(copy);
    passUntil(copy, atMs);
    copy.next = null;
    if (kind === "leave") leave(copy.batch);
    if (kind === "prefill") copy.lane.splice(nextToEnd(copy.lane), 1);
  }
  return copy.nowMs - engine.nowMs;
};

const playUntilOpen = (engine: Engine): void => {
  while (engine.queue.length > 0 || engine.lane.length > 0 || !canStart(engine)) {
    // Unreachable: what waits either waits for something that ends, or was refused when it was submitted.
    if (nextEventAtMs(engine) === Number.POSITIVE_INFINITY) throw new Error("a replica waits for nothing");
    step(engine, ignore);
  }
};
