/** A table of two columns of whole numbers, as RAGPulse keeps the lengths of its contents. */
import { faultAt, type TraceFile } from "./trace-file.ts";

/**
 * @param heading the two words of the first line
 * @returns the second column by the first
 * @throws {OperationalError} GTM_TRACE_INVALID
 */
export const wholeNumbersIn = (
  { name, lines }: TraceFile,
  heading: readonly [string, string],
): ReadonlyMap<number, number> => {
  const numbers = new Map<number, number>();
  let line = 0;
  for (const text of lines) {
    line += 1;
    if (line === 1) {
      if (text.trim() === heading.join(",")) continue;
      throw faultAt({ file: name, line }, `the heading "${heading.join(",")}"`);
    }
    if (text.trim() === "") continue;
    const [key, value, ...more] = text
      .split(",")
      .map((cell) => (/^\d+$/.test(cell.trim()) ? Number(cell) : Number.NaN));
    if (key === undefined || value === undefined || more.length > 0 || Number.isNaN(key) || Number.isNaN(value)) {
      throw faultAt({ file: name, line }, `two whole numbers, ${heading.join(" and ")}, with a comma between`);
    }
    numbers.set(key, value);
  }
  if (numbers.size === 0)
    throw faultAt({ file: name, line: 1 }, `the heading "${heading.join(",")}" and at least one line`);
  return numbers;
};
