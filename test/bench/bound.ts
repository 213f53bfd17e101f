/** Whether a benchmark's figure keeps the promise written beside it. */
import type { BenchRow } from "./bench.ts";

/** @returns null where nothing was promised. @throws {Error} when the bound is not of the form "≤ 5" or "≥ 0.6" */
export const isHeld = ({ value, ratio, bound }: BenchRow): boolean | null => {
  if (bound === null) return null;
  const [, sign, limit] = /^([≤≥]) ?([0-9][0-9 ]*(?:\.[0-9]+)?)$/u.exec(bound) ?? [];
  if (sign === undefined || limit === undefined) throw new Error(`not a bound: ${bound}`);
  const figure = ratio ?? value;
  const most = Number(limit.replaceAll(" ", ""));
  return sign === "≤" ? figure <= most : figure >= most;
};
