/** A million generated chat turns at three regions, steered by the production policy: turns per second, and memory on the way. */
import { playScenario } from "#gtm/simulation/play-scenario.ts";
import type { Scenario } from "#gtm/simulation/scenario.ts";
import { createScenario, SCENARIOS } from "#gtm/simulation/scenarios/scenarios.ts";
import { generated } from "#gtm/simulation/scenarios/sources.ts";
import { turnsPerSecondOf } from "#gtm/simulation/scenarios/volume.ts";
import { steered } from "#gtm/simulation/steered.ts";
import type { Bench } from "./bench.ts";

const TURNS = 1_000_000;
const EARLY_TURNS = 100_000;
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

const megabytes = (): number => process.memoryUsage().rss / 1e6;

export const bench: Bench = {
  name: "simulate",
  run: async () => {
    const scenario = steadyChat(TURNS);
    const [startedAtMs, before] = [performance.now(), process.cpuUsage()];
    let served = 0;
    let early = Number.NaN;
    playScenario(scenario, steered(), {
      seed: 1,
      onLost: () => undefined,
      onTurn: () => {
        served += 1;
        if (served === EARLY_TURNS) early = megabytes();
      },
    });
    const late = megabytes();
    const { user, system } = process.cpuUsage(before);
    const row = { against: null, ratio: null, bound: null };
    const what = `${served.toLocaleString("en").replaceAll(",", " ")} chat turns, 3 regions of 4 replicas, load ${LOAD}`;
    return [
      { ...row, what, value: (performance.now() - startedAtMs) / 1_000, unit: "s", bound: "≤ 60" },
      { ...row, what: "turns a second of processor time", value: served / ((user + system) / 1e6), unit: "turns/s" },
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
