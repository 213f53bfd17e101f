/** An hour of steady load steered by DNS alone: how often answers change, and what share of the turns each region gets. */
import type { createCellSteer } from "#gtm/steering/cell.ts";
import type { Answered } from "./dns-steered.ts";
import { type CompareOptions, MODERATE_LOAD, moderateLoad } from "./moderate-load.ts";
import { playScenario } from "./play-scenario.ts";
import { steered } from "./steered.ts";
import type { TurnRecord } from "./turn-record.ts";
import type { WorkloadOptions } from "./workload.ts";

export type StabilityOptions = Pick<CompareOptions, "replicasPerRegion" | "warmUpMs" | "measuredMs"> & {
  readonly workload: WorkloadOptions;
  readonly cellSteer: typeof createCellSteer;
};

export type Stability = {
  readonly regions: readonly string[];
  /** From the beginning, warm-up included. */
  readonly answers: readonly Answered[];
  /** After the warm-up, of the cell that changed most, and of all. */
  readonly mostChanges: number;
  readonly changes: number;
  /** By region: its share of each window's turns, 0 to 1, from the beginning. */
  readonly shares: readonly (readonly number[])[];
  /** By region: standard deviation of its share over the windows after the warm-up. */
  readonly spread: readonly number[];
  /** Of turns whose first token came after the warm-up. */
  readonly ttftMeanMs: number;
};

export const WINDOW_MS = 300_000;
/** Of each city: clients of one provider share one. */
const RESOLVERS = 4;

/** Same options, same result. */
export const playStability = (options: StabilityOptions): Stability => {
  const { warmUpMs, measuredMs, cellSteer, workload } = options;
  const scenario = moderateLoad({ ...MODERATE_LOAD, ...options });
  const untilMs = warmUpMs + measuredMs;
  const answers: Answered[] = [];
  const records: TurnRecord[] = [];
  playScenario(
    { ...scenario, leading: { kind: "dns", resolversPerCity: RESOLVERS, areBusy: true } },
    steered({ cellSteer, onAnswer: (answered) => answers.push(answered) }),
    {
      seed: workload.seed,
      onTurn: (record) => records.push(record),
      onLost: ({ reason }) => {
        throw new Error(`a turn was lost in a simulation of health: ${reason}`);
      },
    },
  );
  const later = answers.filter(({ atMs }) => atMs >= warmUpMs);
  const byCell = Map.groupBy(later, ({ cell }) => cell);
  const shares = scenario.fleet.map((_, region) => sharesOf(region, records, untilMs));
  const served = records.filter(({ firstTokenAtMs }) => firstTokenAtMs >= warmUpMs && firstTokenAtMs < untilMs);
  return {
    regions: scenario.fleet.map(({ site }) => site.id),
    answers,
    mostChanges: Math.max(0, ...[...byCell.values()].map((some) => some.length)),
    changes: later.length,
    shares,
    spread: shares.map((of) => deviation(of.slice(Math.ceil(warmUpMs / WINDOW_MS)))),
    ttftMeanMs: served.reduce((sum, one) => sum + one.firstTokenAtMs - one.askedAtMs, 0) / served.length,
  };
};

const sharesOf = (region: number, sent: readonly TurnRecord[], untilMs: number): readonly number[] =>
  Array.from({ length: Math.floor(untilMs / WINDOW_MS) }, (_, at) => {
    const turns = sent.filter(({ askedAtMs }) => Math.floor(askedAtMs / WINDOW_MS) === at);
    return turns.filter((one) => one.region === region).length / Math.max(1, turns.length);
  });

const deviation = (values: readonly number[]): number => {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
};
