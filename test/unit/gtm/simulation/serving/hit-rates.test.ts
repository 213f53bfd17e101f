/** Hit rates of the engine's memory against those counted from the sequence of requests alone. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createDice, logNormal } from "#gtm/simulation/dice.ts";
import { DEFAULT_ENGINE } from "#gtm/simulation/serving/engine-options.ts";
import { createReplica } from "#gtm/simulation/serving/replica.ts";
import type { EngineRequest } from "#gtm/simulation/serving/request.ts";

const BLOCK = 64;
const CONVERSATIONS = 60;
const SHARED_BLOCKS = 5;

/** Turns of conversations that take it in turns at random; each goes on from its own, and all begin alike. */
const sequence = (count: number): readonly EngineRequest[] => {
  const dice = createDice(5);
  let texts = 0;
  const begin = () => {
    texts += 1;
    return { text: texts, tokens: SHARED_BLOCKS * BLOCK, blocks: [] as number[] };
  };
  const grown = Array.from({ length: CONVERSATIONS }, begin);
  return Array.from({ length: count }, (_, id): EngineRequest => {
    const which = Math.floor(dice() * CONVERSATIONS);
    const one = grown[which] ?? begin();
    const promptTokens = one.tokens + Math.ceil(logNormal(dice, 200, 900));
    const outputTokens = Math.ceil(logNormal(dice, 80, 300));
    one.tokens = promptTokens + outputTokens;
    for (let at = one.blocks.length; at < Math.floor(one.tokens / BLOCK); at++)
      one.blocks.push(at < SHARED_BLOCKS ? at + 1 : one.text * 100_000 + at);
    const request: EngineRequest = { id, promptTokens, outputTokens, finishReason: "stop", blocks: one.blocks.slice() };
    if (one.tokens > 12_000) grown[which] = begin();
    return request;
  });
};

/** Each alone in the engine: one ends before the next comes. */
const simulated = (requests: readonly EngineRequest[], kvTokens: number, chunkTokens: number | null): number[] => {
  const admission = chunkTokens === null ? "whole" : "prompt";
  const replica = createReplica({ ...DEFAULT_ENGINE, blockTokens: BLOCK, kvTokens, chunkTokens, admission }, 0);
  return requests.map((request, at) => {
    replica.submit(request, at * 1e6);
    const ended = replica.advanceTo(at * 1e6 + 999_999).find((event) => event.kind === "finished");
    assert.ok(ended !== undefined);
    return ended.cachedTokens;
  });
};

/** Blocks that are sure to be found: full ones of what was computed, which the last token of an answer is not. */
const foundOf = ({ promptTokens }: EngineRequest): number => Math.floor((promptTokens - 1) / BLOCK);
const leftBy = ({ promptTokens, outputTokens }: EngineRequest): number =>
  Math.floor((promptTokens + outputTokens - 1) / BLOCK);

const countedInfinite = (requests: readonly EngineRequest[]): number[] => {
  const seen = new Set<number>();
  return requests.map((request) => {
    let found = 0;
    while (found < foundOf(request) && seen.has(request.blocks[found] ?? 0)) found += 1;
    for (let at = 0; at < leftBy(request); at++) seen.add(request.blocks[at] ?? 0);
    return found * BLOCK;
  });
};

/** Slots by last use, the oldest first; of one sequence the end is older than the beginning. null: nothing that has a name. */
const countedFinite = (requests: readonly EngineRequest[], totalBlocks: number): number[] => {
  let slots: (number | null)[] = Array.from({ length: totalBlocks }, () => null);
  return requests.map((request) => {
    let found = 0;
    while (found < foundOf(request) && slots.includes(request.blocks[found] ?? 0)) found += 1;
    const held = new Set(Array.from({ length: found }, (_, at) => request.blocks[at]));
    const needed = Math.ceil((request.promptTokens + request.outputTokens) / BLOCK);
    const rest = slots.filter((slot) => slot === null || !held.has(slot)).slice(needed - found);
    const own = Array.from({ length: needed }, (_, at) => (at < leftBy(request) ? (request.blocks[at] ?? null) : null));
    slots = [...rest, ...own.reverse()];
    return found * BLOCK;
  });
};

describe("a sequence of 800 turns of 60 conversations that share 320 tokens", () => {
  const requests = sequence(800);
  const promptTokens = requests.reduce((sum, one) => sum + one.promptTokens, 0);
  const rate = (cached: readonly number[]): number => cached.reduce((sum, tokens) => sum + tokens, 0) / promptTokens;

  it("finds in a memory without end all that was ever there", () => {
    const cached = simulated(requests, 40_000_000, null);
    assert.deepEqual(cached, countedInfinite(requests));
    assert.ok(rate(cached) > 0.8, `${rate(cached)}`);
  });

  const sizes: readonly { kvTokens: number; least: number; most: number }[] = [
    { kvTokens: 192_000, least: 0.5, most: 0.9 },
    { kvTokens: 64_000, least: 0.1, most: 0.5 },
  ];
  for (const { kvTokens, least, most } of sizes) {
    it(`finds in ${kvTokens} tokens what a list of the last used holds, turn by turn`, () => {
      const cached = simulated(requests, kvTokens, null);
      assert.deepEqual(cached, countedFinite(requests, kvTokens / BLOCK));
      assert.ok(rate(cached) > least && rate(cached) < most, `${rate(cached)}`);
    });
  }

  it("finds as much, but for 1 %, where answers take their memory as they grow", () => {
    const [whole, grown] = [null, 512].map((chunkTokens) => rate(simulated(requests, 192_000, chunkTokens)));
    assert.ok(Math.abs((whole ?? 0) - (grown ?? 1)) < 0.01, `${whole} and ${grown}`);
  });
});
