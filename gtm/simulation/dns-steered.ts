/** This GTM seen through DNS alone: a city's resolvers ask, keep what they are told for its TTL, and clients go there, conversation or not. */
import { regionOf } from "#gtm/domain/decision.ts";
import { type Cell, cellOf, type createCellSteer, type DecidedCell, needsDecision } from "#gtm/steering/cell.ts";
import type { Policy } from "#gtm/steering/policy.ts";
import type { Query } from "#gtm/steering/ports.ts";
import { DecisionId, type RegionId } from "#shared/ids.ts";
import { CITIES, type City } from "./cities.ts";
import type { Eyes } from "./region-reporter.ts";
import { createReportedWorld } from "./reported-world.ts";
import type { Rival, Stage } from "./rival.ts";
import type { EngineOptions } from "./serving/engine-options.ts";
import { clientOf, poolOf } from "./steered.ts";

export type DnsOptions = {
  readonly engine: EngineOptions;
  readonly eyes: Eyes;
  readonly policy: Policy;
  /** Of each city; each keeps an answer of its own. */
  readonly resolversPerCity: number;
  /** Production's, or one to compare it with. */
  readonly cellSteer: typeof createCellSteer;
};

/** A cell's answer from then on. */
export type Answered = { readonly atMs: number; readonly cell: string; readonly region: number };

export type DnsRival = Rival & {
  /** The first answer of each cell, and each that differs from the one before. */
  readonly answers: readonly Answered[];
  /** Each turn, in order. */
  readonly sent: readonly { readonly atMs: number; readonly region: number }[];
};

type Standing = DecidedCell & { readonly region: RegionId | null; readonly ttlSeconds: number };

export const createDnsRival = (stage: Stage, options: DnsOptions): DnsRival => {
  const { agenda, sites } = stage;
  const { engine, eyes, policy, resolversPerCity, cellSteer } = options;
  const pool = poolOf(stage);
  const { world } = createReportedWorld(stage, { engine, eyes, policy, live: () => [] });
  const decideCell = cellSteer({ world }, policy);
  const standing = new Map<string, Standing>();
  const kept = new Map<string, number>();
  const answers: Answered[] = [];
  const sent: { readonly atMs: number; readonly region: number }[] = [];
  let decisions = 0;

  /** As gtm/wire/dns/cells.ts does. */
  const answerFor = (city: City): Standing => {
    const client = clientOf(city);
    const cell = cellOf(pool, client, 4);
    const last = standing.get(cell.key) ?? null;
    const now = world();
    if (last !== null && !needsDecision(last, now, now.takenAtMs)) return last;
    decisions += 1;
    const decision = decideCell(queryOf(cell, decisions, agenda.nowMs()), client, cell, last?.region ?? null);
    const region = regionOf(decision.verdict);
    const made: Standing = {
      decidedAtMs: Math.trunc(now.takenAtMs),
      worldVersion: now.version,
      candidacyVersion: now.candidacyVersion,
      region,
      ttlSeconds: decision.ttlSeconds,
    };
    if (region !== last?.region) answers.push({ atMs: agenda.nowMs(), cell: city.name, region: indexOf(region) });
    standing.set(cell.key, made);
    return made;
  };
  const indexOf = (region: RegionId | null): number => {
    const index = sites.findIndex(({ id }) => id === region);
    if (index < 0) throw new Error("no region may serve in a simulation of health");
    return index;
  };
  // A resolver asks when a client does and its answer has expired; those of a busy city always have one that asks.
  for (const [at, city] of CITIES.entries()) {
    for (let number = 0; number < resolversPerCity; number++) {
      const resolver = `${city.name}/${number}`;
      const refresh = (): void => {
        const { region, ttlSeconds } = answerFor(city);
        kept.set(resolver, indexOf(region));
        agenda.at(agenda.nowMs() + ttlSeconds * 1_000, refresh);
      };
      agenda.at(FIRST_ASKED_MS + ((at * 7 + number * 3) % 20) * 1_000, refresh);
    }
  }

  return {
    answers,
    sent,
    choose: ({ city, conversation }) => {
      const resolver = `${city.name}/${conversation % resolversPerCity}`;
      const region = kept.get(resolver) ?? indexOf(answerFor(city).region);
      sent.push({ atMs: agenda.nowMs(), region });
      return region;
    },
    onFinished: () => undefined,
  };
};

/** Once every region has reported. */
const FIRST_ASKED_MS = 1_000;

const queryOf = (cell: Cell, decisions: number, nowMs: number): Query => ({
  id: DecisionId.parse(String(decisions).padStart(26, "0")),
  channel: "simulation",
  kind: "cell",
  pool: cell.pool,
  model: cell.model,
  tenant: "default",
  clientSubnet: cell.area,
  conversationId: null,
  parentId: null,
  pinnedTo: null,
  promptTokens: null,
  outputTokens: null,
  outputLimitTokens: null,
  stateRegion: null,
  receivedAtMs: nowMs,
});
