/** One scenario on the page: what was played, three plots, and all columns. */
import { CLIENT_COLUMNS, type ReportColumn, signedPercent, WORK_COLUMNS } from "./columns.ts";
import { type Focus, focusOf, roleOf } from "./focus.ts";
import { element, escaped } from "./markup.ts";
import { distributionPlot } from "./plot-distribution.ts";
import { loadPlot, waitsPlot } from "./plot-over-time.ts";
import { recoveryTables } from "./recovery-table.ts";
import type { PolicyReport, ScenarioReport } from "./report.ts";
import { settingText } from "./setting-text.ts";

export const scenarioSection = (scenario: ScenarioReport, isOpen: boolean): string => {
  const focus = focusOf(scenario);
  const head =
    element("strong", {}, escaped(scenario.name)) + element("span", { class: "soft" }, escaped(scenario.says));
  const outcome = element("span", { class: "outcome" }, escaped(outcomeOf(focus)));
  const inside = [
    element("p", { class: "setting" }, escaped(settingText(scenario))),
    growing(scenario),
    plots(scenario, focus),
    policyTable(scenario, focus, CLIENT_COLUMNS),
    policyTable(scenario, focus, WORK_COLUMNS),
    ...recoverySection(scenario, focus),
  ].join("");
  const id = { id: anchorOf(scenario.name) };
  return element(
    "details",
    isOpen ? { ...id, open: "" } : id,
    element("summary", {}, head + outcome) + element("div", { class: "inside" }, inside),
  );
};

export const anchorOf = (name: string): string => `s-${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}`;

const outcomeOf = ({ ours }: Focus): string => {
  const excess = ours?.standing.ttftMean;
  return ours === null || excess == null ? "" : `${signedPercent(excess.mean)} % against ${ours.standing.rival}`;
};

const growing = ({ policies }: ScenarioReport): string => {
  const names = policies.filter(({ waitsGrow }) => waitsGrow).map(({ policy }) => policy);
  if (names.length === 0) return "";
  const text = `Waits grow to the end under ${names.join(", ")}: means and quantiles would say how long was played, so only the share within the promise is told, and no line is drawn.`;
  return element("p", { class: "note" }, escaped(text));
};

const plots = (scenario: ScenarioReport, focus: Focus): string => {
  const front = [focus.rival, focus.ours].flatMap((policy) => policy ?? []);
  const timed = front.map((policy): readonly [string, PolicyReport] => [roleOf(policy, focus), policy]);
  const regions = scenario.regions.map(({ id }, at) => [`region-${Math.min(at, 5)}`, id] as const);
  return element(
    "div",
    { class: "plots" },
    [
      figure("TTFT of all turns", legendOf(scenario, focus), distributionPlot(scenario)),
      figure(
        "p95 of TTFT over time",
        legend(timed.toReversed().map(([role, { policy }]) => [role, policy])),
        waitsPlot(scenario, timed),
      ),
      ...front
        .toReversed()
        .map((policy) => figure(`Load by region: ${policy.policy}`, legend(regions), loadPlot(scenario, policy))),
    ].join(""),
  );
};

const figure = (title: string, keys: string, plot: string): string =>
  plot === "" ? "" : element("figure", {}, element("h3", {}, escaped(title)) + keys + plot);

const legend = (entries: readonly (readonly [role: string, text: string])[]): string =>
  element(
    "div",
    { class: "legend" },
    entries
      .map(([role, text]) => element("span", {}, element("span", { class: `key ${role}` }) + escaped(text)))
      .join(""),
  );

const legendOf = ({ policies }: ScenarioReport, focus: Focus): string => {
  const named = [focus.ours, focus.rival, focus.oracle].flatMap((policy) => policy ?? []);
  const others = policies.filter((policy) => !policy.waitsGrow && !named.includes(policy));
  const entries = named
    .filter(({ waitsGrow }) => !waitsGrow)
    .map((policy): readonly [string, string] => [roleOf(policy, focus), policy.policy]);
  return legend(others.length === 0 ? entries : [...entries, ["other", "other rivals"]]);
};

const recoverySection = (scenario: ScenarioReport, focus: Focus): readonly string[] =>
  recoveryTables(scenario).map(({ says, titles, rows }) => {
    const header = titles.map((title) => element("th", {}, escaped(title))).join("");
    const body = rows.map(({ policy, cells }) => {
      const texts = cells.map((text) => element("td", {}, escaped(text))).join("");
      return element("tr", { class: roleOf(policy, focus) }, element("td", {}, escaped(policy.policy)) + texts);
    });
    const head = element("thead", {}, element("tr", {}, element("th", {}, "policy") + header));
    const whole = element("table", {}, head + element("tbody", {}, body.join("")));
    return element("p", { class: "setting" }, escaped(says)) + element("div", { class: "scroll" }, whole);
  });

const policyTable = ({ policies }: ScenarioReport, focus: Focus, columns: readonly ReportColumn[]): string => {
  const header = columns.map(({ title, says }) => element("th", { title: says }, escaped(title))).join("");
  const rows = policies.map((policy) => {
    const cells = columns.map(({ text }) => element("td", {}, escaped(text(policy)))).join("");
    const role = roleOf(policy, focus);
    return element("tr", { class: role }, element("td", {}, escaped(policy.policy)) + cells);
  });
  const table = element(
    "table",
    {},
    element("thead", {}, element("tr", {}, element("th", {}, "policy") + header)) + element("tbody", {}, rows.join("")),
  );
  return element("div", { class: "scroll" }, table);
};
