/** What a replica is asked for, and what it tells of its way through. */
import type { BlockHashes } from "./prefix-cache.ts";

export type EngineRequest = {
  readonly id: number;
  /** At least 1. */
  readonly promptTokens: number;
  /** At least 1; the model of an engine knows beforehand how long its answer will be. */
  readonly outputTokens: number;
  readonly finishReason: "stop" | "length";
  /** Full blocks of prompt and output; blocks beyond the array are computed but never found again. */
  readonly blocks: BlockHashes;
};

export type ServingEvent =
  | {
      readonly kind: "prefill-started";
      readonly request: EngineRequest;
      readonly atMs: number;
      readonly submittedAtMs: number;
      readonly cachedTokens: number;
    }
  | {
      readonly kind: "first-token";
      readonly request: EngineRequest;
      readonly atMs: number;
      readonly submittedAtMs: number;
      readonly startedAtMs: number;
      readonly cachedTokens: number;
      readonly computedTokens: number;
    }
  | {
      readonly kind: "finished";
      readonly request: EngineRequest;
      readonly atMs: number;
      readonly submittedAtMs: number;
      /** null: aborted before it started. */
      readonly startedAtMs: number | null;
      /** null: aborted before its first token. */
      readonly firstTokenAtMs: number | null;
      readonly cachedTokens: number;
      readonly computedTokens: number;
      /** Tokens written, which for an aborted request is not what was asked. */
      readonly outputTokens: number;
      readonly reason: "stop" | "length" | "abort";
    };

/** Blocks for the whole of it, output included. */
export const blocksNeeded = (request: EngineRequest, blockTokens: number): number =>
  Math.ceil((request.promptTokens + request.outputTokens) / blockTokens);

/** Blocks of a prompt that a cache may spare it: the last token is always computed, for something must yield the next. */
export const reusableBlocks = (promptTokens: number, blockTokens: number): number =>
  Math.floor((promptTokens - 1) / blockTokens);
