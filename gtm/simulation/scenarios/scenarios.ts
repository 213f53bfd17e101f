/** The scenarios of the comparison, by name: what is different from a steady day, and for how long. */
import type { Demand } from "../generator/generator-options.ts";
import { sloMsOf } from "../promise.ts";
import type { FleetRegion, Happening, Leading, Scenario } from "../scenario.ts";
import type { EngineOptions } from "../serving/engine-options.ts";
import { citiesWith, crowdIn, EVEN, followTheSun, type Shares, UNEVEN } from "./demand.ts";
import { A10G, A100, fleetOf, H100, L4, namesOf } from "./fleet.ts";
import { type TrafficSource, turnsPerSecondOf, usersOf, type Volume } from "./volume.ts";
import { type Area, AWS_REGIONS, WORLD_CITIES } from "./world-cities.ts";

export type ScenarioOptions = {
  readonly regions: 3 | 6;
  readonly source: TrafficSource;
  readonly volume: Volume;
  /** Counted from here on; caches are full by then if it is as long as contexts live. */
  readonly warmUpMs: number;
  readonly measuredMs: number;
};

/** What of a steady scenario is otherwise; times are given by how much of the measured time has passed, 0 to 1. */
type Difference = {
  readonly shares?: Shares;
  readonly demand?: (at: (fraction: number) => number) => Demand;
  readonly engineOf?: (area: Area, usual: EngineOptions) => EngineOptions;
  readonly placementOf?: (region: number) => FleetRegion["placement"];
  readonly happenings?: (at: (fraction: number) => number) => readonly Happening[];
  readonly reportsEveryMs?: number;
  readonly leading?: Leading;
  readonly routing?: Scenario["routing"];
};

export type NamedScenario = {
  readonly name: string;
  /** One sentence. */
  readonly says: string;
  readonly difference: Difference;
};

const ONE_GTM: Leading = { kind: "redirect", gtms: 1, sharesSends: false };
/** Of each city: clients of one provider share one. */
const RESOLVERS = 4;
/** The second region, in Europe: neither the most nor the least wanted. */
const BEFALLEN = 1;

const scenario = (name: string, says: string, difference: Difference): NamedScenario => ({ name, says, difference });

export const SCENARIOS: readonly NamedScenario[] = [
  scenario("steady", "Each area asks as much as its replicas can do, all the time.", {}),
  scenario("uneven-demand", "60 % come from the Americas, 25 % from Europe and Africa, 15 % from Asia.", {
    shares: UNEVEN,
  }),
  scenario("follow-the-sun", "Demand follows the hour of the day where it comes from; a day passes in one hour.", {
    demand: () => followTheSun,
  }),
  scenario("flash-crowd", "Europe and Africa ask three times as much for a fifth of the time.", {
    demand: (at) => crowdIn("europe-africa", at(0.3), at(0.5)),
  }),
  scenario("region-lost", "A European region dies with all it holds, and comes back empty.", {
    happenings: (at) => [
      { kind: "fails", region: BEFALLEN, atMs: at(0.25) },
      { kind: "returns", region: BEFALLEN, atMs: at(0.6) },
    ],
  }),
  scenario("drain", "A European region is drained for maintenance, and taken up again.", {
    happenings: (at) => [
      { kind: "drains", region: BEFALLEN, atMs: at(0.25) },
      { kind: "undrains", region: BEFALLEN, atMs: at(0.6) },
    ],
  }),
  scenario("unequal-gpus", "America has the usual GPUs, the others some that prefill little more than half as fast.", {
    engineOf: (area, usual) => (area === "americas" ? usual : usual === H100 ? A100 : A10G),
  }),
  scenario(
    "cold-model",
    "The last region's model is on disk; somebody has it loaded when a third of the time has passed.",
    {
      placementOf: (region) => (region === 2 ? "cold" : "loaded"),
      happenings: (at) => [{ kind: "loads", region: 2, atMs: at(1 / 3) }],
    },
  ),
  scenario("stale-reports-5s", "Regions report every five seconds.", { reportsEveryMs: 5_000 }),
  scenario("stale-reports-10s", "Regions report every ten seconds.", { reportsEveryMs: 10_000 }),
  scenario("three-gtms", "Three GTMs that share their sends, a client to each.", {
    leading: { kind: "redirect", gtms: 3, sharesSends: true },
  }),
  scenario("three-gtms-alone", "Three GTMs that know nothing of each other's sends.", {
    leading: { kind: "redirect", gtms: 3, sharesSends: false },
  }),
  scenario("three-gtms-stale-10s", "Three GTMs that share their sends, and reports every ten seconds.", {
    leading: { kind: "redirect", gtms: 3, sharesSends: true },
    reportsEveryMs: 10_000,
  }),
  scenario("region-silent", "A European region's agents fall silent while it goes on serving, and speak again.", {
    happenings: (at) => [
      { kind: "falls-silent", region: BEFALLEN, atMs: at(0.25) },
      { kind: "speaks-again", region: BEFALLEN, atMs: at(0.6) },
    ],
  }),
  scenario("dns-only", "Clients are led by names alone, through busy resolvers.", {
    leading: { kind: "dns", resolversPerCity: RESOLVERS, areBusy: true },
  }),
  scenario("round-robin-inside", "Inside a region each turn goes to the next replica, whatever it holds.", {
    routing: "round-robin",
  }),
];

/** @returns null: there is none of that name */
export const scenarioNamed = (name: string): NamedScenario | null => SCENARIOS.find((one) => one.name === name) ?? null;

/** @throws {RangeError} what the source of the traffic cannot do */
export const createScenario = ({ name, says, difference }: NamedScenario, options: ScenarioOptions): Scenario => {
  const { regions, source, warmUpMs, measuredMs } = options;
  const usual = source.model === "70b" ? H100 : L4;
  const at = (fraction: number): number => warmUpMs + fraction * measuredMs;
  const engineOf = (area: Area) => difference.engineOf?.(area, usual) ?? usual;
  const fleet = fleetOf(regions, engineOf).map((one, region) => ({
    ...one,
    placement: difference.placementOf?.(region) ?? one.placement,
  }));
  const cities = citiesWith(difference.shares ?? EVEN);
  const demand = difference.demand?.(at) ?? null;
  const arrivals = arrivalsOf(options, demand !== null, { cities, fleet });
  return {
    ...{ name, says, fleet, cities, warmUpMs, measuredMs, sloMs: sloMsOf },
    rttMs: rttsOf(regions),
    traffic: (seed) => source.create({ seed, cities, demand, arrivals }),
    reporting: { everyMs: difference.reportsEveryMs ?? 1_000, delayMs: 0, eyes: "gateway" },
    leading: difference.leading ?? ONE_GTM,
    routing: difference.routing ?? "affinity",
    happenings: difference.happenings?.(at) ?? [],
  };
};

const arrivalsOf = (
  { source, volume }: ScenarioOptions,
  hasTides: boolean,
  look: Parameters<typeof turnsPerSecondOf>[2],
): Parameters<TrafficSource["create"]>[0]["arrivals"] => {
  if (volume.kind === "users") return { kind: "closed", users: volume.users };
  const turnsPerSecond = turnsPerSecondOf(source, volume.load, look);
  if (source.loop === "open" || hasTides) return { kind: "open", turnsPerSecond };
  return { kind: "closed", users: usersOf(source, turnsPerSecond, look.cities) };
};

const rttsOf = (regions: 3 | 6): Scenario["rttMs"] => {
  const names = namesOf(regions);
  const byCity = new Map(
    WORLD_CITIES.map((city) => [city.name, names.map((name) => city.rttsMs[AWS_REGIONS.indexOf(name)] ?? Number.NaN)]),
  );
  return (city, region) => byCity.get(city.name)?.[region] ?? Number.NaN;
};
