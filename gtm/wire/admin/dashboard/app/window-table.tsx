/** A table of very many rows: only those in sight are in the document, so that ten thousand scroll as fifty do. */
import type { VNode } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Column, cellsOf, headsOf } from "./data-table.tsx";

export type WindowColumn<Row> = Column<Row> & {
  /** Share of the table's width, in hundredths: what scrolls by must not move the columns. */
  readonly width: number;
};

type Wish<Row> = {
  readonly caption: string;
  readonly columns: readonly WindowColumn<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** The last rows are nearly in sight. */
  readonly onNearEnd?: () => void;
};

/** As style.css has it. */
const ROW_PX = 33;
/** Above and below what is in sight, so that a quick scroll shows no gap. */
const SPARE = 5;
const NEAR = 150;

export const WindowTable = <Row,>({ caption, columns, rows, keyOf, onNearEnd }: Wish<Row>) => {
  const { box, first, last } = useSight(rows.length);
  const rowOf = useRows(columns);
  const isNearEnd = last >= rows.length - NEAR;
  useEffect(() => {
    if (isNearEnd) onNearEnd?.();
  }, [isNearEnd, rows.length]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section class="scroll window" ref={box} tabIndex={0} aria-label={caption}>
      <table aria-rowcount={rows.length + 1}>
        <caption>{caption}</caption>
        <colgroup>
          {columns.map(({ title, width }) => (
            <col key={title} style={{ width: `${width}%` }} />
          ))}
        </colgroup>
        <thead>
          <tr aria-rowindex={1}>{headsOf(columns)}</tr>
        </thead>
        <tbody>
          <Gap key="above" rows={first} columns={columns.length} />
          {rows.slice(first, last).map((row, at) => (
            <tr key={keyOf(row)} aria-rowindex={first + at + 2}>
              {rowOf(row)}
            </tr>
          ))}
          <Gap key="below" rows={rows.length - last} columns={columns.length} />
        </tbody>
      </table>
    </section>
  );
};

/** A row's cells are made once: what stays in sight while others come is not compared cell by cell. */
const useRows = <Row,>(columns: readonly WindowColumn<Row>[]) =>
  useMemo(() => {
    const made = new WeakMap<object, readonly VNode[]>();
    return (row: Row): readonly VNode[] => {
      const before = made.get(row as object);
      if (before !== undefined) return before;
      const cells = cellsOf(columns, row);
      made.set(row as object, cells);
      return cells;
    };
  }, [columns]);

/** As high as the rows that are not there. */
const Gap = ({ rows, columns }: { readonly rows: number; readonly columns: number }) =>
  rows === 0 ? null : (
    <tr class="gap">
      <td colSpan={columns} style={{ height: `${rows * ROW_PX}px` }} />
    </tr>
  );

/** Which rows are in sight, looked at once a frame while it scrolls. */
const useSight = (count: number) => {
  const box = useRef<HTMLElement>(null);
  const [sight, setSight] = useState({ topPx: 0, heightPx: 600 });
  useEffect(() => {
    const scrolled = box.current;
    if (scrolled === null) return;
    let frame = 0;
    const look = (): void => {
      frame = 0;
      setSight({ topPx: scrolled.scrollTop, heightPx: scrolled.clientHeight });
    };
    const soon = (): void => {
      if (frame === 0) frame = requestAnimationFrame(look);
    };
    soon();
    scrolled.addEventListener("scroll", soon, { passive: true });
    addEventListener("resize", soon);
    return () => {
      cancelAnimationFrame(frame);
      scrolled.removeEventListener("scroll", soon);
      removeEventListener("resize", soon);
    };
  }, []);
  const first = Math.min(Math.max(0, count - 1), Math.max(0, Math.floor(sight.topPx / ROW_PX) - SPARE));
  const last = Math.min(count, Math.ceil((sight.topPx + sight.heightPx) / ROW_PX) + SPARE);
  return { box, first, last: Math.max(first, last) };
};
