/** Gives a store that was wiped the pins that this instance knows: the newest first, paced, so that several GTMs are no storm. */
import type { ConversationId } from "#shared/ids.ts";
import type { WriteQueue } from "#shared/write-queue.ts";
import type { ConversationCache, KnownConversation } from "./conversation-cache.ts";

export type ConversationReoffer = {
  /** Begins, from the start if it is under way already. Returns at once. */
  readonly start: () => void;
  readonly stop: () => void;
};

/** 2 000 a second: 100 000 conversations within a minute. */
const ROUND_MS = 100;
const MOST_A_ROUND = 200;
/** Two GTMs that noticed the same do not begin together. */
const JITTER_MS = 2_000;
/** The queue is for the turns of now first. */
const MOST_WAITING = 1_000;

export const createConversationReoffer = (options: {
  readonly cache: ConversationCache;
  readonly queue: WriteQueue<ConversationId, KnownConversation>;
  /** A younger last turn is worth it, monotonic ms. */
  readonly sinceMs: () => number;
  readonly isUp: () => boolean;
  /** 0 to 1. */
  readonly random: () => number;
  readonly onOffered: (count: number) => void;
}): ConversationReoffer => {
  const { cache, queue } = options;
  let left: Iterator<ConversationId> = [].values();
  let timer: NodeJS.Timeout | null = null;

  const offer = (id: ConversationId): boolean => {
    const known = cache.peek(id);
    // What waits already is written anyhow.
    if (known === undefined || queue.get(id) !== null || known.conversation.lastTurnAtMs < options.sinceMs())
      return false;
    queue.add(id, known);
    return true;
  };
  const round = (): void => {
    timer = null;
    let offered = 0;
    const isRoom = options.isUp() && queue.size() < MOST_WAITING;
    for (let looked = 0; isRoom && looked < MOST_A_ROUND; looked++) {
      const { value, done } = left.next();
      if (done) {
        options.onOffered(offered);
        return;
      }
      if (offer(value)) offered++;
    }
    options.onOffered(offered);
    wait(ROUND_MS * (0.5 + options.random()));
  };
  const wait = (ms: number): void => {
    timer = setTimeout(round, ms);
    timer.unref();
  };
  const stop = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
  };
  return {
    stop,
    start: () => {
      stop();
      // Most recently used first, as they are now: the cache moves on meanwhile.
      left = [...cache.keys()].values();
      wait(options.random() * JITTER_MS);
    },
  };
};
