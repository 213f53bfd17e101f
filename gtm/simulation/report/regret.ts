/** How much worse a policy is than the best of its rivals, seed by seed, and whether that is more than seeds make. */
import type { RunFigures } from "./run-figures.ts";
import { type Interval, intervalOf, type Pair, pairedExcess } from "./student-interval.ts";

/** `ours`: a policy of this project. `oracle`: knows what nobody can, and is no rival. */
export type PolicyKind = "ours" | "rival" | "oracle";

export type Contestant = {
  readonly policy: string;
  readonly kind: PolicyKind;
  /** Clients came faster than they were served, to the end: means and quantiles then depend on how long one looks. */
  readonly waitsGrow: boolean;
  /** In the order of the seeds. */
  readonly runs: readonly RunFigures[];
};

export type PolicyStanding = {
  /** The rival with the least mean TTFT of those whose waits do not grow, itself excluded; null: there is none. */
  readonly rival: string | null;
  /** Excess over that rival as a fraction of its mean, less is better; null: one of both has waits that grow, or nothing was served. */
  readonly ttftMean: Interval | null;
  /** The same against the rival that is best at it. */
  readonly ttftP95: Interval | null;
  readonly endToEndP95: Interval | null;
  /** Share within the SLO less that of the rival that is best at it, in fractions of 1, more is better. Stands in overload, too. */
  readonly withinSlo: Interval | null;
};

type Figure = (run: RunFigures) => number | null;

/** @returns one a policy, in their order */
export const standings = (policies: readonly Contestant[]): readonly PolicyStanding[] =>
  policies.map((policy) => {
    const rivals = policies.filter((one) => one.kind === "rival" && one !== policy);
    const bounded = policy.waitsGrow ? [] : rivals.filter((one) => !one.waitsGrow);
    const excess = (figure: Figure): Interval | null => {
      const best = bestAt(bounded, figure);
      return best === null ? null : pairedExcess(pairsOf(policy.runs, best.runs, figure));
    };
    const best = bestAt(bounded, ({ ttftMeanMs }) => ttftMeanMs);
    const dutiful = bestAt(rivals, ({ withinSloFraction }) => negative(withinSloFraction));
    return {
      rival: best?.policy ?? null,
      ttftMean: excess(({ ttftMeanMs }) => ttftMeanMs),
      ttftP95: excess(({ ttftP95Ms }) => ttftP95Ms),
      endToEndP95: excess(({ endToEndP95Ms }) => endToEndP95Ms),
      withinSlo:
        dutiful === null
          ? null
          : differenceOf(pairsOf(policy.runs, dutiful.runs, ({ withinSloFraction }) => withinSloFraction)),
    };
  });

const bestAt = (policies: readonly Contestant[], figure: Figure): Contestant | null => {
  let best: Contestant | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const policy of policies) {
    const mean = meanOfRuns(policy.runs, figure)?.mean ?? Number.POSITIVE_INFINITY;
    if (mean >= least) continue;
    best = policy;
    least = mean;
  }
  return best;
};

/** Over the seeds that have the figure. */
export const meanOfRuns = (runs: readonly RunFigures[], figure: Figure): Interval | null =>
  intervalOf(runs.flatMap((run) => figure(run) ?? []));

/** Of the seeds that both have played, and where both have the figure. */
export const pairsOf = (ours: readonly RunFigures[], theirs: readonly RunFigures[], figure: Figure): readonly Pair[] =>
  ours.flatMap((run) => {
    const other = theirs.find(({ seed }) => seed === run.seed);
    const [mine, its] = [figure(run), other === undefined ? null : figure(other)];
    return mine === null || its === null ? [] : [{ ours: mine, theirs: its }];
  });

export const differenceOf = (pairs: readonly Pair[]): Interval | null =>
  intervalOf(pairs.map(({ ours, theirs }) => ours - theirs));

const negative = (value: number | null): number | null => (value === null ? null : -value);
