/** What a replica has done since it started, counted as vLLM counts. */
import type { ServingEvent } from "./request.ts";

export type Counters = {
  /** Prompt tokens looked up in the prefix cache, when a request starts; and those found. */
  readonly prefixQueryTokens: number;
  readonly prefixHitTokens: number;
  /** Prompt tokens at the first token of their request: all of them, of these computed, and from the cache. */
  readonly promptTokens: number;
  readonly computedTokens: number;
  readonly cachedTokens: number;
  readonly firstTokens: number;
  /** Output tokens of finished requests; those still being written are the replica's to add. */
  readonly finishedOutputTokens: number;
  readonly finished: Readonly<Record<"stop" | "length" | "abort", number>>;
};

export const NO_COUNTS: Counters = {
  prefixQueryTokens: 0,
  prefixHitTokens: 0,
  promptTokens: 0,
  computedTokens: 0,
  cachedTokens: 0,
  firstTokens: 0,
  finishedOutputTokens: 0,
  finished: { stop: 0, length: 0, abort: 0 },
};

export const countEvent = (counts: Counters, event: ServingEvent): Counters => {
  switch (event.kind) {
    case "prefill-started":
      return {
        ...counts,
        prefixQueryTokens: counts.prefixQueryTokens + event.request.promptTokens,
        prefixHitTokens: counts.prefixHitTokens + event.cachedTokens,
      };
    case "first-token":
      return {
        ...counts,
        promptTokens: counts.promptTokens + event.request.promptTokens,
        computedTokens: counts.computedTokens + event.computedTokens,
        cachedTokens: counts.cachedTokens + event.cachedTokens,
        firstTokens: counts.firstTokens + 1,
      };
    case "finished":
      return {
        ...counts,
        finishedOutputTokens: counts.finishedOutputTokens + event.outputTokens,
        finished: { ...counts.finished, [event.reason]: counts.finished[event.reason] + 1 },
      };
  }
};
