import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createBookedMetrics } from "#gtm/dns-workers/booked-metrics.ts";
import { createRelayedMetrics } from "#gtm/dns-workers/relayed-metrics.ts";
import { createMetrics } from "#shared/metrics.ts";
import { metricValue } from "#test/support/metric-value.ts";

const QUERIES = { name: "gtm_queries_total", help: "Queries.", labels: ["qtype"] };
const OPEN = { name: "gtm_open", help: "Connections open." };
const TOOK = { name: "gtm_took_seconds", help: "How long it took.", buckets: [1, 10] };

const setting = () => {
  const metrics = createMetrics();
  const booked = createBookedMetrics(metrics);
  const threads = [createRelayedMetrics(), createRelayedMetrics()] as const;
  const bookAll = (): void => {
    for (const [at, thread] of threads.entries()) booked.book(at, thread.take());
  };
  return { metrics, booked, threads, bookAll };
};

describe("metrics of two threads", () => {
  it("are added up where they count, each increment once", async () => {
    const { metrics, threads, bookAll } = setting();
    const [a, b] = threads.map((thread) => thread.counter(QUERIES));
    a?.inc({ qtype: "A" });
    b?.inc({ qtype: "A" }, 4);
    b?.inc({ qtype: "TXT" });
    bookAll();
    bookAll();
    a?.inc({ qtype: "A" });
    bookAll();
    assert.equal(await metricValue(metrics, QUERIES.name, { qtype: "A" }), 6);
    assert.equal(await metricValue(metrics, QUERIES.name, { qtype: "TXT" }), 1);
  });

  it("are there before anything was counted", () => {
    const { metrics, threads, bookAll } = setting();
    threads[0].counter(QUERIES);
    bookAll();
    assert.ok(metrics.names().includes(QUERIES.name));
  });

  it("are the sum of what each says now where they gauge, without those that are gone", async () => {
    const { metrics, booked, threads, bookAll } = setting();
    const [a, b] = threads.map((thread) => thread.gauge(OPEN));
    a?.set(3);
    b?.set(2);
    bookAll();
    a?.set(1);
    bookAll();
    assert.equal(await metricValue(metrics, OPEN.name), 3);
    booked.forget(1);
    assert.equal(await metricValue(metrics, OPEN.name), 1);
  });

  it("are each observed where they are distributions", async () => {
    const { metrics, threads, bookAll } = setting();
    threads[0].histogram(TOOK).observe(0.5);
    threads[1].histogram(TOOK).observe(5);
    bookAll();
    bookAll();
    const text = await metrics.text();
    assert.match(text, /gtm_took_seconds_bucket\{le="1"\} 1/);
    assert.match(text, /gtm_took_seconds_count 2/);
  });

  it("are the same metric however often it is asked for", async () => {
    const { metrics, threads, bookAll } = setting();
    for (let i = 0; i < 3; i++) {
      threads[0].counter(QUERIES).inc({ qtype: "A" });
      threads[0].histogram(TOOK).observe(5);
    }
    bookAll();
    assert.equal(await metricValue(metrics, QUERIES.name, { qtype: "A" }), 3);
    assert.match(await metrics.text(), /gtm_took_seconds_count 3/);
  });
});
