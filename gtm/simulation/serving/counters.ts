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

export type Counting = { -readonly [K in keyof Counters]: Counters[K] } & {
  readonly finished: Record<"stop" | "length" | "abort", number>;
};

export const startCounting = (): Counting => ({
  prefixQueryTokens: 0,
  prefixHitTokens: 0,
  promptTokens: 0,
  computedTokens: 0,
  cachedTokens: 0,
  firstTokens: 0,
  finishedOutputTokens: 0,
  finished: { stop: 0, length: 0, abort: 0 },
});

export const countEvent = (counts: Counting, event: ServingEvent): void => {
  switch (event.kind) {
    case "prefill-started":
      counts.prefixQueryTokens += event.request.promptTokens;
      counts.prefixHitTokens += event.cachedTokens;
      return;
    case "first-token":
      counts.promptTokens += event.request.promptTokens;
      counts.computedTokens += event.computedTokens;
      counts.cachedTokens += event.cachedTokens;
      counts.firstTokens += 1;
      return;
    case "finished":
      counts.finishedOutputTokens += event.outputTokens;
      counts.finished[event.reason] += 1;
      return;
  }
};
