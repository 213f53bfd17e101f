/** What happened when: load of each region under one policy, and waits of the policies in front. */
import { FIELD, frame, linearScale, logScale, PLOT_HEIGHT, PLOT_WIDTH, type Scale } from "./axes.ts";
import { drawing, element, type Point, path, words } from "./markup.ts";
import type { PolicyReport, ScenarioReport } from "./report.ts";

const MINUTE_MS = 60_000;

export const loadPlot = (scenario: ScenarioReport, policy: PolicyReport): string => {
  const { sliceMs, prefillFraction } = policy.series;
  const x = timeScale(scenario);
  const most = Math.max(...prefillFraction.flat(), 0.1);
  const y = linearScale(0, most > 0.55 ? 1 : most > 0.28 ? 0.6 : 0.3, FIELD.bottom, FIELD.top);
  const lines = prefillFraction.map((slices, region) => {
    const points = slices.map((value, at): Point => [x.at(((at + 0.5) * sliceMs) / MINUTE_MS), y.at(value)]);
    return path(points, { class: `line region-${region}` }, scenario.regions[region]?.id ?? String(region));
  });
  const axes = frame(x, y, { x: "minutes", y: "share of GPU time on prefill" }, { x: String, y: percents });
  const title = `Load of each region over time under ${policy.policy} in ${scenario.name}`;
  return drawing(PLOT_WIDTH, PLOT_HEIGHT, title, before(x, scenario) + axes + lines.join("") + marks(x, scenario));
};

/** @param policies by their class in the style sheet, the one in front last */
export const waitsPlot = (scenario: ScenarioReport, policies: readonly (readonly [string, PolicyReport])[]): string => {
  const values = policies.flatMap(([, { series }]) => series.ttftP95Ms.flatMap((ms) => ms ?? []));
  if (values.length === 0) return "";
  const x = timeScale(scenario);
  const [least, most] = [Math.max(1, Math.min(...values)) / 1_000, Math.max(...values) / 1_000];
  const y = logScale(least / 1.15, Math.max(most, least * 4) * 1.15, FIELD.bottom, FIELD.top);
  const lines = policies.map(([role, { policy, series }]) => {
    const points = series.ttftP95Ms.flatMap((ms, at): readonly Point[] =>
      ms === null ? [] : [[x.at(((at + 0.5) * series.sliceMs) / MINUTE_MS), y.at(ms / 1_000)]],
    );
    return path(points, { class: `line ${role}` }, policy);
  });
  const axes = frame(x, y, { x: "minutes", y: "p95 of TTFT, s" }, { x: String, y: String });
  const title = `95th percentile of TTFT over time in ${scenario.name}`;
  return drawing(PLOT_WIDTH, PLOT_HEIGHT, title, before(x, scenario) + axes + lines.join("") + marks(x, scenario));
};

const percents = (fraction: number): string => `${Math.round(fraction * 100)} %`;

const timeScale = ({ warmUpMs, measuredMs }: ScenarioReport): Scale =>
  linearScale(0, (warmUpMs + measuredMs) / MINUTE_MS, FIELD.left, FIELD.right);

/** What is not counted is shaded. */
const before = (x: Scale, { warmUpMs }: ScenarioReport): string =>
  element("rect", {
    ...{ class: "warm-up", x: FIELD.left, y: FIELD.top },
    ...{ width: x.at(warmUpMs / MINUTE_MS) - FIELD.left, height: FIELD.bottom - FIELD.top },
  });

const marks = (x: Scale, { happenings }: ScenarioReport): string =>
  happenings
    .map(({ atMs, says }, row) => {
      const at = x.at(atMs / MINUTE_MS);
      const isLate = at > (FIELD.left + FIELD.right) / 2;
      const y = FIELD.top + 10 + (row % 4) * 12;
      return (
        element("line", { class: "mark", x1: at, x2: at, y1: FIELD.top, y2: FIELD.bottom }) +
        words(at + (isLate ? -4 : 4), y, says, { class: "said", "text-anchor": isLate ? "end" : "start" })
      );
    })
    .join("");
