/** How long a request that arrives now would wait for its prefill, out of what an engine's metrics say. */

export type Queue = {
  readonly requestsWaiting: number | null;
  readonly requestsRunning: number | null;
  /** Tokens in the queue that no cache holds, where the engine says so. */
  readonly uncachedTokensWaiting: number | null;
  readonly kvCacheUsedFraction: number | null;
  /** Mean of what a request had to have computed lately; null: no request got its first token in the window. */
  readonly computedTokensPerRequest: number | null;
  /** Mean time a request decodes; null: not known. */
  readonly decodeMs: number | null;
  /** null: not known. */
  readonly prefillTokensPerSecond: number | null;
};

/** From here on a waiting request needs another one to end before it can start. */
const FULL_FRACTION = 0.95;

/**
 * The running prefill is left out: metrics do not show how much of it is done.
 *
 * @returns milliseconds, 0 only where nothing waits; null: not known
 */
export const backlogMs = (queue: Queue): number | null => {
  if (queue.requestsWaiting === null) return null;
  if (queue.requestsWaiting === 0 && (queue.uncachedTokensWaiting ?? 0) === 0) return 0;
  const tokens = queue.uncachedTokensWaiting ?? tokensWaiting(queue.requestsWaiting, queue.computedTokensPerRequest);
  const forRoomMs = waitForRoomMs(queue.requestsWaiting, queue);
  if (tokens === null || forRoomMs === null || queue.prefillTokensPerSecond === null) return null;
  return (1_000 * tokens) / queue.prefillTokensPerSecond + forRoomMs;
};

const tokensWaiting = (requests: number, perRequest: number | null): number | null =>
  perRequest === null ? null : requests * perRequest;

const waitForRoomMs = (requestsWaiting: number, queue: Queue): number | null => {
  if (queue.kvCacheUsedFraction === null) return null;
  if (queue.kvCacheUsedFraction < FULL_FRACTION) return 0;
  if (queue.requestsRunning === null || queue.decodeMs === null) return null;
  return (requestsWaiting / Math.max(queue.requestsRunning, 1)) * queue.decodeMs;
};
