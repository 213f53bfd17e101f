/** Reads the fields of one replica off a page: by their accepted names, with the name that was found, or the fault that stands in its place. */
import type { Fault, Page } from "../exposition.ts";
import type { Sample } from "../exposition-line.ts";
import type { Cumulative, FieldSource } from "./engine.ts";
import { bucketsOf } from "./histogram.ts";
import { type Fold, type Found, fractionOf, perProcess, totalOf, type Value } from "./series.ts";

/** Which of the samples of one name are meant. */
export type Pick = (samples: readonly Sample[]) => readonly Sample[];

export type Reader = {
  /** The series under the first of these names that has any; `name` as it stands on the page. */
  readonly find: (names: readonly string[], pick?: Pick) => Found & { readonly name: string };
  /** Of all names that begin so. */
  readonly startingWith: (start: string) => readonly Sample[];
  /** A gauge; where it is not known, a fault says why, also that it is missing. */
  readonly gauge: (field: string, names: readonly string[], pick?: Pick) => number | null;
  /** A share of 0 to 1, averaged over its series. */
  readonly fraction: (field: string, names: readonly string[], pick?: Pick) => number | null;
  /** A sum of counters. Where it is missing another source may stand in, so that is no fault yet. */
  readonly total: (field: string, names: readonly string[], pick?: Pick) => number | null;
  /** `…_count` and `…_sum` of the first of these histograms that has both: [count, seconds]. */
  readonly histogram: (field: string, names: readonly string[], pick?: Pick) => readonly Cumulative[];
  readonly firstToken: (names: readonly string[]) => FirstTokenCounters;
  /** The field is not known for that reason. */
  readonly fault: (field: string, code: string) => void;
  /** What a reading made of something else than samples of this page was read from. */
  readonly source: (field: string, from: string) => void;
  readonly faults: () => readonly Fault[];
  readonly sources: () => readonly FieldSource[];
};

export type FirstTokenCounters = {
  readonly firstToken: readonly Cumulative[];
  readonly firstTokenBounds: readonly number[];
};

/** Prometheus' Python client exposes counters with `_total`; other exporters leave it out. */
export const counterNames = (...names: readonly string[]): readonly string[] =>
  names.flatMap((name) => [`${name}_total`, name]);

export const allSamples: Pick = (samples) => samples;

export type Place = {
  readonly page: Page;
  /** What stands before every name. */
  readonly prefix: string;
  /** Which samples of a name are of this model and replica. */
  readonly own: Pick;
};

export const createReader = ({ page, prefix, own }: Place): Reader => {
  const faults: Fault[] = [];
  const sources: FieldSource[] = [];

  const withPrefix = namesWith(prefix);
  const find = (names: readonly string[], pick: Pick = allSamples) => {
    for (const name of names) {
      const whole = withPrefix(name);
      const all = page.samples.get(whole);
      const samples = all === undefined ? NOTHING : pick(own(all));
      if (samples.length > 0) return { name: whole, samples, isContradicted: page.contradicted.has(whole) };
    }
    return NOT_FOUND;
  };
  const fault = (field: string, code: string): void => void faults.push({ field, code });
  const source = (field: string, from: string): void => void sources.push({ field, source: from });
  const taken = (field: string, name: string, value: Value, isMissingTold: boolean): number | null => {
    if (value.kind === "known") {
      source(field, name);
      return value.value;
    }
    if (isMissingTold || value.code !== "missing") fault(field, value.code);
    return null;
  };
  const sum: Fold = "sum";
  const total: Reader["total"] = (field, names, pick) => {
    const found = find(names, pick);
    return taken(field, found.name, totalOf(found, sum), false);
  };
  return {
    find,
    startingWith: (start) =>
      [...page.samples].flatMap(([name, samples]) => (name.startsWith(prefix + start) ? own(samples) : [])),
    gauge: (field, names, pick) => {
      const found = find(names, pick);
      return taken(field, found.name, totalOf(perProcess(found), sum), true);
    },
    fraction: (field, names, pick) => {
      const found = find(names, pick);
      return taken(field, found.name, fractionOf(perProcess(found), "mean"), true);
    },
    total,
    histogram: (field, names, pick) => {
      for (const name of names) {
        const count = total(field, [`${name}_count`], pick);
        const seconds = total(field, [`${name}_sum`], pick);
        if (count !== null && seconds !== null) return [{ source: name, values: [count, seconds] }];
      }
      return [];
    },
    firstToken: (names) => {
      const found = find(names.map((name) => `${name}_bucket`));
      const buckets = bucketsOf(found);
      if (buckets.kind === "unknown") {
        if (buckets.code !== "missing") fault("ttftP50Ms", buckets.code);
        return NO_FIRST_TOKEN;
      }
      source("ttftP50Ms", found.name);
      const { bounds, counts } = buckets;
      return { firstToken: [{ source: bucketsSource(bounds), values: counts }], firstTokenBounds: bounds };
    },
    fault,
    source,
    faults: () => faults,
    sources: () => sources,
  };
};

const NOTHING: readonly Sample[] = [];
const NOT_FOUND = { name: "", samples: NOTHING, isContradicted: false };

const bucketSources = new Map<string, string>();
const MOST_SOURCES = 64;

const sourceBy = new WeakMap<readonly number[], string>();

const bucketsSource = (bounds: readonly number[]): string => {
  const known = sourceBy.get(bounds) ?? onceOnly(`ttft le=${bounds}`);
  sourceBy.set(bounds, known);
  return known;
};

/** Every scrape of a minute keeps it, of every replica; engines of one version have the same buckets. */
const onceOnly = (source: string): string => {
  const known = bucketSources.get(source) ?? source;
  if (bucketSources.size < MOST_SOURCES) bucketSources.set(known, known);
  return known;
};

const byPrefix = new Map<string, Map<string, string>>();
/** No name that is read comes from a page, and prefixes are few; this only bounds a mistake. */
const MOST_NAMES = 4_096;

/** A name behind its prefix, put together once: many replicas each ask for the same names, and a new text is hashed anew. */
const namesWith = (prefix: string): ((name: string) => string) => {
  if (prefix === "") return (name) => name;
  const known = byPrefix.get(prefix) ?? new Map<string, string>();
  if (byPrefix.size < MOST_NAMES) byPrefix.set(prefix, known);
  return (name) => {
    const whole = known.get(name) ?? prefix + name;
    if (known.size < MOST_NAMES) known.set(name, whole);
    return whole;
  };
};

export const NO_FIRST_TOKEN: FirstTokenCounters = { firstToken: [], firstTokenBounds: [] };

/** An empty list where one of the values is not known or less than nothing. */
export const cumulative = (source: string, ...values: readonly (number | null)[]): readonly Cumulative[] => {
  const known = values.filter((value) => value !== null);
  return known.length === values.length && known.every((value) => value >= 0) ? [{ source, values: known }] : [];
};

export const difference = (from: number | null, taken: number | null): number | null =>
  from === null || taken === null ? null : from - taken;

/** The source of a number that is too large: it holds cached tokens too. */
export const UPPER_BOUND = "prompt_tokens, cached ones included";

/** Each once, in the order they came. */
export const distinctFaults = (faults: readonly Fault[]): readonly Fault[] => distinctBy(faults, ({ code }) => code);

export const distinctSources = (sources: readonly FieldSource[]): readonly FieldSource[] =>
  distinctBy(sources, ({ source }) => source);

const distinctBy = <T extends { readonly field: string }>(
  list: readonly T[],
  saidBy: (one: T) => string,
): readonly T[] => {
  const byField = new Map<string, string[]>();
  return list.filter((one) => {
    const known = byField.get(one.field);
    if (known === undefined) byField.set(one.field, [saidBy(one)]);
    else if (known.includes(saidBy(one))) return false;
    else known.push(saidBy(one));
    return true;
  });
};
