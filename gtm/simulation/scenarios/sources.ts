/** The generator's kinds and recorded traces as sources of a scenario's traffic. */
import { createDice } from "../dice.ts";
import { createTraffic } from "../generator/create-traffic.ts";
import type { Demand, TrafficKind } from "../generator/generator-options.ts";
import type { RecordedTrace } from "../traces/recorded-trace.ts";
import { TRACE_OPTIONS, type TraceOptions } from "../traces/trace-options.ts";
import { traceTraffic } from "../traces/trace-traffic.ts";
import type { Client, Traffic } from "../traffic.ts";
import type { TrafficSource } from "./volume.ts";

export const generated = (kind: TrafficKind): TrafficSource => ({
  says: `${kind}, generated`,
  model: kind === "retrieval" ? "8b" : "70b",
  loop: kind === "agents" ? "closed" : "open",
  create: ({ seed, cities, demand, arrivals }) => {
    if (arrivals.kind === "closed" && demand !== null) throw new RangeError(NO_TIDES);
    return createTraffic(kind, {
      ...{ seed, cities, blockTokens: null, longestPromptTokens: null },
      arrivals: arrivals.kind === "closed" ? arrivals : { ...arrivals, demand },
    });
  },
});

/** @param part which half: what was tuned on one is reported on the other */
export const recorded = (
  trace: RecordedTrace,
  { name, model, part }: { readonly name: string; readonly model: "70b" | "8b"; readonly part: TraceOptions["part"] },
): TrafficSource => ({
  says: part === "all" ? name : `${name}, its half for ${part}`,
  model,
  loop: trace.loop,
  create: ({ seed, cities, demand, arrivals }) => {
    if (arrivals.kind !== trace.loop) throw new RangeError(`the trace ${name} is ${trace.loop}, not ${arrivals.kind}`);
    if (arrivals.kind === "closed") {
      if (demand !== null) throw new RangeError(NO_TIDES);
      const cut = { mostPromptTokens: LONGEST_PROMPT_TOKENS, blockTokens: AGENTS_BLOCK_TOKENS };
      return traceTraffic(trace, { ...TRACE_OPTIONS, ...cut, seed, cities, part, users: arrivals.users });
    }
    const most = demand === null ? 1 : MOST_DEMAND;
    const copies = (arrivals.turnsPerSecond * most) / turnsPerSecondIn(trace, part);
    const traffic = traceTraffic(trace, { ...TRACE_OPTIONS, seed, cities, part, copies, isRepeated: true });
    return demand === null ? traffic : thinned(traffic, demand, seed);
  },
});

/** As models end; an agent's session of a million tokens would be one replica's whole memory. */
const LONGEST_PROMPT_TOKENS = 160_000;
/** A multiple of the trace's 64: eight times as fast, and 256 tokens of a hit lost at most of about 90 000. */
const AGENTS_BLOCK_TOKENS = 512;

const NO_TIDES =
  "where every client waits for its answers there are always as many: demand that changes needs a load, not users";

/** Half of the sessions have about half of the turns. */
const turnsPerSecondIn = ({ clients, lengthMs }: RecordedTrace, part: TraceOptions["part"]): number => {
  const turns = clients.reduce((sum, client) => sum + client.turns.length, 0);
  return (turns * (part === "all" ? 1 : 0.5) * 1_000) / lengthMs;
};

/** Demand is no more than this anywhere; what a trace has too much of is left out. */
const MOST_DEMAND = 3;

/** Of a trace that is asked that much more, as many clients as are wanted when they come. */
const thinned = (traffic: Traffic, demand: Demand, seed: number): Traffic => ({
  blockTokens: traffic.blockTokens,
  clients: () => kept(traffic.clients(), demand, seed),
});

function* kept(clients: Iterator<Client>, demand: Demand, seed: number): Generator<Client> {
  const dice = createDice(seed);
  for (let one = clients.next(); one.done !== true; one = clients.next()) {
    if (dice() * MOST_DEMAND < demand(one.value.city, one.value.startsAtMs)) yield one.value;
  }
}
