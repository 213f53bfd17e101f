/** Requests for the engine model; every argument that a test does not name is unremarkable. */
import { BLOCK_TOKENS, chainHash, ROOT_HASH } from "#gtm/simulation/serving/block-hash.ts";
import type { EngineRequest } from "#gtm/simulation/serving/request.ts";

type RequestWish = {
  readonly promptTokens: number;
  readonly outputTokens?: number;
  /** Requests of one conversation share all their content, as far as both go. */
  readonly conversation?: number;
  /** Tokens at the beginning that all conversations share. */
  readonly sharedTokens?: number;
};

let lastId = 0;

export const aRequest = (wish: RequestWish): EngineRequest => {
  const { promptTokens, outputTokens = 1, conversation = 0, sharedTokens = 0 } = wish;
  const blocks: number[] = [];
  let hash = ROOT_HASH;
  for (let i = 0; i < Math.floor((promptTokens + outputTokens) / BLOCK_TOKENS); i++) {
    hash = chainHash(hash, [(i + 1) * BLOCK_TOKENS <= sharedTokens ? -1 : conversation, i], 0, 2);
    blocks.push(hash);
  }
  lastId += 1;
  return { id: lastId, promptTokens, outputTokens, finishReason: "stop", blocks };
};
