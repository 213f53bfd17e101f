/** Mooncake's conversation trace (Kimi): https://github.com/kvcache-ai/Mooncake, FAST25-release/traces, as published or made compact. */
import { type BlockRuns, blockAt, checkRuns, runsOf } from "./block-runs.ts";
import { linkConversations } from "./link-conversations.ts";
import type { RecordedTrace } from "./recorded-trace.ts";
import { clientsOf, type TimedTurn } from "./timed-turns.ts";
import { faultAt, numberOf, type Row, rowsOf, type TraceFile, wholeOf, wholesOf } from "./trace-file.ts";

/** Fixed by the trace. */
const BLOCK_TOKENS = 512;
/** Its times come in batches of 3 s; left as they are the bursts dominate every queue. */
const TIME_STEP_MS = 3_000;

/**
 * Both forms, one JSON object a line in the order of time: `timestamp` (ms), `input_length`, `output_length`, `hash_ids`;
 * or `t` (s), `in`, `out`, `h` (runs of ids) and, where somebody has derived them, `sid` and `turn`. Who continues whom is
 * derived where it is not said. The first block that most requests begin with is the service's system prompt.
 *
 * @throws {OperationalError} GTM_TRACE_INVALID
 */
export const readMooncake = (file: TraceFile): RecordedTrace => {
  const turns: (TimedTurn & { readonly saidConversation: number | null })[] = [];
  let before = 0;
  for (const row of rowsOf(file)) {
    const turn = "hash_ids" in row.value ? publishedTurn(row) : compactTurn(row);
    if (turn.atMs < before) {
      throw faultAt(row.place, `times in rising order, found ${turn.atMs / 1_000} s after ${before / 1_000} s`);
    }
    before = turn.atMs;
    turns.push(turn);
  }
  const linked = turns.every(({ saidConversation }) => saidConversation !== null)
    ? turns.map(({ saidConversation }) => saidConversation ?? 0)
    : linkConversations(turns, BLOCK_TOKENS);
  const system = commonFirst(turns);
  const named = turns.map((turn, at) => ({
    ...turn,
    conversation: linked[at] ?? 0,
    blocks: system === null || blockAt(turn.blocks, 0) !== system ? turn.blocks : sharedFirst(turn.blocks),
  }));
  return {
    ...{ blockTokens: BLOCK_TOKENS, loop: "open", idsOf: "trace" },
    timeStepMs: isInSteps(turns) ? TIME_STEP_MS : 0,
    ...clientsOf(named),
  };
};

const publishedTurn = (row: Row) => ({
  atMs: numberOf(row, "timestamp", 0),
  promptTokens: wholeOf(row, "input_length", 1),
  outputTokens: Math.max(1, wholeOf(row, "output_length", 0)),
  blocks: checked(runsOf(wholesOf(row, "hash_ids")), wholeOf(row, "input_length", 1), row),
  saidConversation: null,
  conversation: 0,
});

const compactTurn = (row: Row) => ({
  atMs: numberOf(row, "t", 0) * 1_000,
  promptTokens: wholeOf(row, "in", 1),
  outputTokens: Math.max(1, wholeOf(row, "out", 0)),
  blocks: checked(wholesOf(row, "h"), wholeOf(row, "in", 1), row),
  saidConversation: "sid" in row.value ? wholeOf(row, "sid", 0) : null,
  conversation: 0,
});

const checked = (runs: BlockRuns, promptTokens: number, { place }: Row): BlockRuns => {
  checkRuns(runs, promptTokens, BLOCK_TOKENS, place);
  return runs;
};

/** @returns the id that more than half of the requests begin with; null: there is none */
const commonFirst = (turns: readonly TimedTurn[]): number | null => {
  const counts = new Map<number, number>();
  for (const { blocks } of turns) counts.set(blocks[0] ?? -1, (counts.get(blocks[0] ?? -1) ?? 0) + 1);
  for (const [id, count] of counts) if (count > turns.length / 2) return id;
  return null;
};

const sharedFirst = (runs: BlockRuns): BlockRuns => {
  const [start = 0, length = 0, ...rest] = runs;
  return length === 1 ? [SYSTEM_PROMPT, 1, ...rest] : [SYSTEM_PROMPT, 1, start + 1, length - 1, ...rest];
};
const SYSTEM_PROMPT = -1;

/** Whether nearly all times are multiples of the step; those a millisecond short of one are rounded the same. */
const isInSteps = (turns: readonly TimedTurn[]): boolean => {
  const inSteps = turns.filter(({ atMs }) => Math.abs(atMs - Math.round(atMs / TIME_STEP_MS) * TIME_STEP_MS) <= 1.5);
  return inSteps.length >= 0.9 * turns.length;
};
