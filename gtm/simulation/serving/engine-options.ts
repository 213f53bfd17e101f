/** What one replica is made of: its speed, its memory, its decode slots. */
import { type PrefillSpeed, speedFromRate } from "#gtm/domain/serving.ts";
import { BLOCK_TOKENS } from "./block-hash.ts";

export type EngineOptions = {
  readonly speed: PrefillSpeed;
  /**
   * Most tokens of one step, prefill and decode together, an integer, at least 1: each member of the batch writes one token
   * a step, and prefills share the rest. null: prefills are computed whole, beside a batch that goes on at its own pace.
   */
  readonly chunkTokens: number | null;
  /** How many prefills share a step's tokens equally; 1: first come, first served. */
  readonly prefillsAtOnce: number;
  /** Tokens of one block of KV memory, which one hash of `EngineRequest.blocks` stands for; an integer, at least 1. */
  readonly blockTokens: number;
  /** KV memory in tokens; whole blocks of it are used. */
  readonly kvTokens: number;
  /**
   * What a request must find room for before it starts. `whole`: its answer too, so that nothing is ever preempted.
   * `prompt`: no more than its prompt; when answers outgrow the memory, the youngest request is computed again later.
   */
  readonly admission: "whole" | "prompt";
  /** Most requests in prefill and decode together, at least 1. */
  readonly maxRunning: number;
  /** Gap between two output tokens of a request that decodes alone, ms, more than 0. */
  readonly itlMs: number;
  /** What each further decoding request adds to that gap, as a fraction of it; 0 or more. */
  readonly itlSlope: number;
  /** Time until the weights are loaded and the first request can start. */
  readonly coldStartMs: number;
};

/** A 70 B model on eight GPUs as steering's numbers have it; the decode numbers are chosen, not measured. */
export const DEFAULT_ENGINE: EngineOptions = {
  speed: speedFromRate(8_000),
  chunkTokens: null,
  prefillsAtOnce: 1,
  blockTokens: BLOCK_TOKENS,
  kvTokens: 400_000,
  admission: "whole",
  maxRunning: 256,
  itlMs: 25,
  itlSlope: 0.02,
  coldStartMs: 0,
};

/** As engines run today: chunked prefill with vLLM's 2 048 tokens a step, admission by the prompt. */
export const CHUNKED_ENGINE: EngineOptions = { ...DEFAULT_ENGINE, chunkTokens: 2_048, admission: "prompt" };

export const totalBlocksOf = ({ kvTokens, blockTokens }: EngineOptions): number => Math.floor(kvTokens / blockTokens);
