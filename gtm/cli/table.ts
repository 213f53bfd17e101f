/** Aligned columns for people; numbers to the right, colours only where the terminal takes them. */

import { type Cell, type Colour, type Column, textOf, widthsOf } from "./cell.ts";
import { fitted, type Look } from "./fitted.ts";

const CODES: Readonly<Record<Colour, string>> = { green: "32", yellow: "33", red: "31", bold: "1", dim: "2" };

export const coloured = (text: string, colour: Colour, isColourful: boolean): string =>
  isColourful && text !== "" ? `\u001b[${CODES[colour]}m${text}\u001b[0m` : text;

/** @returns lines, each ended; the header first, and at the end what does not fit the terminal. @param look true or false: any width */
export const table = (columns: readonly Column[], rows: readonly (readonly Cell[])[], look: Look | boolean): string => {
  const { isColourful, columns: most } = typeof look === "boolean" ? { isColourful: look, columns: null } : look;
  const fit = fitted(columns, rows, most);
  const widths = widthsOf(fit.columns, fit.rows);
  const header = fit.columns.map((column): Cell => ({ text: column.header, colour: "bold" }));
  const lines = [header, ...fit.rows].map((row) => lineOf(row, fit.columns, widths, isColourful));
  return `${lines.join("")}${fit.note}`;
};

const lineOf = (
  row: readonly Cell[],
  columns: readonly Column[],
  widths: readonly number[],
  isColourful: boolean,
): string => {
  const cells = columns.map((column, at) => {
    const cell = row[at] ?? "";
    const text = textOf(cell);
    const padding = " ".repeat(Math.max(0, (widths[at] ?? 0) - text.length));
    const shown = typeof cell === "string" ? text : coloured(text, cell.colour, isColourful);
    if (column.align === "right") return `${padding}${shown}`;
    // Nothing is padded behind the last column, so that lines can be copied.
    return at === columns.length - 1 ? shown : `${shown}${padding}`;
  });
  return `${cells.join("  ").trimEnd()}\n`;
};

/** A single line in the columns of a table that is printed as it happens. */
export const tableLine = (columns: readonly Column[], row: readonly Cell[], isColourful: boolean): string =>
  lineOf(
    row,
    columns,
    columns.map(({ header, width = 0 }) => Math.max(width, header.length)),
    isColourful,
  );

/** "name  value" lines, the values below one another. */
export const facts = (pairs: readonly (readonly [name: string, value: string])[]): string => {
  const width = Math.max(...pairs.map(([name]) => name.length));
  return pairs.map(([name, value]) => `${name.padEnd(width)}  ${value}\n`).join("");
};

const STATE_COLOURS: Readonly<Record<string, Colour>> = {
  healthy: "green",
  ready: "green",
  active: "green",
  degraded: "yellow",
  "drain-new": "yellow",
  "drain-all": "yellow",
  "forced-up": "yellow",
  migrated: "yellow",
  displaced: "yellow",
  silent: "red",
  unhealthy: "red",
  down: "red",
  "not-ready": "red",
  unserved: "red",
};

/** A state, a health or a verdict in the colour that it deserves. */
export const state = (text: string): Cell => {
  const colour = STATE_COLOURS[text];
  return colour === undefined ? text : { text, colour };
};
