/** A thread's metrics: added up here, and booked by the main thread, whose registry is the only one. */
import type { MetricKind, MetricSpec } from "#shared/metric-name.ts";
import type { MetricLabels } from "#shared/metric-series.ts";
import type { Metrics } from "#shared/metrics.ts";
import type { RelayedMetric } from "./messages.ts";

export type RelayedMetrics = Metrics & {
  /** What came since it was taken last. */
  readonly take: () => readonly RelayedMetric[];
};

type Label = { readonly labels: MetricLabels; value: number };
type Kept = { readonly kind: MetricKind; readonly spec: MetricSpec; readonly series: Map<string, Label> | Label[] };

export const createRelayedMetrics = (): RelayedMetrics => {
  const kept = new Map<string, Kept>();
  const summed = (kind: "counter" | "gauge", spec: MetricSpec): Map<string, Label> => {
    const standing = kept.get(spec.name)?.series;
    if (standing instanceof Map) return standing;
    const series = new Map<string, Label>();
    kept.set(spec.name, { kind, spec, series });
    return series;
  };
  const find = (series: Map<string, Label>, labels: MetricLabels): Label => {
    const key = JSON.stringify(labels);
    const known = series.get(key);
    if (known !== undefined) return known;
    const made = { labels, value: 0 };
    series.set(key, made);
    return made;
  };
  return {
    counter: (spec) => {
      const series = summed("counter", spec);
      return {
        inc: (labels = {}, by = 1) => {
          find(series, labels).value += by;
        },
      };
    },
    gauge: (spec) => {
      const series = summed("gauge", spec);
      return {
        set: (value, labels = {}) => {
          find(series, labels).value = value;
        },
        remove: (labels) => {
          find(series, labels).value = 0;
        },
      };
    },
    histogram: (spec) => {
      const standing = kept.get(spec.name)?.series;
      const observed: Label[] = Array.isArray(standing) ? standing : [];
      kept.set(spec.name, { kind: "histogram", spec, series: observed });
      return {
        observe: (value, labels = {}) => {
          observed.push({ labels, value });
        },
      };
    },
    // Nobody reads a thread's metrics but the main thread.
    text: async () => "",
    contentType: "",
    names: () => [...kept.keys()],
    take: () =>
      [...kept.values()].map(({ kind, spec, series }): RelayedMetric => {
        const values = [...series.values()].map(
          ({ labels, value }) => [labels as Record<string, string>, value] as const,
        );
        if (Array.isArray(series)) series.length = 0;
        else series.clear();
        return { kind, spec, series: values };
      }),
  };
};
