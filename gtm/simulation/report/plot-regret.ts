/** How far ours is from the best rival, one row a scenario, with the interval over seeds. */
import { signedPercent } from "./columns.ts";
import { drawing, element, words } from "./markup.ts";
import type { ScenarioReport } from "./report.ts";
import type { Interval } from "./student-interval.ts";

const WIDTH = 640;
const LEFT = 230;
const RIGHT = WIDTH - 64;
const ROW = 20;
/** Farther out than this is drawn at the edge; the figure beside it is the truth. */
const MOST = 0.4;

const xOf = (fraction: number): number =>
  LEFT + ((RIGHT - LEFT) * (Math.min(MOST, Math.max(-MOST, fraction)) + MOST)) / (2 * MOST);

/** @returns "" where no scenario has a policy of ours with a bounded mean and a rival to compare with */
export const regretPlot = (scenarios: readonly ScenarioReport[]): string => {
  const rows = scenarios.flatMap(({ name, policies }) => {
    const standing = policies.find(({ kind }) => kind === "ours")?.standing;
    return standing?.ttftMean == null ? [] : [{ name, rival: standing.rival ?? "", interval: standing.ttftMean }];
  });
  if (rows.length === 0) return "";
  const height = rows.length * ROW + 44;
  const bottom = height - 32;
  const grid = [-0.4, -0.2, 0, 0.2, 0.4].map(
    (fraction) =>
      element("line", {
        ...{ class: fraction === 0 ? "zero" : "grid", x1: xOf(fraction), x2: xOf(fraction), y1: 4, y2: bottom },
      }) +
      words(xOf(fraction), bottom + 14, fraction === 0 ? "0" : `${signedPercent(fraction)} %`, {
        class: "tick",
        "text-anchor": "middle",
      }),
  );
  const axis = words((LEFT + RIGHT) / 2, height - 3, "← ours is faster · mean TTFT against the best rival · slower →", {
    ...{ class: "axis", "text-anchor": "middle" },
  });
  const drawn = rows.map(({ name, rival, interval }, at) => row(name, rival, interval, 4 + at * ROW + ROW / 2));
  return drawing(WIDTH, height, "Regret of ours by scenario", grid.join("") + drawn.join("") + axis);
};

const row = (name: string, rival: string, { mean, halfWidth }: Interval, y: number): string => {
  const width = halfWidth ?? 0;
  const kind = mean - width > 0 ? "worse" : mean + width < 0 ? "better" : "even";
  const text = `${signedPercent(mean)} %`;
  return [
    words(LEFT - 10, y + 4, short(name), { class: "label", "text-anchor": "end" }),
    element("line", { class: `whisker ${kind}`, x1: xOf(mean - width), x2: xOf(mean + width), y1: y, y2: y }),
    element(
      "circle",
      { class: `dot ${kind}`, cx: xOf(mean), cy: y, r: 4.5 },
      element("title", {}, `${name}: ${text} against ${rival}`.replaceAll("&", "&amp;").replaceAll("<", "&lt;")),
    ),
    words(WIDTH, y + 4, text, { class: "label", "text-anchor": "end" }),
  ].join("");
};

const short = (name: string): string => (name.length > 34 ? `${name.slice(0, 33)}…` : name);
