/** What a region's death did under each policy, as a table for people: on a terminal and on the page. */
import { NOTHING, percent } from "./columns.ts";
import type { PolicyReport, ScenarioReport } from "./report.ts";
import type { RecoveryFigures } from "./run-recovery.ts";

export type RecoveryTable = {
  /** One sentence. */
  readonly says: string;
  readonly titles: readonly string[];
  readonly rows: readonly { readonly policy: PolicyReport; readonly cells: readonly string[] }[];
};

/** So many slices are shown of those that are kept: what follows is as before. */
const SHOWN = 6;
/** Slices in which the survivors' promise is looked at: the first half minute and the second. */
const HALF_MINUTE = 3;

/** @returns one a death, in the order of time */
export const recoveryTables = ({ policies, regions }: ScenarioReport): readonly RecoveryTable[] =>
  (policies[0]?.recoveries ?? []).map((first, death) => ({
    says: `${regions[first.region]?.id ?? "A region"} dies after ${Math.round(first.atMs / 1_000)} s. p95 of TTFT over the promise: of first turns before, then of displaced turns by when they asked (of those under way the wait since the death); when that is as before, within 10 %; share within the promise in the worst of the other regions: before, in the first half minute, in the second.`,
    titles: ["before", ...shownTitles(first), "as before", "SLO", "0–30 s", "30–60 s"],
    rows: policies.flatMap((policy) => {
      const figures = policy.recoveries[death];
      return figures === undefined ? [] : [{ policy, cells: cellsOf(figures) }];
    }),
  }));

const shownTitles = ({ sliceMs }: RecoveryFigures): readonly string[] =>
  Array.from({ length: SHOWN }, (_, at) => `${(at * sliceMs) / 1_000} s`);

const cellsOf = (figures: RecoveryFigures): readonly string[] => [
  timesOr(figures.beforeP95OfPromise),
  ...figures.displacedP95OfPromise.slice(0, SHOWN).map(timesOr),
  figures.recoveredAfterMs === null ? "not yet" : `${figures.recoveredAfterMs / 1_000} s`,
  worstOf(figures, ({ withinSloBefore }, region) => [withinSloBefore[region] ?? null]),
  worstOf(figures, ({ withinSloAfter }, region) => withinSloAfter[region]?.slice(0, HALF_MINUTE) ?? []),
  worstOf(figures, ({ withinSloAfter }, region) => withinSloAfter[region]?.slice(HALF_MINUTE, 2 * HALF_MINUTE) ?? []),
];

/** The least mean of the survivors. */
const worstOf = (
  figures: RecoveryFigures,
  sharesOf: (figures: RecoveryFigures, region: number) => readonly (number | null)[],
): string => {
  const means = figures.withinSloBefore.flatMap((_, region) => {
    const shares = region === figures.region ? [] : sharesOf(figures, region).filter((one) => one !== null);
    return shares.length === 0 ? [] : [shares.reduce((sum, one) => sum + one, 0) / shares.length];
  });
  return means.length === 0 ? NOTHING : percent(Math.min(...means));
};

const timesOr = (ratio: number | null): string => (ratio === null ? NOTHING : `${ratio.toFixed(1)}×`);
