/** The report as one page: no script, no font, nothing that is fetched. */
import { CLIENT_COLUMNS, GROWS, NOTHING, signedPercent, WORK_COLUMNS } from "./columns.ts";
import { element, escaped } from "./markup.ts";
import { anchorOf, scenarioSection } from "./page-scenario.ts";
import { PAGE_STYLE } from "./page-style.ts";
import { regretPlot } from "./plot-regret.ts";
import type { Report, ScenarioReport } from "./report.ts";

export const reportPage = ({ scenarios, isComplete }: Report): string => {
  const body = [
    element("h1", {}, "Decisions on the same traffic"),
    element("p", {}, INTRODUCTION),
    isComplete ? "" : element("p", { class: "note" }, element("strong", {}, INCOMPLETE)),
    regretSection(scenarios),
    element("h2", {}, "Scenario by scenario"),
    ...scenarios.map((scenario, at) => scenarioSection(scenario, at === 0)),
    element("h2", {}, "Columns"),
    element("dl", {}, [...CLIENT_COLUMNS, ...WORK_COLUMNS].map(explained).join("")),
  ].join("\n");
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>gtm simulate</title><style>${PAGE_STYLE}</style></head>
<body>${body}</body></html>
`;
};

const INTRODUCTION =
  "Every policy steers the same conversations, drawn from the same seeds, over the same simulated engines. Less time to first token (TTFT) is better. Intervals are 95 %, by Student’s t over seeds, of differences paired by seed where two policies are compared. The best rival is chosen with hindsight in every scenario; the oracle knows true caches and queues and is no rival. Hardware is a model: ranking and size of effects carry over, absolute seconds need not.";
const INCOMPLETE = "Broken off: not all runs that were asked for are in this report.";

const regretSection = (scenarios: readonly ScenarioReport[]): string => {
  const plot = regretPlot(scenarios);
  const figure = plot === "" ? "" : element("figure", { class: "wide" }, plot);
  return `${element("h2", {}, "Against the best rival")}${figure}${matrix(scenarios)}`;
};

/** Mean TTFT against the best rival: scenarios by policies. */
const matrix = (scenarios: readonly ScenarioReport[]): string => {
  // Ours comes first: with many rivals the last columns are off the screen.
  const all = scenarios.flatMap(({ policies }) => policies);
  const names = [...new Set([...all.filter(({ kind }) => kind === "ours"), ...all].map(({ policy }) => policy))];
  const header = ["scenario", ...names].map((name) => element("th", {}, escaped(name))).join("");
  const rows = scenarios.map((scenario) => {
    const link = element("a", { href: `#${anchorOf(scenario.name)}` }, escaped(scenario.name));
    return element("tr", {}, element("td", {}, link) + names.map((name) => cell(scenario, name)).join(""));
  });
  const table = element(
    "table",
    { class: "matrix" },
    element("thead", {}, element("tr", {}, header)) + element("tbody", {}, rows.join("")),
  );
  const caption =
    "Mean TTFT above (+) or below (−) that of the best other rival, in per cent; “grows”: clients came faster than they were served, to the end.";
  return `${element("p", { class: "note soft" }, caption)}${element("div", { class: "scroll" }, table)}`;
};

const cell = ({ policies }: ScenarioReport, name: string): string => {
  const policy = policies.find((one) => one.policy === name);
  if (policy === undefined) return element("td", {}, "");
  if (policy.waitsGrow) return element("td", { class: "grows" }, GROWS);
  const mean = policy.standing.ttftMean?.mean ?? null;
  if (mean === null) return element("td", {}, NOTHING);
  const depth = Math.min(0.5, Math.abs(mean) * 1.2);
  const style = `--depth:${depth.toFixed(2)}`;
  return element("td", { class: mean > 0 ? "worse" : "better", style }, signedPercent(mean));
};

const explained = ({ title, says }: { readonly title: string; readonly says: string }): string =>
  element("dt", {}, escaped(title)) + element("dd", {}, escaped(says));
