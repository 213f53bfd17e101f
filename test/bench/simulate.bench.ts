/** A million generated chat turns at three regions, steered by the production policy: turns per second, what they are spent on, and memory on the way. */
import { playScenario } from "#gtm/simulation/play-scenario.ts";
import type { CreateContender } from "#gtm/simulation/rival.ts";
import { createRoundRobin } from "#gtm/simulation/rivals/round-robin.ts";
import type { Scenario } from "#gtm/simulation/scenario.ts";
import { createScenario, SCENARIOS } from "#gtm/simulation/scenarios/scenarios.ts";
import { generated } from "#gtm/simulation/scenarios/sources.ts";
import { turnsPerSecondOf } from "#gtm/simulation/scenarios/volume.ts";
import { steered } from "#gtm/simulation/steered.ts";
import type { Bench, BenchRow } from "./bench.ts";

const TURNS = 1_000_000;
const EARLY_TURNS = 100_000;
/** What a turn is spent on is told by plays that leave something out: as many turns as make their difference steady. */
const PART_TURNS = 50_000;
/** Of what the fleet could prefill without any cache. */
const LOAD = 0.8;

/** As long as so many turns take. */
const steadyChat = (turns: number): Scenario => {
  const [steady] = SCENARIOS;
  if (steady === undefined) throw new Error("there is no steady scenario");
  const source = generated("chat");
  const volume = { kind: "load", load: LOAD } as const;
  const options = { regions: 3, source, volume, warmUpMs: 0, measuredMs: 1 } as const;
  const perSecond = turnsPerSecondOf(source, LOAD, createScenario(steady, options));
  return createScenario(steady, { ...options, measuredMs: (turns * 1_000) / perSecond });
};

/** No region reports but one, once. */
const withoutReports = (scenario: Scenario): Scenario => ({
  ...scenario,
  reporting: { ...scenario.reporting, everyMs: Number.MAX_SAFE_INTEGER },
});

const megabytes = (): number => process.memoryUsage().rss / 1e6;

type Played = { readonly turns: number; readonly events: number; readonly seconds: number; readonly usEach: number };

const played = (scenario: Scenario, create: CreateContender, onTurns: (turns: number) => void): Played => {
  const [startedAtMs, before] = [performance.now(), process.cpuUsage()];
  let turns = 0;
  const { events } = playScenario(scenario, create, {
    seed: 1,
    onLost: () => undefined,
    onTurn: () => {
      turns += 1;
      onTurns(turns);
    },
  });
  const { user, system } = process.cpuUsage(before);
  return { turns, events, seconds: (performance.now() - startedAtMs) / 1_000, usEach: (user + system) / turns };
};

export const bench: Bench = {
  name: "simulate",
  run: async () => {
    let early = Number.NaN;
    const whole = played(steadyChat(TURNS), steered(), (turns) => {
      if (turns === EARLY_TURNS) early = megabytes();
    });
    const late = megabytes();
    const part = steadyChat(PART_TURNS);
    const [engines, reporting, steering] = [
      played(withoutReports(part), createRoundRobin, () => undefined),
      played(part, createRoundRobin, () => undefined),
      played(part, steered(), () => undefined),
    ];
    const row = { against: null, ratio: null, bound: null };
    const what = `${whole.turns.toLocaleString("en").replaceAll(",", " ")} chat turns, 3 regions of 4 replicas, load ${LOAD}`;
    const share = (name: string, value: number): BenchRow => ({
      ...row,
      what: `  of a turn, ${name}`,
      value,
      unit: "µs of processor time",
      against: "all of it",
      ratio: value / steering.usEach,
    });
    return [
      { ...row, what, value: whole.seconds, unit: "s", bound: "≤ 60" },
      { ...row, what: "turns a second of processor time", value: 1e6 / whole.usEach, unit: "turns/s" },
      { ...row, what: "events a turn", value: whole.events / whole.turns, unit: "events" },
      share("traffic, its way and the engines", engines.usEach),
      share("a report each second", reporting.usEach - engines.usEach),
      share("decision, world, ledger and learning", steering.usEach - reporting.usEach),
      { ...row, what: `resident after ${EARLY_TURNS / 1_000} 000 turns`, value: early, unit: "MB" },
      {
        ...row,
        what: "resident at the end",
        value: late,
        unit: "MB",
        against: "then",
        ratio: late / early,
        bound: "≤ 1.25",
      },
    ];
  },
};
