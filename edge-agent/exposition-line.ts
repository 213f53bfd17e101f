/** One line of a Prometheus or OpenMetrics page: `name{label="value",…} value [timestamp] [# exemplar]`. */

/** What one line says. The value may be NaN or infinite: whoever reads it says what that means. */
export type Sample = {
  /** One array for all lines with the same name and order of labels; each label once. */
  readonly labelNames: readonly string[];
  readonly labelValues: readonly string[];
  readonly value: number;
};

export type Line =
  /** `valueAt`: where the value begins. */
  | { readonly kind: "sample"; readonly name: string; readonly sample: Sample; readonly valueAt: number }
  /** `name` as far as it could be read, 128 characters at most. */
  | { readonly kind: "malformed"; readonly name: string };

export const labelOf = ({ labelNames, labelValues }: Sample, name: string): string | null =>
  labelValues[labelNames.indexOf(name)] ?? null;

/**
 * @param expectedLabels what lines of this name had before, which nearly all repeat
 * @returns null for comments and blank lines; what follows the value is not looked at
 */
export const readLine = (line: string, expectedLabels: (name: string) => readonly string[]): Line | null => {
  const start = afterBlanks(line, 0);
  if (start === line.length || line.charCodeAt(start) === HASH) return null;
  const nameEnd = endOfWord(line, start);
  const name = line.slice(start, nameEnd);
  const labels = readLabels(line, afterBlanks(line, nameEnd), expectedLabels(name));
  const valueAt = labels === null ? 0 : afterBlanks(line, labels.end);
  const value = labels === null ? null : numberOf(line.slice(valueAt, endOfWord(line, valueAt)));
  if (name === "" || labels === null || value === null) return { kind: "malformed", name: name.slice(0, 128) };
  return { kind: "sample", name, valueAt, sample: { labelNames: labels.names, labelValues: labels.values, value } };
};

const HASH = 0x23;
const SPACE = 0x20;
const TAB = 0x09;
const CARRIAGE_RETURN = 0x0d;
const BRACE_OPEN = 0x7b;
const BRACE_CLOSE = 0x7d;
const COMMA = 0x2c;
const EQUALS = 0x3d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

const isBlank = (code: number): boolean => code === SPACE || code === TAB || code === CARRIAGE_RETURN;

const afterBlanks = (line: string, at: number): number => {
  let next = at;
  while (isBlank(line.charCodeAt(next))) next += 1;
  return next;
};

/** Up to a blank, an opening brace or the end. */
const endOfWord = (line: string, at: number): number => {
  for (let next = at; next < line.length; next += 1) {
    const code = line.charCodeAt(next);
    if (code === BRACE_OPEN || isBlank(code)) return next;
  }
  return line.length;
};

type LabelBlock = { readonly names: readonly string[]; readonly values: readonly string[]; readonly end: number };

const NO_LABELS: readonly string[] = [];

const readLabels = (line: string, at: number, expected: readonly string[]): LabelBlock | null => {
  if (line.charCodeAt(at) !== BRACE_OPEN) return { names: NO_LABELS, values: NO_LABELS, end: at };
  return readExpectedLabels(line, at + 1, expected) ?? readAnyLabels(line, at + 1);
};

/** The spelling of every exporter we know, with the labels of earlier lines of this name. @returns null where it is not that */
const readExpectedLabels = (line: string, at: number, expected: readonly string[]): LabelBlock | null => {
  if (expected.length === 0 || line.includes("\\")) return null;
  const values: string[] = [];
  let next = at;
  for (const name of expected) {
    const open = next + name.length + 2;
    if (!line.startsWith(name, next) || line.charCodeAt(open - 2) !== EQUALS || line.charCodeAt(open - 1) !== QUOTE) {
      return null;
    }
    const close = line.indexOf('"', open);
    if (close === -1) return null;
    values.push(line.slice(open, close));
    next = close + 2;
    if (line.charCodeAt(close + 1) !== (values.length === expected.length ? BRACE_CLOSE : COMMA)) return null;
  }
  return { names: expected, values, end: next };
};

/** @returns null where the block is malformed or names a label twice */
const readAnyLabels = (line: string, at: number): LabelBlock | null => {
  const names: string[] = [];
  const values: string[] = [];
  let next = afterBlanks(line, at);
  while (line.charCodeAt(next) !== BRACE_CLOSE) {
    const label = readLabel(line, next);
    if (label === null) return null;
    names.push(label.name);
    values.push(label.value);
    next = afterBlanks(line, label.end);
    if (line.charCodeAt(next) === COMMA) next = afterBlanks(line, next + 1);
    else if (line.charCodeAt(next) !== BRACE_CLOSE) return null;
  }
  return new Set(names).size < names.length ? null : { names, values, end: next + 1 };
};

type Label = { readonly name: string; readonly value: string; readonly end: number };

const readLabel = (line: string, at: number): Label | null => {
  const equals = line.indexOf("=", at);
  const name = equals === -1 ? "" : line.slice(at, equals).trimEnd();
  const open = afterBlanks(line, equals + 1);
  if (name === "" || line.charCodeAt(open) !== QUOTE) return null;
  const close = endOfQuoted(line, open + 1);
  if (close === -1) return null;
  return { name, value: unescaped(line.slice(open + 1, close)), end: close + 1 };
};

/** @returns where the closing quote stands; −1: nowhere */
const endOfQuoted = (line: string, at: number): number => {
  let close = line.indexOf('"', at);
  while (close !== -1 && isEscapedAt(line, at, close)) close = line.indexOf('"', close + 1);
  return close;
};

const isEscapedAt = (line: string, from: number, at: number): boolean => {
  let first = at;
  while (first > from && line.charCodeAt(first - 1) === BACKSLASH) first -= 1;
  return (at - first) % 2 === 1;
};

const unescaped = (raw: string): string =>
  raw.replaceAll(/\\(.)/g, (_, escaped: string) => (escaped === "n" ? "\n" : escaped));

const INFINITE = /^([+-]?)inf(?:inity)?$/i;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** @returns null where it is no number; NaN and infinities are values */
export const numberOf = (word: string): number | null => {
  if (NUMBER.test(word)) return Number(word);
  if (word.toLowerCase() === "nan") return Number.NaN;
  const [, sign] = INFINITE.exec(word) ?? [];
  if (sign === undefined) return null;
  return sign === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
};
