/** Makes a table as wide as its terminal: columns that say less are left out, long texts shortened, and both are said. */
import { type Cell, type Column, textOf, widthsOf } from "./cell.ts";
import { wrapped } from "./wrapped.ts";

/** How data is printed. */
export type Look = {
  readonly isColourful: boolean;
  /** The most characters of a line; null: any number. */
  readonly columns: number | null;
};

export type Fitted = {
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Cell[])[];
  /** What was done to it, as lines; "": nothing. */
  readonly note: string;
};

const BETWEEN = 2;
/** Of a text that is shortened so much is left: enough to tell regions and models apart. */
const LEAST = 8;
const MARK = "…";

const lineWidth = (widths: readonly number[]): number =>
  widths.reduce((sum, one) => sum + one, 0) + BETWEEN * Math.max(0, widths.length - 1);

/** @param most characters of a line; null: any number */
export const fitted = (columns: readonly Column[], rows: readonly (readonly Cell[])[], most: number | null): Fitted => {
  const all = widthsOf(columns, rows);
  if (most === null || lineWidth(all) <= most) return { columns, rows, note: "" };
  let kept = columns.map((_, at) => at);
  const widths = (): readonly number[] => kept.map((at) => all[at] ?? 0);
  // Before a column goes, texts become as short as they may.
  const shortest = (): number => lineWidth(kept.map((at) => leastOf(columns[at], all[at] ?? 0)));
  const byRank = columns
    .flatMap(({ leave }, at) => (leave === undefined ? [] : [{ leave, at }]))
    .sort((a, b) => a.leave - b.leave);
  for (const { at } of byRank) {
    if (shortest() <= most) break;
    kept = kept.filter((one) => one !== at);
  }
  const short = shortened(
    kept.map((at) => columns[at]?.canShorten === true),
    widths(),
    most,
  );
  const left = columns.filter((_, at) => !kept.includes(at)).map(({ header }) => header);
  const shown = rows.map((row) => kept.map((at, to) => cellOf(row[at] ?? "", short[to] ?? 0)));
  const isShortened = rows.some((row) => kept.some((at, to) => textOf(row[at] ?? "").length > (short[to] ?? 0)));
  const said = [
    ...(left.length === 0 ? [] : [`Not in ${most} columns: ${left.join(", ")}.`]),
    ...(isShortened ? [`${MARK} marks what is shortened.`] : []),
  ];
  return {
    columns: kept.map((at, to) => ({
      header: "",
      ...columns[at],
      width: Math.min(columns[at]?.width ?? 0, short[to] ?? 0),
    })),
    rows: shown,
    note: said.length === 0 ? "" : wrapped([...said, "--wide shows all."].join(" "), most),
  };
};

const leastOf = (column: Column | undefined, width: number): number =>
  column?.canShorten === true ? Math.min(width, Math.max(LEAST, column.header.length)) : width;

/** The widest of those that may be shorter gives first. */
const shortened = (mayBe: readonly boolean[], widths: readonly number[], most: number): readonly number[] => {
  const now = [...widths];
  for (let over = lineWidth(now) - most; over > 0; over--) {
    let widest = -1;
    for (const [at, width] of now.entries()) {
      if (mayBe[at] === true && width > LEAST && width > (now[widest] ?? 0)) widest = at;
    }
    if (widest < 0) break;
    now[widest] = (now[widest] ?? 0) - 1;
  }
  return now;
};

const cellOf = (cell: Cell, width: number): Cell => {
  const text = textOf(cell);
  if (text.length <= width) return cell;
  const short = `${text.slice(0, Math.max(1, width - 1))}${MARK}`;
  return typeof cell === "string" ? short : { ...cell, text: short };
};
