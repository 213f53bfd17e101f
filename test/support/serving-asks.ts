/** Requests for an engine model with a small memory, drawn at random, and the kinds of engine that they are drawn for. */
import fc from "fast-check";
import { speedFromRate } from "#gtm/domain/serving.ts";
import { BLOCK_TOKENS, chainHash, ROOT_HASH } from "#gtm/simulation/serving/block-hash.ts";
import type { EngineOptions } from "#gtm/simulation/serving/engine-options.ts";
import type { EngineRequest } from "#gtm/simulation/serving/request.ts";

const KV_TOKENS = 6_400;
export const WHOLE: EngineOptions = {
  speed: speedFromRate(8_000),
  chunkTokens: null,
  prefillsAtOnce: 1,
  admission: "whole",
  blockTokens: BLOCK_TOKENS,
  kvTokens: KV_TOKENS,
  maxRunning: 3,
  itlMs: 20,
  itlSlope: 0.1,
  coldStartMs: 0,
};

/** Small chunks, so that answers are written during prefills, and a memory that answers outgrow. */
export const CHUNKED: EngineOptions = { ...WHOLE, chunkTokens: 64, admission: "prompt" };
export const ENGINES: readonly (readonly [string, EngineOptions])[] = [
  ["whole prefills", WHOLE],
  ["chunked prefill", { ...CHUNKED, admission: "whole" }],
  ["chunked prefill, admission by the prompt", CHUNKED],
  ["chunks that two prefills share", { ...CHUNKED, prefillsAtOnce: 2 }],
];

/** A turn of one of a few conversations that share a beginning; small memory, so that everything gets in the way of it. */
export const ask = fc.record({
  conversation: fc.integer({ min: 0, max: 3 }),
  promptTokens: fc.integer({ min: 1, max: 3_000 }),
  outputTokens: fc.integer({ min: 1, max: 200 }),
  gapMs: fc.integer({ min: 0, max: 900 }),
});
export const asks = fc.array(ask, { minLength: 1, maxLength: 30 });
export type Ask = typeof ask extends fc.Arbitrary<infer A> ? A : never;

export const SHARED_BLOCKS = 10;
const blocksOf = (conversation: number, tokens: number): number[] => {
  const blocks: number[] = [];
  let hash = ROOT_HASH;
  for (let i = 0; i < Math.floor(tokens / BLOCK_TOKENS); i++) {
    hash = chainHash(hash, [i < SHARED_BLOCKS ? 0 : conversation + 1, i], 0, 2);
    blocks.push(hash);
  }
  return blocks;
};
export const requestOf = (
  id: number,
  { conversation, promptTokens, outputTokens }: Omit<Ask, "gapMs">,
): EngineRequest => ({
  id,
  promptTokens,
  outputTokens,
  finishReason: "stop",
  blocks: blocksOf(conversation, promptTokens + outputTokens),
});
