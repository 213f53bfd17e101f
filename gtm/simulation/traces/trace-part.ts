/** Half of a trace, and a trace cut at a length of prompt. */
import type { RecordedClient, RecordedTrace } from "./recorded-trace.ts";
import type { TraceOptions } from "./trace-options.ts";

/** Tune on one half, report on the other: no session is in both. */
export const partOf = (trace: RecordedTrace, part: TraceOptions["part"]): RecordedTrace => {
  if (part === "all") return trace;
  const half = Math.ceil(trace.clients.length / 2);
  const clients = part === "tuning" ? trace.clients.slice(0, half) : trace.clients.slice(half);
  const fromMs = clients[0]?.startsAtMs ?? 0;
  const toMs = part === "tuning" ? (trace.clients[half]?.startsAtMs ?? trace.lengthMs) : trace.lengthMs;
  return {
    ...trace,
    clients: clients.map((client) => ({ ...client, startsAtMs: client.startsAtMs - fromMs })),
    lengthMs: Math.max(1, toMs - fromMs),
  };
};

/** A client's own conversation ends before its first longer prompt, and with it everything that comes later; a sub-agent's ends alone. */
export const cutAt = (trace: RecordedTrace, mostPromptTokens: number | null): RecordedTrace => {
  if (mostPromptTokens === null) return trace;
  const clients = trace.clients
    .map((client) => cutClient(client, mostPromptTokens))
    .filter(({ turns }) => turns.length > 0);
  return { ...trace, clients };
};

const cutClient = (client: RecordedClient, most: number): RecordedClient => {
  const firstTooLong = client.turns.findIndex(({ thread, promptTokens }) => thread === 0 && promptTokens > most);
  const turns = firstTooLong === -1 ? client.turns : client.turns.slice(0, firstTooLong);
  const ended = new Set<number>();
  for (const { thread, promptTokens } of turns) if (promptTokens > most) ended.add(thread);
  return { ...client, turns: ended.size === 0 ? turns : turns.filter(({ thread }) => !ended.has(thread)) };
};
