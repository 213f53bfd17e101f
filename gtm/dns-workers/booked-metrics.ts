/** Metrics of threads in the main thread's registry: counters and gauges as the sum over all of them. */
import type { Metrics } from "#shared/metrics.ts";
import type { RelayedMetric, Series } from "./messages.ts";

export type BookedMetrics = {
  readonly book: (thread: number, metrics: readonly RelayedMetric[]) => void;
  /** What its gauges said is true no longer; what its counters counted stays. */
  readonly forget: (thread: number) => void;
};

export const createBookedMetrics = (metrics: Metrics): BookedMetrics => {
  /** Of each gauge's series what each thread said last. */
  const gauges = new Map<string, { readonly values: Map<number, number>; readonly set: (sum: number) => void }>();

  const setGauge = (thread: number, { spec }: RelayedMetric, [labels, value]: Series): void => {
    const key = JSON.stringify([spec.name, labels]);
    const gauge = metrics.gauge(spec);
    const one = gauges.get(key) ?? { values: new Map(), set: (sum) => gauge.set(sum, labels) };
    gauges.set(key, one);
    one.values.set(thread, value);
    one.set(sumOf(one.values));
  };
  /** Made also where nothing was counted yet: a metric that is there at 0 is not one that is missing. */
  const booker = (thread: number, metric: RelayedMetric): ((one: Series) => void) => {
    const { kind, spec } = metric;
    switch (kind) {
      case "counter": {
        const counter = metrics.counter(spec);
        return ([labels, value]) => counter.inc(labels, value);
      }
      case "gauge":
        metrics.gauge(spec);
        return (one) => setGauge(thread, metric, one);
      case "histogram": {
        const histogram = metrics.histogram(spec);
        return ([labels, value]) => histogram.observe(value, labels);
      }
    }
  };
  return {
    book: (thread, relayed) => {
      for (const metric of relayed) metric.series.forEach(booker(thread, metric));
    },
    forget: (thread) => {
      for (const { values, set } of gauges.values()) if (values.delete(thread)) set(sumOf(values));
    },
  };
};

const sumOf = (values: ReadonlyMap<number, number>): number => [...values.values()].reduce((a, b) => a + b, 0);
