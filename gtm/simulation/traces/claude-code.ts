/** Claude Code sessions: https://github.com/callanjfox/kv-cache-tester, made compact, one session a line. */
import { type BlockRuns, blockAt, blocksIn, checkRuns, withShared } from "./block-runs.ts";
import type { RecordedClient, RecordedTrace, RecordedTurn } from "./recorded-trace.ts";
import { faultAt, isRecord, isWholes, numberOf, type Row, rowsOf, type TraceFile, wholeOf } from "./trace-file.ts";

const BLOCK_TOKENS = 64;
/** More than the blocks of any tools and system prompt. */
const IDS_A_PROMPT = 100_000;

type Request = { readonly row: Row; readonly atMs: number; readonly promptTokens: number; readonly runs: BlockRuns };

/**
 * A line has `tool` and `sys` (tokens of the two) and `req`: `t` (s), `in`, `out`, `think` (s before it), `api` (s of the server),
 * `sub`: 1 for a sub-agent, `h`: runs of ids that hold within the session. Played as a closed loop by the think times. Tools and
 * system prompt are one text for all sessions with the same pair of sizes; requests that begin otherwise than their session are
 * not counted among them. A sub-agent is a conversation of its own, asked in turn with the others: the trace has few that overlap.
 *
 * @throws {OperationalError} GTM_TRACE_INVALID
 */
export const readClaudeCode = (file: TraceFile): RecordedTrace => {
  const prompts = new Map<string, number>();
  const clients: RecordedClient[] = [];
  for (const row of rowsOf(file)) {
    const tool = wholeOf(row, "tool", 0);
    const sys = wholeOf(row, "sys", 0);
    const pair = `${tool} ${sys}`;
    const prompt = prompts.get(pair) ?? prompts.size;
    prompts.set(pair, prompt);
    const blocks = Math.floor((tool + sys) / BLOCK_TOKENS);
    clients.push({
      startsAtMs: 0,
      location: null,
      turns: turnsOf(requestsOf(row), -(prompt + 1) * IDS_A_PROMPT, blocks),
    });
  }
  return { blockTokens: BLOCK_TOKENS, loop: "closed", idsOf: "client", timeStepMs: 0, clients, lengthMs: 1 };
};

const requestsOf = ({ place, value }: Row): readonly Request[] => {
  const given = value["req"];
  if (!Array.isArray(given) || given.length === 0) throw faultAt(place, '"req" as an array of at least one request');
  return given.map((one: unknown, at): Request => {
    if (!isRecord(one)) throw faultAt(place, `"req" ${at + 1} as an object`);
    const row = { place: { ...place, file: `${place.file} (request ${at + 1} of its line)` }, value: one };
    const runs = one["h"];
    if (!isWholes(runs)) throw faultAt(row.place, '"h" as an array of whole numbers of 0 or more');
    const promptTokens = wholeOf(row, "in", 1);
    checkRuns(runs, promptTokens, BLOCK_TOKENS, row.place);
    return { row, atMs: numberOf(row, "t", 0) * 1_000, promptTokens, runs };
  });
};

const turnsOf = (requests: readonly Request[], sharedId: number, sharedBlocks: number): readonly RecordedTurn[] => {
  const threads = new Map<number, number>();
  const main = requests.find(({ row }) => !isSub(row)) ?? requests[0];
  return requests.map((request, at): RecordedTurn => {
    const { row, promptTokens, runs } = request;
    const thread = isSub(row) ? threadOf(threads, blockAt(runs, 0) ?? 0) : 0;
    return {
      thread,
      afterMs: thinkMs(request, requests[at - 1] ?? null),
      promptTokens,
      outputTokens: Math.max(1, wholeOf(row, "out", 0)),
      blocks:
        thread === 0 && main !== undefined
          ? withShared(runs, sharedId, commonBlocks(runs, main.runs, sharedBlocks))
          : runs,
    };
  });
};

const isSub = ({ value }: Row): boolean => value["sub"] === 1;

/** A sub-agent is told by the block that it begins with; from 1 in the order of their first requests. */
const threadOf = (threads: Map<number, number>, firstBlock: number): number => {
  const thread = threads.get(firstBlock) ?? threads.size + 1;
  threads.set(firstBlock, thread);
  return thread;
};

/** How many of the first `limit` blocks are those of the session's first request: ids are chained, so all or some of them. */
const commonBlocks = (runs: BlockRuns, first: BlockRuns, limit: number): number => {
  let common = Math.min(limit, blocksIn(runs), blocksIn(first));
  while (common > 0 && blockAt(runs, common - 1) !== blockAt(first, common - 1)) common -= 1;
  return common;
};

/** Where another agent spoke before, or nothing is said, by the times: what is left since the request before was over. */
const thinkMs = ({ row, atMs }: Request, before: Request | null): number => {
  if (before === null) return 0;
  if ("think" in row.value && isSub(row) === isSub(before.row)) return numberOf(row, "think", 0) * 1_000;
  const servedMs = "api" in before.row.value ? numberOf(before.row, "api", 0) * 1_000 : 0;
  return Math.max(0, atMs - before.atMs - servedMs);
};
