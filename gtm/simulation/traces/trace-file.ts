/** Lines of a trace, and what is wrong with them: every fault names its file, its line and what was expected there. */
import { OperationalError } from "#shared/errors.ts";

export type TraceFile = {
  /** As the person who gave it would know it. */
  readonly name: string;
  readonly lines: Iterable<string>;
};

export type Place = { readonly file: string; readonly line: number };

export const faultAt = ({ file, line }: Place, expected: string): OperationalError =>
  new OperationalError("GTM_TRACE_INVALID", `${file}:${line}: expected ${expected}`);

export type Row = { readonly place: Place; readonly value: Readonly<Record<string, unknown>> };

/**
 * One JSON object a line; empty lines are skipped. What stands in a line is never repeated in a fault.
 *
 * @throws {OperationalError} GTM_TRACE_INVALID for a line that is no JSON object, and for a file without any
 */
export function* rowsOf({ name, lines }: TraceFile): Generator<Row> {
  let line = 0;
  let rows = 0;
  for (const text of lines) {
    line += 1;
    if (text.trim() === "") continue;
    const place = { file: name, line };
    const value = parsed(text);
    if (value === undefined) {
      const end = text.trimEnd().endsWith("}") ? "" : " that ends in }; is the file cut?";
      throw faultAt(place, `one JSON object in a line${end} (found ${text.length} characters that are none)`);
    }
    if (!isRecord(value)) throw faultAt(place, `one JSON object in a line, found ${describe(value)}`);
    rows += 1;
    yield { place, value };
  }
  if (rows === 0) throw faultAt({ file: name, line: 1 }, "at least one line");
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const describe = (value: unknown): string =>
  value === null
    ? "null"
    : Array.isArray(value)
      ? "an array"
      : typeof value === "string"
        ? "a text"
        : `a ${typeof value}`;

/** @returns the field as a number of at least `least` */
export const numberOf = ({ place, value }: Row, field: string, least: number): number => {
  const found = value[field];
  if (typeof found === "number" && Number.isFinite(found) && found >= least) return found;
  throw faultAt(place, `"${field}" as a number of ${least} or more, found ${shown(found)}`);
};

export const wholeOf = (row: Row, field: string, least: number): number => {
  const found = numberOf(row, field, least);
  if (Number.isSafeInteger(found)) return found;
  throw faultAt(row.place, `"${field}" as a whole number, found ${found}`);
};

/** @returns the field as whole numbers of 0 or more */
export const wholesOf = ({ place, value }: Row, field: string): readonly number[] => {
  const found = value[field];
  if (isWholes(found)) return found;
  throw faultAt(place, `"${field}" as an array of whole numbers of 0 or more, found ${shown(found)}`);
};

export const isWholes = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.every((one) => Number.isSafeInteger(one) && one >= 0);

const shown = (value: unknown): string =>
  value === undefined ? "none" : typeof value === "number" ? String(value) : describe(value);
