/** One run of a plan: its scenario built, its policy made, played and added up. */
import { playScenario } from "#gtm/simulation/play-scenario.ts";
import type { PolicyKind } from "#gtm/simulation/report/regret.ts";
import type { PlayedRun, ScenarioReport } from "#gtm/simulation/report/report.ts";
import { createRunTally } from "#gtm/simulation/report/run-tally.ts";
import type { Scenario } from "#gtm/simulation/scenario.ts";
import { createScenario, SCENARIOS, scenarioNamed } from "#gtm/simulation/scenarios/scenarios.ts";
import type { TrafficSource } from "#gtm/simulation/scenarios/volume.ts";
import type { Known } from "./simulate-config.ts";
import type { PlannedScenario } from "./simulate-plan.ts";
import { contenderOf, faultOfParameters, POLICIES } from "./simulate-policies.ts";
import { sourceOf } from "./simulate-sources.ts";
import type { Play } from "./simulate-workers.ts";

export const KNOWN: Known = {
  scenarios: SCENARIOS.map(({ name }) => name),
  policies: POLICIES.map(({ name }) => name),
  faultOfParameters,
};

export const policyKind = (policy: string): PolicyKind => POLICIES.find(({ name }) => name === policy)?.kind ?? "rival";

/** Builds what a plan says; a trace is read once, and a scenario's load is counted once. */
export type Builder = {
  /** @throws {OperationalError} GTM_TRACE_INVALID */
  readonly sourceOf: (planned: PlannedScenario) => TrafficSource;
  readonly scenarioOf: (planned: PlannedScenario) => BuiltScenario;
};
export type BuiltScenario = { readonly scenario: Scenario; readonly source: TrafficSource };

export const createBuilder = (): Builder => {
  const sources = new Map<string, TrafficSource>();
  const scenarios = new Map<string, Scenario>();
  const builtSource = (planned: PlannedScenario): TrafficSource =>
    cached(sources, `${planned.load === null}${planned.traffic}`, () => sourceOf(planned));
  return {
    sourceOf: builtSource,
    scenarioOf: (planned) => {
      const source = builtSource(planned);
      const { scenario: name, traffic, regions, load, users, warmUpMs, measuredMs } = planned;
      const key = JSON.stringify([name, traffic, regions, load, users, warmUpMs, measuredMs]);
      const scenario = cached(scenarios, key, () => {
        const named = scenarioNamed(name);
        if (named === null) throw new RangeError(`no scenario is called ${name}`);
        const volume =
          users === null ? ({ kind: "load", load: load ?? 1 } as const) : ({ kind: "users", users } as const);
        return createScenario(named, { regions, source, volume, warmUpMs, measuredMs });
      });
      return { scenario, source };
    },
  };
};

const cached = <T>(kept: Map<string, T>, key: string, create: () => T): T => {
  const found = kept.get(key);
  if (found !== undefined) return found;
  const made = create();
  kept.set(key, made);
  return made;
};

/** @returns plays one run after another @throws {OperationalError} GTM_TRACE_INVALID */
export const createPlayer = (): ((play: Play, onProgress: (virtualMs: number) => void) => PlayedRun) => {
  const build = createBuilder();
  return ({ scenario: planned, policy, seed }, onProgress) => {
    const { scenario } = build.scenarioOf(planned);
    const { fleet, warmUpMs, measuredMs, sloMs, happenings } = scenario;
    const { onTurn, onLost, ...tally } = createRunTally({ fleet, warmUpMs, measuredMs, sloMs, happenings });
    const { unfinished } = playScenario(scenario, contenderOf(policy), { seed, onTurn, onLost, onProgress });
    return { seed, tally, unfinished };
  };
};

/** What the report says of a scenario beside its runs. */
export const facesOf = (
  planned: PlannedScenario,
  { scenario, source }: BuiltScenario,
): Omit<ScenarioReport, "policies"> => {
  const { fleet, says, happenings, warmUpMs, measuredMs } = scenario;
  // Where demand changes agents come when they come, too.
  const hasTides = scenarioNamed(planned.scenario)?.difference.demand !== undefined;
  const idOf = (region: number): string => fleet[region]?.site.id ?? String(region);
  return {
    ...{ name: planned.name, says, warmUpMs, measuredMs },
    setting: settingOf(planned, source),
    regions: fleet.map(({ site, replicas }) => ({ id: site.id, replicas })),
    isOpenLoop: planned.users === null && (source.loop === "open" || hasTides),
    happenings: happenings
      .toSorted((a, b) => a.atMs - b.atMs)
      .map(({ atMs, region, kind }) => ({ atMs, says: `${idOf(region)} ${kind.replaceAll("-", " ")}` })),
  };
};

/** A trace's path is the machine's; who reads the report learns the trace's name. */
const settingOf = (
  { scenario, load, users }: PlannedScenario,
  { says }: TrafficSource,
): Readonly<Record<string, number | string>> => ({
  ...{ scenario, traffic: says },
  ...(load === null ? {} : { load: `${Math.round(load * 100)} %` }),
  ...(users === null ? {} : { users }),
});
