import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createMetrics, type Metrics } from "#shared/metrics.ts";

/** The samples of one metric as they are read, without comments. */
const samplesOf = async (metrics: Metrics, name: string): Promise<readonly string[]> =>
  (await metrics.text()).split("\n").filter((line) => line.startsWith(name));

describe("a counter", () => {
  it("without labels shows 0 from the start, and then its sum", async () => {
    const metrics = createMetrics();
    const counter = metrics.counter({ name: "gtm_x_total", help: "X." });
    assert.deepEqual(await samplesOf(metrics, "gtm_x_total"), ["gtm_x_total 0"]);
    counter.inc();
    counter.inc({}, 2.5);
    counter.inc(undefined, 0);
    assert.deepEqual(await samplesOf(metrics, "gtm_x_total"), ["gtm_x_total 3.5"]);
    assert.deepEqual(await samplesOf(metrics, "gtm_x_total"), ["gtm_x_total 3.5"], "reading changes nothing");
  });
  it("with labels has a series for each set, whatever the order of the labels", async () => {
    const metrics = createMetrics();
    const counter = metrics.counter({ name: "gtm_x_total", help: "X.", labels: ["a", "b"] });
    assert.deepEqual(await samplesOf(metrics, "gtm_x_total"), []);
    counter.inc({ a: "1", b: "2" });
    counter.inc({ b: "2", a: "1" });
    counter.inc({ a: "2", b: "1" });
    counter.inc({ a: 'quo"te', b: "line\nfeed" });
    assert.deepEqual(await samplesOf(metrics, "gtm_x_total"), [
      'gtm_x_total{a="1",b="2"} 2',
      'gtm_x_total{a="2",b="1"} 1',
      'gtm_x_total{a="quo\\"te",b="line\\nfeed"} 1',
    ]);
  });
  it("refuses to shrink, to count what is no number, and labels that it does not have", () => {
    const counter = createMetrics().counter({ name: "gtm_x_total", help: "X.", labels: ["a"] });
    for (const by of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
      assert.throws(() => counter.inc({ a: "1" }, by), /cannot grow/);
    }
    assert.throws(() => counter.inc({}), /label a is missing/);
    assert.throws(() => counter.inc(), /label a is missing/);
    assert.throws(() => counter.inc({ a: "1", b: "2" }), /label b was not declared/);
  });
});

describe("a gauge", () => {
  it("shows what was set last, NaN included, and nothing of a series that was removed", async () => {
    const metrics = createMetrics();
    const gauge = metrics.gauge({ name: "gtm_x_seconds", help: "X.", labels: ["region"] });
    gauge.set(1, { region: "eu" });
    gauge.set(-2.5, { region: "eu" });
    gauge.set(Number.NaN, { region: "us" });
    gauge.set(3, { region: "ap" });
    gauge.remove({ region: "ap" });
    gauge.remove({ region: "none" });
    assert.deepEqual(await samplesOf(metrics, "gtm_x_seconds"), [
      'gtm_x_seconds{region="eu"} -2.5',
      'gtm_x_seconds{region="us"} Nan',
    ]);
  });
  it("may come back after it was removed", async () => {
    const metrics = createMetrics();
    const gauge = metrics.gauge({ name: "gtm_x_seconds", help: "X.", labels: ["a", "b"] });
    gauge.set(1, { a: "1", b: "1" });
    gauge.remove({ a: "1", b: "1" });
    gauge.set(2, { a: "1", b: "1" });
    assert.deepEqual(await samplesOf(metrics, "gtm_x_seconds"), ['gtm_x_seconds{a="1",b="1"} 2']);
  });
});

describe("a histogram", () => {
  it("counts into its buckets", async () => {
    const metrics = createMetrics();
    const histogram = metrics.histogram({ name: "gtm_x_seconds", help: "X.", labels: ["a"], buckets: [0.1, 1] });
    for (const value of [0.05, 0.1, 0.5, 2]) histogram.observe(value, { a: "1" });
    const samples = await samplesOf(metrics, "gtm_x_seconds");
    assert.ok(samples.includes('gtm_x_seconds_bucket{le="0.1",a="1"} 2'), samples.join("\n"));
    assert.ok(samples.includes('gtm_x_seconds_bucket{le="1",a="1"} 3'), samples.join("\n"));
    assert.ok(samples.includes('gtm_x_seconds_bucket{le="+Inf",a="1"} 4'), samples.join("\n"));
    assert.ok(samples.includes('gtm_x_seconds_sum{a="1"} 2.65'), samples.join("\n"));
  });
  it("has buckets from half a millisecond to a minute where it names none", async () => {
    const metrics = createMetrics();
    metrics.histogram({ name: "gtm_x_seconds", help: "X." }).observe(0.3);
    const samples = await samplesOf(metrics, "gtm_x_seconds_bucket");
    assert.match(samples[0] ?? "", /le="0.0005"/);
    assert.match(samples.at(-2) ?? "", /le="60"/);
  });
  it("refuses what is no number", () => {
    const histogram = createMetrics().histogram({ name: "gtm_x_seconds", help: "X." });
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY])
      assert.throws(() => histogram.observe(value), /observe/);
  });
});

describe("a name that is asked for twice", () => {
  it("gives the same metric", async () => {
    const metrics = createMetrics();
    metrics.counter({ name: "gtm_x_total", help: "X.", labels: ["a"] }).inc({ a: "1" });
    metrics.counter({ name: "gtm_x_total", help: "In other words.", labels: ["a"] }).inc({ a: "1" });
    assert.deepEqual(await samplesOf(metrics, "gtm_x_total"), ['gtm_x_total{a="1"} 2']);
  });
  it("with another kind, other labels or other buckets is a bug", () => {
    const metrics = createMetrics();
    metrics.histogram({ name: "gtm_x_seconds", help: "X.", buckets: [1] });
    assert.throws(() => metrics.gauge({ name: "gtm_x_seconds", help: "X." }), /another kind, labels or buckets/);
    assert.throws(() => metrics.histogram({ name: "gtm_x_seconds", help: "X.", buckets: [2] }), /another kind/);
    metrics.counter({ name: "gtm_x_total", help: "X." });
    assert.throws(() => metrics.counter({ name: "gtm_x_total", help: "X.", labels: ["a"] }), /another kind/);
  });
  it("in another registry is another metric", async () => {
    const [one, other] = [createMetrics(), createMetrics()];
    one.counter({ name: "gtm_x_total", help: "X." }).inc();
    other.counter({ name: "gtm_x_total", help: "X." });
    assert.deepEqual(await samplesOf(other, "gtm_x_total"), ["gtm_x_total 0"]);
  });
});

describe("a bad name", () => {
  it("is a bug: a plain Error", () => {
    const fault = (() => {
      try {
        createMetrics().counter({ name: "queries", help: "X." });
      } catch (thrown) {
        return thrown;
      }
      return null;
    })();
    assert.ok(fault instanceof Error);
    assert.equal(fault.name, "Error");
    assert.match(fault.message, /^queries: /);
  });
});

describe("1 200 label sets of one metric", () => {
  const labelSets = Array.from({ length: 1_200 }, (_, i) => ({ who: `client ${i}` }));

  it("are 1 000 series of a counter, and one of the others that misses none", async () => {
    const metrics = createMetrics();
    const counter = metrics.counter({ name: "gtm_x_total", help: "X.", labels: ["who"] });
    for (const labels of [...labelSets, ...labelSets]) counter.inc(labels);
    const samples = await samplesOf(metrics, "gtm_x_total");
    assert.equal(samples.length, 1_001);
    assert.equal(samples.at(-1), 'gtm_x_total{who="other"} 400');
    assert.deepEqual(await samplesOf(metrics, "gtm_metric_series_dropped_total"), [
      'gtm_metric_series_dropped_total{metric="gtm_x_total"} 400',
    ]);
  });
  it("are 1 000 series of a histogram, and one of the others", async () => {
    const metrics = createMetrics();
    const histogram = metrics.histogram({ name: "gtm_x_seconds", help: "X.", labels: ["who"], buckets: [1] });
    for (const labels of labelSets) histogram.observe(0.5, labels);
    const counts = await samplesOf(metrics, "gtm_x_seconds_count");
    assert.equal(counts.length, 1_001);
    assert.ok(counts.includes('gtm_x_seconds_count{who="other"} 200'));
  });
  it("are 1 000 series of a gauge, since the rest have no common value", async () => {
    const metrics = createMetrics();
    const gauge = metrics.gauge({ name: "gtm_x_seconds", help: "X.", labels: ["who"] });
    for (const labels of labelSets) gauge.set(1, labels);
    assert.equal((await samplesOf(metrics, "gtm_x_seconds")).length, 1_000);
    gauge.remove({ who: "client 0" });
    gauge.set(2, { who: "client 1199" });
    assert.ok((await samplesOf(metrics, "gtm_x_seconds")).includes('gtm_x_seconds{who="client 1199"} 2'));
    assert.deepEqual(await samplesOf(metrics, "gtm_metric_series_dropped_total"), [
      'gtm_metric_series_dropped_total{metric="gtm_x_seconds"} 200',
    ]);
  });
});

describe("a registry", () => {
  it("holds the process's own metrics under their usual names", async () => {
    const metrics = createMetrics();
    const names = metrics.names();
    for (const name of ["process_cpu_seconds_total", "process_resident_memory_bytes", "nodejs_eventloop_lag_seconds"]) {
      assert.ok(names.includes(name), name);
    }
    assert.match(await metrics.text(), /^process_resident_memory_bytes \d+$/m);
  });
  it("lists what was made in it and says what it speaks", () => {
    const metrics = createMetrics();
    metrics.gauge({ name: "gtm_store_up", help: "X." });
    assert.equal(metrics.names().at(-1), "gtm_store_up");
    assert.match(metrics.contentType, /^text\/plain; version=0\.0\.4/);
  });
});
