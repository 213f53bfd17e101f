/** Values with maps and infinities as JSON, and back, bit for bit: what decisions rest on has both. */

/** A map, by its one key; no object of ours has a key that begins so. */
const MAP = "$map";
/** A number that JSON has no word for. */
const NUMBER = "$number";

/** @param value plain objects, arrays, maps, strings, numbers, booleans, null; no circles */
export const toPlain = (value: unknown): unknown => {
  if (typeof value === "number") return Number.isFinite(value) ? value : { [NUMBER]: String(value) };
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(toPlain);
  if (value instanceof Map) return { [MAP]: [...value].map(([key, one]) => [key, toPlain(one)]) };
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, toPlain(one)]));
};

/** @throws {RangeError} where a marked value is not what the mark says */
export const fromPlain = (plain: unknown): unknown => {
  if (typeof plain !== "object" || plain === null) return plain;
  if (Array.isArray(plain)) return plain.map(fromPlain);
  if (MAP in plain) return mapOf(plain[MAP]);
  if (NUMBER in plain) return numberOf(plain[NUMBER]);
  return Object.fromEntries(Object.entries(plain).map(([key, one]) => [key, fromPlain(one)]));
};

const mapOf = (entries: unknown): ReadonlyMap<unknown, unknown> => {
  if (!Array.isArray(entries)) throw new RangeError(`${MAP} must be a list of pairs`);
  return new Map(
    entries.map((entry: unknown) => {
      if (Array.isArray(entry) && entry.length === 2) return [entry[0], fromPlain(entry[1])];
      throw new RangeError(`${MAP} must be a list of pairs, found ${JSON.stringify(entry)?.slice(0, 60)}`);
    }),
  );
};

const numberOf = (text: unknown): number => {
  const known: Readonly<Record<string, number>> = {
    Infinity: Number.POSITIVE_INFINITY,
    "-Infinity": Number.NEGATIVE_INFINITY,
    NaN: Number.NaN,
  };
  const number = typeof text === "string" ? known[text] : undefined;
  if (number !== undefined) return number;
  throw new RangeError(`${NUMBER} must be Infinity, -Infinity or NaN, found ${JSON.stringify(text)?.slice(0, 60)}`);
};
