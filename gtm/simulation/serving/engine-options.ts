/** What one replica is made of: its speed, its memory, its decode slots. */
import { type PrefillSpeed, speedFromRate } from "#gtm/domain/serving.ts";
import { BLOCK_TOKENS } from "./block-hash.ts";

export type EngineOptions = {
  readonly speed: PrefillSpeed;
  /** Tokens of one block of KV memory, which one hash of `EngineRequest.blocks` stands for; an integer, at least 1. */
  readonly blockTokens: number;
  /** KV memory in tokens; whole blocks of it are used. */
  readonly kvTokens: number;
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
  blockTokens: BLOCK_TOKENS,
  kvTokens: 400_000,
  maxRunning: 256,
  itlMs: 25,
  itlSlope: 0.02,
  coldStartMs: 0,
};

export const totalBlocksOf = ({ kvTokens, blockTokens }: EngineOptions): number => Math.floor(kvTokens / blockTokens);
