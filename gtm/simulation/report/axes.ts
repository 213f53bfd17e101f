/** The frame of a plot: where its field lies, the scales, ticks and grid. */
import { element, words } from "./markup.ts";

/** Narrow enough to be read on a telephone without being shrunk much. */
export const PLOT_WIDTH = 440;
export const PLOT_HEIGHT = 250;
export const FIELD = { left: 54, right: PLOT_WIDTH - 12, top: 12, bottom: PLOT_HEIGHT - 36 } as const;

export type Scale = { readonly at: (value: number) => number; readonly ticks: readonly number[] };

/** @param from, @param to more than 0, ascending @returns ticks at 1, 2 and 5 of each decade, or at 1 where there are many */
export const logScale = (from: number, to: number, start: number, end: number): Scale => {
  const span = Math.log(to / from) || 1;
  const decades: number[] = [];
  for (let power = Math.floor(Math.log10(from)); power <= Math.ceil(Math.log10(to)); power++) decades.push(10 ** power);
  const steps = decades.length > 4 ? [1] : [1, 2, 5];
  return {
    at: (value) => start + ((end - start) * Math.log(Math.min(to, Math.max(from, value)) / from)) / span,
    ticks: decades.flatMap((decade) => steps.map((step) => step * decade)).filter((tick) => tick >= from && tick <= to),
  };
};

export const linearScale = (from: number, to: number, start: number, end: number): Scale => {
  const step = niceStep((to - from) / 5);
  const first = Math.ceil(from / step - 1e-9);
  const last = Math.floor(to / step + 1e-9);
  return {
    at: (value) => start + ((end - start) * (Math.min(to, Math.max(from, value)) - from)) / (to - from || 1),
    ticks: Array.from({ length: last - first + 1 }, (_, at) => Number(((first + at) * step).toPrecision(12))),
  };
};

const niceStep = (least: number): number => {
  const decade = 10 ** Math.floor(Math.log10(least || 1));
  return (([1, 2, 5, 10].find((step) => step * decade >= least) ?? 10) as number) * decade;
};

/** Ticks by their text, titles along the axes, and a faint grid. */
export const frame = (x: Scale, y: Scale, labels: { readonly x: string; readonly y: string }, texts: Texts): string => {
  const { left, right, top, bottom } = FIELD;
  const columns = x.ticks.map(
    (tick) =>
      element("line", { class: "grid", x1: x.at(tick), x2: x.at(tick), y1: top, y2: bottom }) +
      words(x.at(tick), bottom + 14, texts.x(tick), { class: "tick", "text-anchor": "middle" }),
  );
  const rows = y.ticks.map(
    (tick) =>
      element("line", { class: "grid", x1: left, x2: right, y1: y.at(tick), y2: y.at(tick) }) +
      words(left - 5, y.at(tick) + 3.5, texts.y(tick), { class: "tick", "text-anchor": "end" }),
  );
  const titles =
    words((left + right) / 2, bottom + 31, labels.x, { class: "axis", "text-anchor": "middle" }) +
    words(0, 0, labels.y, {
      ...{ class: "axis", "text-anchor": "middle" },
      transform: `translate(10 ${(top + bottom) / 2}) rotate(-90)`,
    });
  return [...columns, ...rows, titles].join("");
};

export type Texts = { readonly x: (tick: number) => string; readonly y: (tick: number) => string };
