/** Columns and cells of tables, and how wide they are. */

export type Colour = "green" | "yellow" | "red" | "bold" | "dim";
export type Cell = string | { readonly text: string; readonly colour: Colour };
export type Column = {
  readonly header: string;
  readonly align?: "left" | "right";
  /** At least this wide: for lines that are printed before the ones below are known. */
  readonly width?: number;
  /** Where a line has no room for all: the lowest goes first. Absent: it stays. */
  readonly leave?: number;
  /** Where a line has no room: its texts may end in "…". */
  readonly canShorten?: true;
};

export const textOf = (cell: Cell): string => (typeof cell === "string" ? cell : cell.text);

export const widthsOf = (columns: readonly Column[], rows: readonly (readonly Cell[])[]): readonly number[] =>
  columns.map(({ header, width = 0 }, at) =>
    Math.max(width, header.length, ...rows.map((row) => textOf(row[at] ?? "").length)),
  );
