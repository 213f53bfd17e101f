/** Numbers and texts out of JSON that somebody else wrote: what is not of the kind that is asked for is null. */

export const fieldOf = (value: unknown, field: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, field)
    ? (value as Record<string, unknown>)[field]
    : undefined;

/** As far as engines count: larger is what is written for "blank". */
const LARGEST = 1e15;

/** @returns a finite number of 0 or more */
export const numberIn = (value: unknown, field: string): number | null => {
  const found = fieldOf(value, field);
  return typeof found === "number" && found >= 0 && found <= LARGEST ? found : null;
};

export const textIn = (value: unknown, field: string): string | null => {
  const found = fieldOf(value, field);
  return typeof found === "string" && found !== "" ? found : null;
};

/** @returns null where there is no list */
export const listIn = (value: unknown, field: string): readonly unknown[] | null => {
  const found = fieldOf(value, field);
  return Array.isArray(found) ? found : null;
};

/** Of one field over several objects. @returns null where one of them does not say it, or there are none: a part is no sum */
export const sumIn = (list: readonly unknown[], field: string): number | null => {
  const values = list.map((one) => numberIn(one, field));
  const known = values.filter((value) => value !== null);
  return known.length === 0 || known.length < values.length ? null : known.reduce((sum, value) => sum + value, 0);
};
