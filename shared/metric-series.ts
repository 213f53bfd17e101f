/** The label sets of one metric, bounded: a label that a client can choose must not eat the memory of the process. */

export type MetricLabels = Readonly<Record<string, string>>;
export type OneSeries = { readonly labels: MetricLabels; value: number };

export type Series = {
  /**
   * The series of a label set, made at its first use; null where there are too many, which is reported.
   *
   * @throws {Error} when the labels are not the declared ones: a bug
   */
  readonly find: (labels: MetricLabels) => OneSeries | null;
  /** Where label sets beyond the most are summed: every label says "other". */
  readonly overflow: () => OneSeries;
  readonly remove: (labels: MetricLabels) => void;
  readonly all: () => Iterable<OneSeries>;
};

export const MOST_SERIES = 1_000;

/** One level a label, in the order declared. */
type Level = Map<string, Level | OneSeries>;

/**
 * Kept here and handed to prom-client when it is read: its own update joins the labels to a text each time, which costs
 * several times as much (measured by test/bench/metrics.bench.ts) on a path that every DNS answer takes.
 */
export const createSeries = (metric: string, names: readonly string[], onDropped: () => void): Series => {
  const top: Level = new Map();
  const series = new Set<OneSeries>();
  const unlabelled: OneSeries = { labels: {}, value: 0 };
  const other: OneSeries = { labels: Object.fromEntries(names.map((name) => [name, "other"])), value: 0 };
  let isOverflowing = false;
  // Without labels there is one series, and it shows from the start.
  if (names.length === 0) series.add(unlabelled);

  const labelOf = (labels: MetricLabels, name: string): string => {
    const value = labels[name];
    if (value === undefined) throw new Error(`${metric}: label ${name} is missing`);
    return value;
  };
  const lookUp = (labels: MetricLabels): OneSeries | null => {
    let at: Level | OneSeries | undefined = names.length === 0 ? unlabelled : top;
    for (const name of names) at = at instanceof Map ? at.get(labelOf(labels, name)) : undefined;
    return at === undefined || at instanceof Map ? null : at;
  };
  const add = (labels: MetricLabels): OneSeries => {
    const made = { labels: { ...labels }, value: 0 };
    let level = top;
    for (const [depth, name] of names.entries()) {
      const value = labelOf(labels, name);
      const next = depth === names.length - 1 ? made : (level.get(value) ?? new Map<string, Level | OneSeries>());
      level.set(value, next);
      if (next instanceof Map) level = next;
    }
    series.add(made);
    return made;
  };
  const requireDeclared = (labels: MetricLabels): void => {
    for (const name of names) labelOf(labels, name);
    const foreign = Object.keys(labels).find((name) => !names.includes(name));
    if (foreign !== undefined) throw new Error(`${metric}: label ${foreign} was not declared`);
  };

  return {
    find: (labels) => {
      const found = lookUp(labels);
      if (found !== null && names.length > 0) return found;
      requireDeclared(labels);
      if (found !== null) return found;
      if (series.size < MOST_SERIES) return add(labels);
      onDropped();
      return null;
    },
    overflow: () => {
      isOverflowing = true;
      return other;
    },
    remove: (labels) => {
      const found = lookUp(labels);
      if (found !== null && series.delete(found)) prune(top, names, labels);
    },
    all: function* () {
      yield* series;
      if (isOverflowing) yield other;
    },
  };
};

/** Empty levels go too, or labels that come and go would leave them behind. */
const prune = (level: Level, names: readonly string[], labels: MetricLabels): void => {
  const [name = "", ...rest] = names;
  const value = labels[name] ?? "";
  const next = level.get(value);
  if (next instanceof Map) prune(next, rest, labels);
  if (!(next instanceof Map) || next.size === 0) level.delete(value);
};
