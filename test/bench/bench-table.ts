/** The rows of a benchmark as a table for a terminal. */
import type { BenchRow } from "./bench.ts";
import { isHeld } from "./bound.ts";

/** @returns lines, each with its line feed; columns wide enough for their longest cell */
export const benchTable = (rows: readonly BenchRow[]): string => {
  const cells = rows.map((row) => [
    row.what,
    `${figure(row.value)} ${row.unit}`,
    row.against === null ? "" : `against ${row.against}`,
    row.ratio === null ? "" : `× ${figure(row.ratio)}`,
    row.bound ?? "",
    judgement(row),
  ]);
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)));
  return cells
    .map(
      (line) =>
        `  ${line
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("");
};

const judgement = (row: BenchRow): string => {
  const held = isHeld(row);
  return held === null ? "" : held ? "held" : "missed";
};

/** Three significant digits, thousands kept apart by thin spaces. */
const figure = (value: number): string => {
  const rounded = Number(value.toPrecision(3));
  const [whole = "", part] = String(rounded).split(".");
  const grouped = whole.replaceAll(/\B(?=(?:[0-9]{3})+$)/g, "\u2009");
  return part === undefined ? grouped : `${grouped}.${part}`;
};
