/** What a metric may be called: Prometheus' base units and this project's prefixes, so that no dashboard has to guess. */

export type MetricKind = "counter" | "gauge" | "histogram";
export type MetricSpec = {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
  /** Upper bounds, ascending; histograms only. */
  readonly buckets?: readonly number[];
};

const FORM = /^(?:gtm|edge_agent)(?:_[a-z][a-z0-9]*)+$/;
const LABEL_FORM = /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/;
/** Units that are not base units, and what to say instead. */
const FOREIGN_WORDS: Readonly<Record<string, string>> = {
  ms: "seconds",
  millis: "seconds",
  milliseconds: "seconds",
  us: "seconds",
  microseconds: "seconds",
  ns: "seconds",
  nanoseconds: "seconds",
  minutes: "seconds",
  hours: "seconds",
  kb: "bytes",
  kib: "bytes",
  mb: "bytes",
  mib: "bytes",
  gb: "bytes",
  gib: "bytes",
  kilobytes: "bytes",
  megabytes: "bytes",
  gigabytes: "bytes",
  bits: "bytes",
  percent: "fraction",
  ratio: "fraction",
  latency: "seconds",
};
const HISTOGRAM_UNITS = new Set(["seconds", "bytes", "fraction", "tokens"]);
/** Prometheus' own, and what would make a series of every conversation or client. */
const FOREIGN_LABELS = new Set(["le", "quantile", "conversation", "conversation_id", "client", "client_subnet"]);

/** @returns what is wrong with it, for the developer who reads the exception; null: nothing */
export const faultOfMetric = (kind: MetricKind, spec: MetricSpec): string | null => {
  const { name } = spec;
  if (!FORM.test(name)) return `${name}: expected snake_case with the prefix gtm_ or edge_agent_`;
  if (spec.help.trim() === "") return `${name}: expected a help text`;
  const label = (spec.labels ?? []).find((text) => !LABEL_FORM.test(text) || FOREIGN_LABELS.has(text));
  if (label !== undefined) return `${name}: ${label} cannot be a label`;
  return faultOfUnits(kind, name) ?? faultOfBuckets(kind, spec);
};

const faultOfUnits = (kind: MetricKind, name: string): string | null => {
  const words = name.split("_");
  const foreign = words.find((word) => Object.hasOwn(FOREIGN_WORDS, word));
  if (foreign !== undefined) return `${name}: expected ${FOREIGN_WORDS[foreign]} instead of ${foreign}`;
  const last = words.at(-1) ?? "";
  if ((kind === "counter") !== (last === "total")) return `${name}: counters, and only they, end in _total`;
  if (kind === "histogram" && !HISTOGRAM_UNITS.has(last)) {
    return `${name}: a histogram ends in its unit, one of ${[...HISTOGRAM_UNITS].join(", ")}`;
  }
  return null;
};

const faultOfBuckets = (kind: MetricKind, { name, buckets }: MetricSpec): string | null => {
  if (buckets === undefined) return null;
  if (kind !== "histogram") return `${name}: only histograms have buckets`;
  const isAscending = buckets.every((bound, at) => Number.isFinite(bound) && bound > (buckets[at - 1] ?? -Infinity));
  return isAscending && buckets.length > 0 ? null : `${name}: expected ascending, finite buckets`;
};
