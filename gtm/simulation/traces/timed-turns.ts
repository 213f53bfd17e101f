/** From requests with times to clients with turns: each conversation of an open loop is a client. */
import type { BlockRuns } from "./block-runs.ts";
import type { RecordedClient, RecordedTurn } from "./recorded-trace.ts";

export type TimedTurn = {
  /** After the trace's start. */
  readonly atMs: number;
  readonly conversation: number;
  readonly promptTokens: number;
  readonly outputTokens: number;
  readonly blocks: BlockRuns;
};

/** @param turns in the order of time, at least one @returns the clients in the order of their starts, and how long all takes */
export const clientsOf = (
  turns: readonly TimedTurn[],
): { readonly clients: readonly RecordedClient[]; readonly lengthMs: number } => {
  const clients = new Map<
    number,
    { readonly startsAtMs: number; readonly location: null; readonly turns: RecordedTurn[] }
  >();
  for (const { atMs, conversation, promptTokens, outputTokens, blocks } of turns) {
    let client = clients.get(conversation);
    if (client === undefined) {
      client = { startsAtMs: atMs, location: null, turns: [] };
      clients.set(conversation, client);
    }
    client.turns.push({ thread: 0, afterMs: atMs - client.startsAtMs, promptTokens, outputTokens, blocks });
  }
  return { clients: [...clients.values()], lengthMs: Math.max(1, turns.at(-1)?.atMs ?? 1) };
};
