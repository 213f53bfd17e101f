/** `/metrics` of trtllm-serve: a JSON list of iterations, which is emptied by who reads it. The newest one speaks. */
import type { EnginePayloads } from "./engine.ts";
import { fieldOf, numberIn } from "./json.ts";

export const ITERATIONS = "/metrics";

export type Iteration = {
  readonly requestsRunning: number | null;
  readonly requestsWaiting: number | null;
  readonly kvCapacityTokens: number | null;
  readonly gpuMemoryBytes: number | null;
  readonly usedBlocks: number | null;
  readonly maxBlocks: number | null;
  /** Since the start, in blocks. */
  readonly reusedBlocks: number | null;
  readonly missedBlocks: number | null;
};

/** `drained`: no iteration since somebody read it last, which an idle engine and a second reader both make. */
export type Iterations =
  | { readonly kind: "newest"; readonly iteration: Iteration }
  | { readonly kind: "drained" | "absent" };

export const iterationsIn = (further: EnginePayloads["further"]): Iterations => {
  const answer = further.get(ITERATIONS);
  const list = answer?.kind === "json" ? answer.json : undefined;
  if (!Array.isArray(list)) return { kind: "absent" };
  const newest: unknown = list.at(-1);
  return newest === undefined ? { kind: "drained" } : { kind: "newest", iteration: iterationOf(newest) };
};

/** Whether the list is one of iterations: other servers have lists there, too. */
export const tellsIterations = (further: EnginePayloads["further"]): boolean => {
  const answer = further.get(ITERATIONS);
  if (answer?.kind !== "json" || !Array.isArray(answer.json)) return false;
  return answer.json.every((one: unknown) => numberIn(one, "iter") !== null);
};

const iterationOf = (newest: unknown): Iteration => {
  const kv = fieldOf(newest, "kvCacheStats");
  const maxBlocks = numberIn(kv, "maxNumBlocks");
  const tokensPerBlock = numberIn(kv, "tokensPerBlock");
  return {
    requestsRunning: numberIn(newest, "numActiveRequests"),
    requestsWaiting: numberIn(newest, "numQueuedRequests"),
    kvCapacityTokens: maxBlocks === null || tokensPerBlock === null ? null : maxBlocks * tokensPerBlock,
    gpuMemoryBytes: numberIn(newest, "gpuMemUsage"),
    usedBlocks: numberIn(kv, "usedNumBlocks"),
    maxBlocks,
    reusedBlocks: numberIn(kv, "reusedBlocks"),
    missedBlocks: numberIn(kv, "missedBlocks"),
  };
};
