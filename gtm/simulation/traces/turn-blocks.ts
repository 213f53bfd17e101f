/** Hashes of a recorded turn's blocks: a trace names those of its prompt; its answer is in the next prompt, or in none. */
import { blockName } from "../generator/block-names.ts";
import { blockAt, eachBlock } from "./block-runs.ts";
import type { RecordedTurn } from "./recorded-trace.ts";

export type Naming = {
  readonly traceBlockTokens: number;
  /** A multiple of it. */
  readonly blockTokens: number;
  /** Which copy of the trace, or of the session; 1 or more. Shared prompts are the same in all. */
  readonly copy: number;
};

/**
 * @param next the conversation's next turn; null: this is its last
 * @param answer a number that no other turn has, for an answer that no prompt has
 * @returns one for each full block of prompt and answer
 */
export const turnBlocks = (
  { promptTokens, outputTokens, blocks }: RecordedTurn,
  next: RecordedTurn | null,
  { traceBlockTokens, blockTokens, copy }: Naming,
  answer: number,
): number[] => {
  const step = blockTokens / traceBlockTokens;
  const names: number[] = [];
  const fullOfPrompt = Math.floor(promptTokens / traceBlockTokens);
  const goesOn =
    next !== null && fullOfPrompt > 0 && blockAt(next.blocks, fullOfPrompt - 1) === blockAt(blocks, fullOfPrompt - 1);
  const known = goesOn
    ? Math.floor(Math.min(promptTokens + outputTokens, next.promptTokens) / traceBlockTokens)
    : fullOfPrompt;
  // Ids are chained, so the last of those that make a larger block stands for all of them.
  eachBlock(goesOn ? next.blocks : blocks, known, step, (id) => {
    names.push(id < 0 ? blockName(SHARED - id, 0) : blockName(copy * IDS_A_COPY, id));
  });
  const full = Math.floor((promptTokens + outputTokens) / blockTokens);
  while (names.length < full) names.push(blockName(ANSWERS + answer, names.length));
  return names;
};

/** Texts of shared prompts, of copies and of answers lie apart. */
const SHARED = 2 ** 50;
const IDS_A_COPY = 2 ** 10;
const ANSWERS = 2 ** 51;
