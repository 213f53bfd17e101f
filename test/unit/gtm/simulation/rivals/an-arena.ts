/** A small arena for rivals: Frankfurt, Virginia and Singapore, 20, 100 and 200 ms from the city; engines that really serve. */
import type { HeardReport } from "#gtm/domain/heard-report.ts";
import { speedFromRate } from "#gtm/domain/serving.ts";
import { createAgenda } from "#gtm/simulation/clock.ts";
import { createReporter } from "#gtm/simulation/region-reporter.ts";
import type { Arena, Asked } from "#gtm/simulation/rival.ts";
import type { Scenario } from "#gtm/simulation/scenario.ts";
import { DEFAULT_ENGINE, type EngineOptions } from "#gtm/simulation/serving/engine-options.ts";
import { createServingRegion } from "#gtm/simulation/serving/serving-region.ts";
import type { TurnRecord } from "#gtm/simulation/turn-record.ts";
import { ModelId, RegionId } from "#shared/ids.ts";
import { aRequest } from "../serving/requests.ts";

/** 5 000 tokens/s without the attention term, so that sums are easy: 5 tokens a millisecond. */
const ENGINE: EngineOptions = { ...DEFAULT_ENGINE, speed: { ...speedFromRate(5_000), attnMs: 0 } };
export const CITY = { name: "Mainz", location: { latitude: 50, longitude: 8.27 }, weight: 1 };
const RTT_MS = [20, 100, 200];

export type ArenaWish = { readonly replicas?: number; readonly rates?: readonly number[]; readonly seed?: number };

export const anArena = ({ replicas = 1, rates = [5_000, 5_000, 5_000], seed = 1 }: ArenaWish = {}) => {
  const agenda = createAgenda();
  const fleet = ["frankfurt", "virginia", "singapore"].map((id, at) => ({
    site: {
      id: RegionId.parse(id),
      location: CITY.location,
      jurisdiction: null,
      endpoint: { url: `https://${id}.example.org`, ipv4: [], ipv6: [] },
      alpn: [],
      hasAffinity: true,
      hasGateway: true,
    },
    replicas,
    engine: { ...ENGINE, speed: { ...speedFromRate(rates[at] ?? 5_000), attnMs: 0 } },
    placement: "loaded" as const,
  }));
  const regions = fleet.map(({ engine }) =>
    createServingRegion({ replicas, engine, routing: "affinity", seed, startedAtMs: 0 }),
  );
  const excluded = new Set<number>();
  const reports = new Map<number, HeardReport>();
  const scenario: Scenario = {
    name: "small",
    says: "three regions",
    fleet,
    cities: [CITY],
    rttMs: (_city, region) => RTT_MS[region] ?? 0,
    traffic: () => ({ blockTokens: 16, clients: () => [].values() }),
    reporting: { everyMs: 1_000, delayMs: 0, eyes: "gateway" },
    leading: { kind: "redirect", gtms: 1, sharesSends: true },
    routing: "affinity",
    happenings: [],
    warmUpMs: 0,
    measuredMs: 1,
    sloMs: () => 1_000,
  };
  const arena: Arena = {
    agenda,
    scenario,
    seed,
    regions,
    known: {
      rttMs: scenario.rttMs,
      mayServe: (region) => !excluded.has(region),
      probes: () => new Map(),
      admin: () => new Map(),
      onNews: () => {},
      report: (region) => reports.get(region) ?? null,
      onReport: () => {},
    },
  };
  return {
    arena,
    exclude: (region: number): void => void excluded.add(region),
    /** All time passes at once, engines included. */
    passUntil: (ms: number): void => {
      agenda.runUntil(ms);
      for (const region of regions) region.advanceTo(ms);
    },
    /** Work that is there already. @returns index of the replica that took it */
    busy: (region: number, promptTokens: number, conversation: number, replica: number | null = null): number =>
      regions[region]?.submit(aRequest({ promptTokens, conversation }), agenda.nowMs(), replica) ?? -1,
    report: (region: number): void => {
      const at = fleet[region];
      const serving = regions[region];
      if (at === undefined || serving === undefined) throw new RangeError(`there is no region ${region}`);
      const { site, engine } = at;
      const make = createReporter({
        site,
        region: serving,
        engine,
        model: ModelId.parse("simulated"),
        eyes: "gateway",
      });
      reports.set(region, make(agenda.nowMs()));
    },
  };
};

/** 10 000 tokens, 2 s of prefill, from a client without a last mile. */
export const aTurn = (wish: Partial<Asked> = {}): Asked => {
  const { conversation = 7, promptTokens = 10_000 } = wish;
  return {
    client: 1,
    conversation,
    parent: null,
    turn: 1,
    city: CITY,
    lastMileMs: 0,
    promptTokens,
    outputTokens: 1,
    blocks: aRequest({ promptTokens, conversation }).blocks,
    previous: null,
    idleMs: Number.POSITIVE_INFINITY,
    ...wish,
  };
};

export const recordOf = (turn: Asked, region: number, replica = 0): TurnRecord => ({
  conversation: turn.conversation,
  turn: turn.turn,
  ...{ region, replica, nearest: 0, previous: turn.previous },
  promptTokens: turn.promptTokens,
  outputTokens: turn.outputTokens,
  cachedTokens: 0,
  ...{ askedAtMs: 0, firstTokenAtMs: 0, lastTokenAtMs: 0, queuedMs: 0, prefillMs: 0, failedAttempts: 0 },
  predicted: null,
  verdict: null,
});
