/** RAGPulse, questions to a university's service: https://github.com/flashserve/RAGPulse, made compact, with its table of contents. */
import { chainHash, ROOT_HASH } from "../serving/block-hash.ts";
import { runsOf } from "./block-runs.ts";
import { wholeNumbersIn } from "./csv-numbers.ts";
import type { RecordedTrace } from "./recorded-trace.ts";
import { clientsOf, type TimedTurn } from "./timed-turns.ts";
import { faultAt, isWholes, numberOf, type Row, rowsOf, type TraceFile, wholeOf } from "./trace-file.ts";

/** Ours to choose: contents are what the trace names, of 1 to 512 tokens. */
const BLOCK_TOKENS = 64;
/** In prompt order: system prompt, passages, history, what the web said, the question. */
const LISTS = 5;

type Question = {
  readonly atMs: number;
  readonly session: number;
  readonly promptTokens: number;
  readonly outputTokens: number;
  readonly contents: readonly number[];
  readonly systemContents: number;
};

/**
 * A line has `t` (s), `in`, `out`, `sid` and `b`: five lists of ids of contents. Ids are not chained: what is in a block is, here, with all
 * before it. What a prompt has beyond its contents, a few tokens of template, counts as its end.
 *
 * @param contents lines of `id,tokens`, a heading first
 * @param hasten every time is divided by it: the service gets a question in 85 s
 * @throws {OperationalError} GTM_TRACE_INVALID
 */
export const readRagpulse = (file: TraceFile, contents: TraceFile, hasten: number): RecordedTrace => {
  const tokens = wholeNumbersIn(contents, ["id", "tokens"]);
  const questions: Question[] = [];
  let before = 0;
  for (const row of rowsOf(file)) {
    const question = questionOf(row, tokens);
    if (question.atMs < before)
      throw faultAt(row.place, `times in rising order, found ${question.atMs / 1_000} s after ${before / 1_000} s`);
    before = question.atMs;
    questions.push({ ...question, atMs: question.atMs / hasten });
  }
  const common = sharedContents(questions);
  const ids = new Map<number, number>();
  const turns = questions.map((question): TimedTurn => {
    const { atMs, session, promptTokens, outputTokens } = question;
    return { atMs, conversation: session, promptTokens, outputTokens, blocks: blocksOf(question, tokens, common, ids) };
  });
  return { blockTokens: BLOCK_TOKENS, loop: "open", idsOf: "trace", timeStepMs: 0, ...clientsOf(turns) };
};

const questionOf = (row: Row, tokens: ReadonlyMap<number, number>): Question => {
  const lists = row.value["b"];
  if (!Array.isArray(lists) || lists.length !== LISTS || !lists.every(isWholes)) {
    throw faultAt(row.place, `"b" as ${LISTS} arrays of whole numbers of 0 or more`);
  }
  const contents: number[] = lists.flat();
  const unknown = contents.find((id) => !tokens.has(id));
  if (unknown !== undefined) throw faultAt(row.place, `only contents of the table of tokens, found ${unknown}`);
  return {
    atMs: numberOf(row, "t", 0) * 1_000,
    session: wholeOf(row, "sid", 0),
    promptTokens: wholeOf(row, "in", 1),
    outputTokens: Math.max(1, wholeOf(row, "out", 0)),
    contents,
    systemContents: (lists[0] as readonly number[]).length,
  };
};

/** Parts of system prompts that more than one session has; the others (a date, a name) are as private as a question. */
const sharedContents = (questions: readonly Question[]): ReadonlySet<number> => {
  const owners = new Map<number, number>();
  const shared = new Set<number>();
  for (const { session, contents, systemContents } of questions) {
    for (const id of contents.slice(0, systemContents)) {
      const owner = owners.get(id) ?? session;
      owners.set(id, owner);
      if (owner !== session) shared.add(id);
    }
  }
  return shared;
};

/** @param ids a number for every chained block, the same for the same; grows */
const blocksOf = (
  question: Question,
  tokens: ReadonlyMap<number, number>,
  common: ReadonlySet<number>,
  ids: Map<number, number>,
) => {
  const { contents, promptTokens, systemContents } = question;
  const blocks: number[] = [];
  let hash = ROOT_HASH;
  let end = 0;
  let isShared = true;
  contents.forEach((content, at) => {
    end += tokens.get(content) ?? 0;
    isShared &&= at < systemContents && common.has(content);
    hash = chainHash(hash, [content], 0, 1);
    const full = Math.floor(Math.min(end, promptTokens) / BLOCK_TOKENS);
    // A block belongs to the content that ends in it or covers it, chained with all before.
    while (blocks.length < full) blocks.push(idOf(ids, chainHash(hash, [blocks.length], 0, 1), isShared));
  });
  while (blocks.length < Math.floor(promptTokens / BLOCK_TOKENS))
    blocks.push(idOf(ids, chainHash(hash, [blocks.length], 0, 1), false));
  return runsOf(blocks);
};

const idOf = (ids: Map<number, number>, hash: number, isShared: boolean): number => {
  const id = ids.get(hash) ?? ids.size + 1;
  ids.set(hash, id);
  return isShared ? -id : id;
};
