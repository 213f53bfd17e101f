/** An hour of steady load steered by DNS alone: how often answers change, and what share of the turns each region gets. */
import type { createCellSteer } from "#gtm/steering/cell.ts";
import { DEFAULT_POLICY } from "#gtm/steering/policy.ts";
import { type Answered, createDnsRival, type DnsRival } from "./dns-steered.ts";
import { type CompareOptions, MODERATE_LOAD } from "./moderate-load.ts";
import { play } from "./play.ts";
import { createUsers, type WorkloadOptions } from "./workload.ts";

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
  const { workload, replicasPerRegion, warmUpMs, measuredMs, cellSteer } = options;
  const { sites, engine, eyes } = MODERATE_LOAD;
  const untilMs = warmUpMs + measuredMs;
  const rivals: DnsRival[] = [];
  const users = createUsers(workload);
  const records = play({ sites, replicasPerRegion, engine, users, seed: workload.seed, untilMs }, (stage) => {
    const made = createDnsRival(stage, {
      ...{ engine, eyes, policy: DEFAULT_POLICY, resolversPerCity: RESOLVERS, cellSteer },
    });
    rivals.push(made);
    return made;
  });
  const [rival] = rivals;
  if (rival === undefined) throw new Error("nothing was played");
  const later = rival.answers.filter(({ atMs }) => atMs >= warmUpMs);
  const byCell = Map.groupBy(later, ({ cell }) => cell);
  const shares = sites.map((_, region) => sharesOf(region, rival.sent, untilMs));
  const served = records.filter(({ answeredAtMs }) => answeredAtMs >= warmUpMs);
  return {
    regions: sites.map(({ id }) => id),
    answers: rival.answers,
    mostChanges: Math.max(0, ...[...byCell.values()].map((some) => some.length)),
    changes: later.length,
    shares,
    spread: shares.map((of) => deviation(of.slice(Math.ceil(warmUpMs / WINDOW_MS)))),
    ttftMeanMs: served.reduce((sum, { ttftMs }) => sum + ttftMs, 0) / served.length,
  };
};

const sharesOf = (region: number, sent: DnsRival["sent"], untilMs: number): readonly number[] =>
  Array.from({ length: Math.floor(untilMs / WINDOW_MS) }, (_, at) => {
    const turns = sent.filter(({ atMs }) => Math.floor(atMs / WINDOW_MS) === at);
    return turns.filter((one) => one.region === region).length / Math.max(1, turns.length);
  });

const deviation = (values: readonly number[]): number => {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
};
