/** The report on a terminal: what clients saw and what it took, scenario by scenario, and all scenarios together. */
import {
  CLIENT_COLUMNS,
  GROWS,
  NOTHING,
  percent,
  type ReportColumn,
  seconds,
  signedPercent,
  WORK_COLUMNS,
} from "#gtm/simulation/report/columns.ts";
import { recoveryTables } from "#gtm/simulation/report/recovery-table.ts";
import { meanOfRuns } from "#gtm/simulation/report/regret.ts";
import type { PolicyReport, Report, ScenarioReport } from "#gtm/simulation/report/report.ts";
import { settingText } from "#gtm/simulation/report/setting-text.ts";
import type { Cell } from "./cell.ts";
import { changeCell } from "./simulate-compare.ts";
import { coloured, table } from "./table.ts";

export const reportText = ({ scenarios, isComplete }: Report, isColourful: boolean): string =>
  [
    ...scenarios.map((scenario) => scenarioText(scenario, isColourful)),
    ...(scenarios.length > 1 ? [togetherText(scenarios, isColourful), worstText(scenarios, isColourful)] : []),
    ...(isComplete ? [] : ["Broken off: not all runs that were asked for are in these tables.\n"]),
  ].join("\n");

const scenarioText = (scenario: ScenarioReport, isColourful: boolean): string => {
  const title = coloured(scenario.name, "bold", isColourful);
  const growing = scenario.policies.filter(({ waitsGrow }) => waitsGrow).map(({ policy }) => policy);
  const note =
    growing.length === 0
      ? ""
      : wrapped(
          `${GROWS}: clients came faster than they were served, to the end: means would say how long was played (${growing.join(", ")}).`,
        );
  return [
    `${wrapped(`${title}  ${scenario.says}`)}${wrapped(settingText(scenario))}`,
    policyTable(scenario.policies, CLIENT_COLUMNS, isColourful),
    policyTable(scenario.policies, WORK_COLUMNS, isColourful),
    ...recoveryTables(scenario).map(
      ({ says, titles, rows }) =>
        wrapped(says) +
        table(
          [{ header: "policy" }, ...titles.map((header) => ({ header, align: "right" as const }))],
          rows.map(({ policy, cells }) => [nameCell(policy), ...cells]),
          isColourful,
        ),
    ),
    ...(note === "" ? [] : [note]),
  ].join("\n");
};

const policyTable = (
  policies: readonly PolicyReport[],
  columns: readonly ReportColumn[],
  isColourful: boolean,
): string =>
  table(
    [{ header: "policy" }, ...columns.map(({ title }) => ({ header: title, align: "right" as const }))],
    policies.map((policy) => [nameCell(policy), ...columns.map(({ text }): Cell => text(policy))]),
    isColourful,
  );

const MOST_NAME = 15;
const nameCell = ({ policy, kind }: PolicyReport): Cell => {
  const text = policy.length > MOST_NAME ? `${policy.slice(0, MOST_NAME - 1)}…` : policy;
  return kind === "ours" ? { text, colour: "bold" } : kind === "oracle" ? { text, colour: "dim" } : text;
};

/** Ours against the best rival, one line a scenario. */
const togetherText = (scenarios: readonly ScenarioReport[], isColourful: boolean): string => {
  const rows = scenarios.flatMap(({ name, policies }): readonly (readonly Cell[])[] => {
    const ours = policies.find(({ kind }) => kind === "ours");
    if (ours === undefined) return [];
    const { standing } = ours;
    const rival = policies.find(({ policy }) => policy === standing.rival);
    const mean = (policy: PolicyReport | undefined): string => {
      if (policy === undefined) return NOTHING;
      if (policy.waitsGrow) return GROWS;
      const ms = meanOfRuns(policy.runs, ({ ttftMeanMs }) => ttftMeanMs)?.mean;
      return ms === undefined ? NOTHING : seconds(ms);
    };
    const slo = standing.withinSlo;
    return [
      [
        name.length > 38 ? `${name.slice(0, 37)}…` : name,
        ...[mean(ours), standing.rival ?? NOTHING, mean(rival)],
        changeCell(standing.ttftMean),
        changeCell(standing.ttftP95),
        changeCell(standing.endToEndP95),
        slo === null ? NOTHING : signedPercent(slo.mean),
      ],
    ];
  });
  const headers = ["scenario", "ours s", "best rival", "its s", "TTFT %", "p95 %", "e2e p95 %", "SLO"];
  const columns = headers.map((header, at) => ({
    header,
    align: at === 0 || at === 2 ? ("left" as const) : ("right" as const),
  }));
  const says = "Ours against the best rival: less is better, but for SLO (in per cent of all turns).\n";
  return rows.length === 0 ? "" : says + table(columns, rows, isColourful);
};

/** Where each policy is at its worst: a mean over scenarios hides collapses. */
const worstText = (scenarios: readonly ScenarioReport[], isColourful: boolean): string => {
  const names = [...new Set(scenarios.flatMap(({ policies }) => policies.map(({ policy }) => policy)))];
  const rows = names.map((name): readonly Cell[] => {
    const played = scenarios.flatMap(({ name: scenario, policies }) => {
      const policy = policies.find((one) => one.policy === name);
      return policy === undefined ? [] : [{ scenario, policy }];
    });
    const excesses = played.flatMap(({ scenario, policy }) => {
      const mean = policy.standing.ttftMean?.mean;
      return mean === undefined ? [] : [{ scenario, mean }];
    });
    const worst = excesses.toSorted((a, b) => b.mean - a.mean)[0];
    const growing = played.filter(({ policy }) => policy.waitsGrow).length;
    return [
      name,
      worst === undefined ? NOTHING : signedPercent(worst.mean),
      growing === 0 ? NOTHING : `${growing} of ${played.length}`,
      percentOf(excesses.filter(({ mean }) => mean <= 0.02).length, played.length),
      worst?.scenario ?? NOTHING,
    ];
  });
  const says = "Each policy at its worst: mean TTFT above the best other rival's.\n";
  const columns = [
    { header: "policy" },
    { header: "worst %", align: "right" as const },
    { header: "grows in", align: "right" as const },
    { header: "within 2 %", align: "right" as const },
    { header: "worst in" },
  ];
  return says + table(columns, rows, isColourful);
};

const percentOf = (part: number, whole: number): string => (whole === 0 ? NOTHING : percent(part / whole));

const WIDTH = 120;

/** At spaces, into lines of at most 120 characters; colours do not count. */
const wrapped = (text: string): string => {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && visible(line) + 1 + visible(word) > WIDTH) {
      lines.push(line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return `${[...lines, line].join("\n")}\n`;
};

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one.
const visible = (text: string): number => text.replaceAll(/\u001b\[\d+m/g, "").length;
