/** Two reports side by side: what changed for each policy that both have, seed by seed where seeds are the same. */
import { NOTHING, seconds, signedPercent } from "#gtm/simulation/report/columns.ts";
import { meanOfRuns, pairsOf } from "#gtm/simulation/report/regret.ts";
import type { PolicyReport, Report, ScenarioReport } from "#gtm/simulation/report/report.ts";
import type { RunFigures } from "#gtm/simulation/report/run-figures.ts";
import { type Interval, pairedExcess } from "#gtm/simulation/report/student-interval.ts";
import type { Cell } from "./cell.ts";
import { table } from "./table.ts";

export const compareText = (before: Report, after: Report, isColourful: boolean): string => {
  const rows = after.scenarios.flatMap((scenario) => {
    const old = before.scenarios.find(({ name }) => name === scenario.name);
    return old === undefined ? [] : rowsOf(old, scenario);
  });
  const notes = [...onlyIn(before, after, "first"), ...onlyIn(after, before, "second")];
  const text = notes.map((note) => `${note}\n`).join("");
  return rows.length === 0
    ? `The two reports have no scenario with a policy in common.\n${text}`
    : `Second report against the first, in per cent of the first; less is better.\n${table(COLUMNS, rows, isColourful)}${text}`;
};

const COLUMNS = [
  { header: "scenario" },
  { header: "policy" },
  ...["seeds", "first s", "second s", "TTFT %", "p95 %", "e2e p95 %"].map((header) => ({
    header,
    align: "right" as const,
  })),
];

const rowsOf = (old: ScenarioReport, now: ScenarioReport): readonly (readonly Cell[])[] =>
  now.policies.flatMap((policy) => {
    const was = old.policies.find((one) => one.policy === policy.policy);
    return was === undefined ? [] : [rowOf(now.name, was, policy)];
  });

const rowOf = (scenario: string, was: PolicyReport, is: PolicyReport): readonly Cell[] => {
  const seeds = pairsOf(is.runs, was.runs, ({ seed }) => seed).length;
  const mean = ({ runs, waitsGrow }: PolicyReport): string => {
    const ms = meanOfRuns(runs, ({ ttftMeanMs }) => ttftMeanMs)?.mean;
    return waitsGrow ? "grows" : ms === undefined ? NOTHING : seconds(ms);
  };
  const change = (figure: (run: RunFigures) => number | null): Cell =>
    was.waitsGrow || is.waitsGrow ? NOTHING : changeCell(pairedExcess(pairsOf(is.runs, was.runs, figure)));
  return [
    ...[scenario, is.policy, String(seeds), mean(was), mean(is)],
    change(({ ttftMeanMs }) => ttftMeanMs),
    change(({ ttftP95Ms }) => ttftP95Ms),
    change(({ endToEndP95Ms }) => endToEndP95Ms),
  ];
};

/** Coloured where the interval leaves zero out. */
export const changeCell = (interval: Interval | null): Cell => {
  if (interval === null) return NOTHING;
  const { mean, halfWidth } = interval;
  const width = halfWidth ?? 0;
  const text =
    halfWidth === null ? signedPercent(mean) : `${signedPercent(mean)}±${signedPercent(Math.abs(halfWidth)).slice(1)}`;
  if (mean + width < 0) return { text, colour: "green" };
  return mean - width > 0 ? { text, colour: "red" } : text;
};

const onlyIn = (one: Report, other: Report, which: string): readonly string[] => {
  const names = namesIn(other);
  const missing = namesIn(one).filter((name) => !names.includes(name));
  return missing.length === 0 ? [] : [`Only in the ${which}: ${missing.join("; ")}`];
};

const namesIn = ({ scenarios }: Report): readonly string[] =>
  scenarios.flatMap(({ name, policies }) => policies.map(({ policy }) => `${name}, ${policy}`));
