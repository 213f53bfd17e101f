/** Lines over the last quarter of an hour, by uPlot; the table beside it says the same to who cannot see it. */
import { useEffect, useRef } from "preact/hooks";
import type UPlot from "uplot";
import { Empty } from "./state-box.tsx";
import { usePart } from "./use-part.ts";

export type Line = { readonly title: string; readonly colour: string; readonly values: readonly (number | null)[] };
type Wish = {
  readonly title: string;
  /** Unix seconds, growing. */
  readonly seconds: readonly number[];
  readonly lines: readonly Line[];
};

const HEIGHT = 160;
const plotter = () => import("uplot");

export const Chart = ({ title, seconds, lines }: Wish) => {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot | null>(null);
  const { value: plotting, hasFailed } = usePart(plotter);
  const names = lines.map((line) => line.title).join("|");
  useEffect(() => {
    const element = box.current;
    if (element === null || plotting === null) return;
    const ink = getComputedStyle(element).getPropertyValue("--ink-soft").trim();
    const grid = { stroke: getComputedStyle(element).getPropertyValue("--line").trim(), width: 1 };
    const axis = { stroke: ink, grid, ticks: grid };
    const made = new plotting.default(
      {
        width: element.clientWidth,
        height: HEIGHT,
        // The last time stands half beside its line.
        padding: [8, 30, 0, 0],
        legend: { show: true, live: false },
        cursor: { drag: { x: false, y: false } },
        scales: { y: { range: (_plot, _min, max) => [0, Math.max(1, max)] } },
        axes: [
          // A time is that wide, in px.
          { ...axis, space: 75, values: (_plot, ticks) => ticks.map(timeOf) },
          { ...axis, size: 44 },
        ],
        series: [
          {},
          ...lines.map((line) => ({ label: line.title, stroke: line.colour, width: 2, points: { show: false } })),
        ],
      },
      dataOf(seconds, lines),
      element,
    );
    plot.current = made;
    const resize = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT }));
    resize.observe(element);
    return () => {
      resize.disconnect();
      made.destroy();
      plot.current = null;
    };
    // Made anew only when there are other lines.
  }, [names, plotting]);
  useEffect(() => {
    plot.current?.setData(dataOf(seconds, lines));
  }, [seconds, lines]);
  if (hasFailed) return <Empty>{title}: the chart could not be loaded.</Empty>;
  return (
    <figure class="chart">
      <figcaption>{title}</figcaption>
      <div ref={box} aria-hidden="true" />
    </figure>
  );
};

const timeOf = (seconds: number): string => new Date(seconds * 1_000).toLocaleTimeString("en-GB");

const dataOf = (seconds: readonly number[], lines: readonly Line[]): UPlot.AlignedData => [
  [...seconds],
  ...lines.map(({ values }) => [...values]),
];
