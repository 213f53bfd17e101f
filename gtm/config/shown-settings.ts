/** Settings as a file would write them, for people to read and programs to compare; what is secret in them is left out. */
import type { Path } from "#shared/config-path.ts";
import { pathOfKey } from "#shared/config-path.ts";
import { shownStoreUrl } from "#shared/store-url.ts";
import { wholePolicy } from "./policy-settings.ts";
import type { GtmSettings } from "./schema.ts";
import { type Unit, writtenAs } from "./written-as.ts";

/** By pathKey: the file's own word where variables were put in. */
export type References = ReadonlyMap<string, string>;

export type ShownSettings = { readonly [key: string]: Shown };

export type Shown = string | number | boolean | null | readonly Shown[] | { readonly [key: string]: Shown };

let forms: ReadonlyMap<string, Unit> | null = null;

/** With every key, those that the file left out included. A password in store.url is left out. */
export const shownSettings = (settings: GtmSettings): ShownSettings =>
  shown({ ...settings, policy: wholePolicy(settings.policy) }, "") as ShownSettings;

/** The same in the file's own words where variables were put in: of what they hold nothing is told. */
export const shownReferences = (settings: GtmSettings, references: References): ShownSettings =>
  [...references].reduce<Shown>(
    (into, [key, from]) => withWord(into, pathOfKey(key), shownStoreUrl(from)),
    shownSettings(settings),
  ) as ShownSettings;

/** What a path leads to that is not there (a key that became another inside) is left as it is. */
const withWord = (into: Shown, [step, ...rest]: Path, word: string): Shown => {
  if (step === undefined) return word;
  if (Array.isArray(into)) return into.map((one, at) => (at === step ? withWord(one, rest, word) : one));
  if (typeof into !== "object" || into === null || !Object.hasOwn(into, step)) return into;
  const inside = into as { readonly [key: string]: Shown };
  return { ...inside, [String(step)]: withWord(inside[String(step)] ?? null, rest, word) };
};

const shown = (value: unknown, at: string): Shown => {
  if (Array.isArray(value)) return value.map((one) => shown(one, `${at}[]`));
  if (typeof value === "object" && value !== null) return listenText(value) ?? shownKeys(value, at);
  if (typeof value === "number") return numberText(value, at);
  if (at === "store.url") return shownStoreUrl(String(value));
  return typeof value === "string" || typeof value === "boolean" ? value : null;
};

const shownKeys = (value: object, at: string): Shown =>
  Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) =>
      inner === undefined ? [] : [[key, shown(inner, at === "" ? key : `${at}.${key}`)]],
    ),
  );

/** null: it is no place to listen at. */
const listenText = (value: object): string | null => {
  if ("fd" in value) return `fd:${String(value.fd)}`;
  if (!("address" in value && "port" in value) || Object.keys(value).length !== 2) return null;
  const host = String(value.address);
  return host.includes(":") ? `[${host}]:${String(value.port)}` : `${host}:${String(value.port)}`;
};

const numberText = (value: number, at: string): Shown => {
  forms ??= writtenAs();
  switch (forms.get(at)) {
    case "duration":
      return inUnits(value, DURATIONS, "");
    case "size":
      return inUnits(value, SIZES, " ");
    case undefined:
      return value;
  }
};

const DURATIONS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
  ["ms", 1],
] as const;
const SIZES = [
  ["TB", 1e12],
  ["GB", 1e9],
  ["MB", 1e6],
  ["kB", 1e3],
  ["B", 1],
] as const;

/** In the largest unit that leaves no fraction. */
const inUnits = (value: number, units: readonly (readonly [string, number])[], gap: string): string => {
  const smallest = units.at(-1) ?? ["", 1];
  const [unit, per] = (value === 0 ? undefined : units.find(([, size]) => value % size === 0)) ?? smallest;
  return `${value / per}${gap}${unit}`;
};
