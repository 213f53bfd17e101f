/** The share of turns whose first token came within a time, one line a policy. */
import { FIELD, frame, linearScale, logScale, PLOT_HEIGHT, PLOT_WIDTH } from "./axes.ts";
import { focusOf, roleOf } from "./focus.ts";
import { drawing, type Point, path } from "./markup.ts";
import { type ScenarioReport, TTFT_FRACTIONS } from "./report.ts";

/** Who stands in front is drawn last. */
const ORDER: readonly string[] = ["other", "oracle", "rival", "ours"];

export const distributionPlot = (scenario: ScenarioReport): string => {
  const drawn = scenario.policies.filter(({ waitsGrow, ttftQuantilesMs }) => !waitsGrow && ttftQuantilesMs.length > 0);
  if (drawn.length === 0) return "";
  const focus = focusOf(scenario);
  const leastMs = Math.min(...drawn.map(({ ttftQuantilesMs }) => ttftQuantilesMs[1] ?? 1));
  const mostMs = Math.max(...drawn.map(({ ttftQuantilesMs }) => ttftQuantilesMs.at(-2) ?? 1_000));
  const x = logScale(Math.max(1, leastMs) / 1_000, Math.max(leastMs * 2, mostMs) / 1_000, FIELD.left, FIELD.right);
  const y = linearScale(0, 1, FIELD.bottom, FIELD.top);
  const lines = drawn
    .toSorted((a, b) => ORDER.indexOf(roleOf(a, focus)) - ORDER.indexOf(roleOf(b, focus)))
    .map((policy) => {
      const points = policy.ttftQuantilesMs.map((ms, at): Point => [x.at(ms / 1_000), y.at(TTFT_FRACTIONS[at] ?? 1)]);
      return path(points, { class: `line ${roleOf(policy, focus)}` }, policy.policy);
    });
  const axes = frame(
    x,
    y,
    { x: "TTFT, s (logarithmic)", y: "share of turns" },
    { x: (tick) => String(tick), y: (tick) => `${Math.round(tick * 100)} %` },
  );
  const title = `Share of turns by time to first token in ${scenario.name}`;
  return drawing(PLOT_WIDTH, PLOT_HEIGHT, title, axes + lines.join(""));
};
