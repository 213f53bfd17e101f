/** The report: scenarios, in each the policies that played it, and of each its runs by seed, with what they come to together. */
import { type LogHistogram, merged, quantileOf } from "./log-histogram.ts";
import { type Contestant, type PolicyStanding, standings } from "./regret.ts";
import { runFigures } from "./run-figures.ts";
import { type RecoveryFigures, recoveryFigures } from "./run-recovery.ts";
import { type SeriesFigures, seriesFigures } from "./run-series.ts";
import type { RunTally } from "./run-tally.ts";
import { waitsGrow } from "./waits-grow.ts";

export type PolicyReport = Contestant & {
  /** Parameters that differ from the policy's own. */
  readonly parameters: Readonly<Record<string, number | string | null>>;
  readonly standing: PolicyStanding;
  /** TTFT at TTFT_FRACTIONS, over all seeds. */
  readonly ttftQuantilesMs: readonly number[];
  readonly series: SeriesFigures;
  /** One a death of a region, in the order of time. */
  readonly recoveries: readonly RecoveryFigures[];
};

export type ScenarioReport = {
  readonly name: string;
  readonly says: string;
  /** What was asked for, as words: traffic, load, regions. */
  readonly setting: Readonly<Record<string, number | string>>;
  readonly regions: readonly { readonly id: string; readonly replicas: number }[];
  /** Turns come when they come, answered or not. */
  readonly isOpenLoop: boolean;
  readonly warmUpMs: number;
  readonly measuredMs: number;
  /** What befell a region, in the order of time. */
  readonly happenings: readonly { readonly atMs: number; readonly says: string }[];
  readonly policies: readonly PolicyReport[];
};

export const REPORT_VERSION = 1;

export type Report = {
  readonly format: "gtm-simulation";
  readonly version: typeof REPORT_VERSION;
  /** Whether every run that was asked for is in it. */
  readonly isComplete: boolean;
  readonly scenarios: readonly ScenarioReport[];
};

/** Where the distribution is told: fine where it is looked at. */
export const TTFT_FRACTIONS: readonly number[] = [
  ...Array.from({ length: 20 }, (_, at) => (at * 5) / 100),
  ...[0.96, 0.97, 0.98, 0.99, 0.995, 0.999, 1],
];

export type PlayedRun = {
  readonly seed: number;
  readonly tally: RunTally;
  /** Turns still under way when the play was over. */
  readonly unfinished: number;
};

export type PlayedPolicy = Pick<PolicyReport, "policy" | "kind" | "parameters"> & {
  /** At least one, in the order of the seeds. */
  readonly runs: readonly PlayedRun[];
};

export const scenarioReport = (
  scenario: Omit<ScenarioReport, "policies">,
  played: readonly PlayedPolicy[],
): ScenarioReport => {
  const policies = played.map((one) => withoutStanding(one, scenario));
  const places = standings(policies);
  return {
    ...scenario,
    policies: policies.map((policy, at) => ({ ...policy, standing: places[at] ?? NO_STANDING })),
  };
};

const NO_STANDING: PolicyStanding = { rival: null, ttftMean: null, ttftP95: null, endToEndP95: null, withinSlo: null };

const withoutStanding = (
  { policy, kind, parameters, runs }: PlayedPolicy,
  { regions, measuredMs, isOpenLoop }: Omit<ScenarioReport, "policies">,
): Omit<PolicyReport, "standing"> => {
  const replicas = regions.reduce((sum, region) => sum + region.replicas, 0);
  return {
    ...{ policy, kind, parameters },
    waitsGrow: waitsGrow(runs.map(({ tally, unfinished }) => ({ tally, end: { isOpenLoop, unfinished } }))),
    runs: runs.map(({ seed, tally, unfinished }) => runFigures(tally, { seed, replicas, measuredMs, unfinished })),
    ttftQuantilesMs: quantilesOf(merged(runs.map(({ tally }) => tally.ttft))),
    series: seriesFigures(
      runs.map(({ tally }) => tally.series),
      regions.map((region) => region.replicas),
    ),
    recoveries: recoveryFigures(runs.map(({ tally }) => tally.recoveries)),
  };
};

const quantilesOf = (ttft: LogHistogram): readonly number[] =>
  TTFT_FRACTIONS.flatMap((fraction) => {
    const ms = quantileOf(ttft, fraction);
    return ms === null ? [] : [Number(ms.toFixed(2))];
  });
