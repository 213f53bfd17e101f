/** A picture of DNS steering over time: the regions' shares as lines, and below them a stripe a city in the colour of its answer. */
import { type Stability, WINDOW_MS } from "#gtm/simulation/dns-stability.ts";

export type Panel = { readonly title: string; readonly of: Stability };

/** Told apart by everybody (Okabe and Ito). */
const COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9"];
const WIDTH = 980;
const LEFT = 96;
const PLOT = 760;
const LINES = 150;
const STRIPE = 11;
const GAP = 56;
const TOP = 44;

/** @param warmUpMs drawn apart: nothing is counted there */
export const stabilityPlot = (panels: readonly Panel[], warmUpMs: number, untilMs: number): string => {
  const x = (ms: number): number => round(LEFT + (PLOT * ms) / untilMs);
  const parts: string[] = [];
  let y = TOP;
  for (const panel of panels) {
    const drawn = panelAt(panel, y, x, untilMs);
    parts.push(...drawn.parts, warmUp(x(warmUpMs), y, drawn.height));
    y += drawn.height + GAP;
  }
  const style = "font-family: sans-serif; font-size: 12px";
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y}" width="${WIDTH}" height="${y}" style="${style}">`,
    "<title>Shares of regions and answers of cities, over time</title>",
    `<rect width="${WIDTH}" height="${y}" fill="#ffffff"/>`,
    ...parts,
    "</svg>",
    "",
  ].join("\n");
};

type Scale = (ms: number) => number;

const panelAt = ({ title, of }: Panel, top: number, x: Scale, untilMs: number) => {
  const cities = [...new Set(of.answers.map(({ cell }) => cell))];
  const stripesAt = top + LINES + 24;
  const height = LINES + 24 + cities.length * STRIPE;
  const parts = [
    text(LEFT, top - 14, title, 'font-weight="bold"'),
    ...grid(top, x, untilMs, top + height),
    ...of.shares.flatMap((share, region) =>
      line(share, region, of.regions[region] ?? "", { top, x, shares: of.shares }),
    ),
    ...cities.flatMap((city, at) => stripe(of, city, stripesAt + at * STRIPE, x, untilMs)),
  ];
  return { parts, height };
};

const grid = (top: number, x: Scale, untilMs: number, bottom: number): readonly string[] => {
  const horizontal = [0, 0.25, 0.5, 0.75].flatMap((share) => {
    const y = shareY(top, share);
    const rule = `<line x1="${LEFT}" x2="${LEFT + PLOT}" y1="${y}" y2="${y}" stroke="#dddddd"/>`;
    return [rule, text(LEFT - 8, y + 4, `${share * 100} %`, 'text-anchor="end" fill="#555555"')];
  });
  const minutes = Array.from({ length: Math.floor(untilMs / 600_000) + 1 }, (_, at) =>
    text(x(at * 600_000), bottom + 14, `${at * 10} min`, 'text-anchor="middle" fill="#555555"'),
  );
  return [...horizontal, ...minutes];
};

/** The axis ends at three quarters. */
const shareY = (top: number, share: number): number => round(top + LINES * (1 - share / 0.75));

type Where = { readonly top: number; readonly x: Scale; readonly shares: Stability["shares"] };

const line = (share: readonly number[], region: number, name: string, { top, x, shares }: Where): readonly string[] => {
  const points = share.map((value, at) => `${x((at + 0.5) * WINDOW_MS)},${shareY(top, Math.min(0.75, value))}`);
  const ends = shares.map((one) => shareY(top, one.at(-1) ?? 0));
  // Names beside the ends of their lines, and apart from each other.
  const order = ends.map((y, at) => ({ y, at })).toSorted((a, b) => a.y - b.y);
  let last = Number.NEGATIVE_INFINITY;
  let labelY = 0;
  for (const { y, at } of order) {
    last = Math.max(y, last + 14);
    if (at === region) labelY = last;
  }
  const colour = COLOURS[region % COLOURS.length];
  return [
    `<polyline points="${points.join(" ")}" fill="none" stroke="${colour}" stroke-width="2"/>`,
    text(LEFT + PLOT + 6, round(labelY + 4), name, `fill="${colour}"`),
  ];
};

const stripe = (of: Stability, city: string, y: number, x: Scale, untilMs: number): readonly string[] => {
  const answers = of.answers.filter(({ cell }) => cell === city);
  const bars = answers.map(({ atMs, region }, at) => {
    const [from, to] = [x(atMs), x(answers[at + 1]?.atMs ?? untilMs)];
    const size = `width="${round(to - from)}" height="${STRIPE - 2}"`;
    return `<rect x="${from}" y="${y}" ${size} fill="${COLOURS[region % COLOURS.length]}"/>`;
  });
  return [text(LEFT - 8, y + 8, city, 'text-anchor="end" font-size="10" fill="#333333"'), ...bars];
};

const warmUp = (toX: number, top: number, height: number): string =>
  `<rect x="${LEFT}" y="${top}" width="${round(toX - LEFT)}" height="${height}" fill="#ffffff" opacity="0.55"/>`;

const text = (x: number, y: number, what: string, attributes: string): string =>
  `<text x="${x}" y="${y}" ${attributes}>${what}</text>`;

const round = (value: number): number => Math.round(value * 10) / 10;
