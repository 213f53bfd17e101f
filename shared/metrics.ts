/** Metrics in Prometheus' text format: names checked when they are made, label sets bounded while they are used. */
import {
  collectDefaultMetrics,
  Counter as PromCounter,
  Gauge as PromGauge,
  Histogram as PromHistogram,
  Registry,
} from "prom-client";
import { faultOfMetric, type MetricKind, type MetricSpec } from "./metric-name.ts";
import { createSeries, type MetricLabels, type Series } from "./metric-series.ts";

export type { MetricSpec } from "./metric-name.ts";

export type Counter = {
  /** @param by 0 or more, finite; 1 where absent */
  readonly inc: (labels?: MetricLabels, by?: number) => void;
};
export type Gauge = {
  readonly set: (value: number, labels?: MetricLabels) => void;
  /** Forgets a series whose subject is gone. */
  readonly remove: (labels: MetricLabels) => void;
};
export type Histogram = { readonly observe: (value: number, labels?: MetricLabels) => void };

/** Asking again for the same name and shape returns the same metric; a bad name or label is a bug and throws a plain Error. */
export type Metrics = {
  readonly counter: (spec: MetricSpec) => Counter;
  readonly gauge: (spec: MetricSpec) => Gauge;
  readonly histogram: (spec: MetricSpec) => Histogram;
  readonly text: () => Promise<string>;
  /** Of `text`. */
  readonly contentType: string;
  /** In the order they were made; `process_*` and `nodejs_*` come first. */
  readonly names: () => readonly string[];
};

/** Where a spec names none: 0.5 ms to 60 s, for what a network and a queue take. */
const DEFAULT_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export const createMetrics = (): Metrics => {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const made = new Map<string, { readonly shape: string; readonly metric: unknown }>();

  /** The same name must mean the same thing; what stands in the map was made by the same kind, since the shape says so. */
  const once = <M>(kind: MetricKind, spec: MetricSpec, make: () => M): M => {
    const shape = JSON.stringify([kind, spec.labels ?? [], spec.buckets ?? null]);
    const standing = made.get(spec.name);
    if (standing !== undefined) {
      if (standing.shape !== shape) throw new Error(`${spec.name}: made before with another kind, labels or buckets`);
      return standing.metric as M;
    }
    const fault = faultOfMetric(kind, spec);
    if (fault !== null) throw new Error(fault);
    const metric = make();
    made.set(spec.name, { shape, metric });
    return metric;
  };
  const seriesOf = ({ name, labels }: MetricSpec): Series =>
    createSeries(name, labels ?? [], () => dropped.inc({ metric: name }));
  const settingsOf = ({ name, help, labels }: MetricSpec) => ({
    name,
    help,
    labelNames: labels ?? [],
    registers: [registry],
  });

  const counter = (spec: MetricSpec): Counter =>
    once("counter", spec, () => {
      const series = seriesOf(spec);
      new PromCounter({
        ...settingsOf(spec),
        collect() {
          this.reset();
          for (const { labels, value } of series.all()) this.inc(labels, value);
        },
      });
      return {
        inc: (labels = {}, by = 1) => {
          if (!(by >= 0 && by < Infinity)) throw new Error(`${spec.name}: a counter cannot grow by ${by}`);
          const one = series.find(labels) ?? series.overflow();
          one.value += by;
        },
      };
    });

  const gauge = (spec: MetricSpec): Gauge =>
    once("gauge", spec, () => {
      const series = seriesOf(spec);
      new PromGauge({
        ...settingsOf(spec),
        collect() {
          this.reset();
          for (const { labels, value } of series.all()) this.set(labels, value);
        },
      });
      return {
        set: (value, labels = {}) => {
          // Many series in one would show the last one's value as everybody's; past the cap there is none.
          const one = series.find(labels);
          if (one !== null) one.value = value;
        },
        remove: series.remove,
      };
    });

  const histogram = (spec: MetricSpec): Histogram =>
    once("histogram", spec, () => {
      const series = seriesOf(spec);
      const prom = new PromHistogram({ ...settingsOf(spec), buckets: [...(spec.buckets ?? DEFAULT_BUCKETS)] });
      return {
        observe: (value, labels = {}) => {
          if (!Number.isFinite(value)) throw new Error(`${spec.name}: cannot observe ${value}`);
          prom.observe((series.find(labels) ?? series.overflow()).labels, value);
        },
      };
    });

  const dropped = counter({
    name: "gtm_metric_series_dropped_total",
    help: "Updates of label sets beyond the most that one metric may have; counters and histograms book them under other.",
    labels: ["metric"],
  });

  return {
    counter,
    gauge,
    histogram,
    text: () => registry.metrics(),
    contentType: registry.contentType,
    names: () => registry.getMetricsAsArray().map(({ name }) => name),
  };
};
