/** Responses that later requests go on from: kept by the engine that wrote them, as vLLM does, and lost with it. */
import { LRUCache } from "lru-cache";
import { closeAnswer } from "./prompt.ts";

export type StoredResponses = {
  /** The conversation so far as a prompt, its last answer closed. @returns null: it is not stored here */
  readonly get: (id: string) => string | null;
  readonly keep: (id: string, prompt: string, answer: string) => void;
};

const MOST = 10_000;
const MOST_BYTES = 256 * 1_048_576;

export const createStoredResponses = (): StoredResponses => {
  const texts = new LRUCache<string, string>({
    max: MOST,
    maxSize: MOST_BYTES,
    sizeCalculation: ({ length }) => length,
  });
  return {
    get: (id) => texts.get(id) ?? null,
    keep: (id, prompt, answer) => void texts.set(id, closeAnswer(prompt, answer)),
  };
};
