/**
 * Traffic from what a GTM decided: the same turns at the same times from the same places, for another policy, placement or
 * fleet. What the log does not hold is assumed: contents (a conversation's turns are chained to each other; that two
 * conversations share a prompt cannot be seen, so reuse is a lower bound) and the lengths of answers (those expected).
 */
import type { Location } from "#gtm/domain/topology.ts";
import { type BlockRuns, runsOf } from "../traces/block-runs.ts";
import type { RecordedClient, RecordedTrace, RecordedTurn } from "../traces/recorded-trace.ts";
import { faultAt, type TraceFile } from "../traces/trace-file.ts";
import { type DecidedTurn, decidedTurns } from "./decision-rows.ts";

/** Ours to choose. */
const BLOCK_TOKENS = 64;
/** A client's own conversation, and its sub-agents'; see traces/trace-client. */
const MOST_THREADS = 64;

export type RecordedDecisions = {
  readonly trace: RecordedTrace;
  readonly model: string;
  readonly leftOut: {
    /** Names resolved are no turns. */
    readonly dnsAnswers: number;
    /** Requests that named no conversation have no lengths either. */
    readonly withoutConversation: number;
    /** A simulation has one model: the one asked for, or the one that most turns had. */
    readonly otherModels: number;
  };
};

/**
 * @param model null: the one that most turns had
 * @throws {OperationalError} GTM_TRACE_INVALID, also where no turn is left
 */
export const readDecisions = (file: TraceFile, model: string | null): RecordedDecisions => {
  const { turns, leftOut } = decidedTurns(file);
  const wanted = model ?? commonest(turns.map((turn) => turn.model));
  const kept = turns.filter((turn) => turn.model === wanted);
  const [first] = kept;
  if (first === undefined || wanted === null) {
    const which = model === null ? "" : ` of the model ${model}`;
    throw faultAt(
      { file: file.name, line: 1 },
      `at least one HTTP turn${which} with a conversation among the decisions`,
    );
  }
  const lengthMs = Math.max(1, (kept.at(-1)?.atMs ?? 0) - first.atMs);
  const clients = clientsOf(kept, first.atMs);
  return {
    trace: { blockTokens: BLOCK_TOKENS, loop: "open", idsOf: "trace", timeStepMs: 0, clients, lengthMs },
    model: wanted,
    leftOut: { ...leftOut, otherModels: turns.length - kept.length },
  };
};

const commonest = (words: readonly string[]): string | null => {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  let best: string | null = null;
  for (const [word, count] of counts) if (count > (counts.get(best ?? "") ?? 0)) best = word;
  return best;
};

type Growing = {
  readonly startsAtMs: number;
  readonly location: Location | null;
  readonly turns: RecordedTurn[];
  /** Conversations of this client: its own first. */
  threads: number;
};
/** A conversation so far: whose it is, and the ids of its last prompt's blocks. */
type Held = { readonly client: Growing; readonly thread: number; ids: readonly number[] };

/** A conversation that began from another, as a sub-agent's does, is asked by the same client. */
const clientsOf = (turns: readonly DecidedTurn[], fromMs: number): readonly RecordedClient[] => {
  const conversations = new Map<string, Held>();
  const clients: Growing[] = [];
  let nextId = 1;
  for (const turn of turns) {
    const key = `${turn.pool} ${turn.conversation}`;
    const parent = turn.parent === null ? undefined : conversations.get(`${turn.pool} ${turn.parent}`);
    let held = conversations.get(key);
    if (held === undefined) {
      held = parent === undefined || parent.client.threads >= MOST_THREADS ? begun(turn, fromMs) : branched(parent);
      if (held.thread === 0) clients.push(held.client);
      conversations.set(key, held);
    }
    const promptTokens = Math.max(1, turn.contextTokens + turn.newTokens);
    const kept = held.ids.slice(0, Math.floor(turn.contextTokens / BLOCK_TOKENS));
    const added = Math.floor(promptTokens / BLOCK_TOKENS) - kept.length;
    held.ids = [...kept, ...Array.from({ length: added }, (_, at) => nextId + at)];
    nextId += added;
    held.client.turns.push(recordedTurn(turn, held, promptTokens, runsOf(held.ids), fromMs));
  }
  return clients;
};

const begun = (turn: DecidedTurn, fromMs: number): Held => ({
  client: { startsAtMs: turn.atMs - fromMs, location: locationOf(turn.area), turns: [], threads: 1 },
  thread: 0,
  ids: [],
});

const branched = (parent: Held): Held => {
  const thread = parent.client.threads;
  parent.client.threads += 1;
  return { client: parent.client, thread, ids: parent.ids };
};

const recordedTurn = (
  { atMs, outputTokens }: DecidedTurn,
  { client, thread }: Held,
  promptTokens: number,
  blocks: BlockRuns,
  fromMs: number,
): RecordedTurn => ({ thread, afterMs: atMs - fromMs - client.startsAtMs, promptTokens, outputTokens, blocks });

/** Half degrees are what the log keeps of a place. @returns null: it is not known, or an operator's name */
const locationOf = (area: string | null): Location | null => {
  const found = /^(-?\d{1,2}(?:\.\d)?),(-?\d{1,3}(?:\.\d)?)$/.exec(area ?? "");
  return found === null ? null : { latitude: Number(found[1]), longitude: Number(found[2]) };
};
