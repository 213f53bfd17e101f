import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createTally } from "#gtm/wire/dns/tally.ts";
import { createMetrics } from "#shared/metrics.ts";
import { metricValue } from "#test/support/metric-value.ts";

describe("queries counted", () => {
  it("are told apart by protocol, type and code, and types that few ask for are one", async () => {
    const metrics = createMetrics();
    const tally = createTally(metrics);
    tally.answered("udp", 1, 0);
    tally.answered("udp", 1, 0);
    tally.answered("tcp", 65, 3);
    for (const type of [0, 99, 65_280]) tally.answered("udp", type, 1);
    tally.flush();
    tally.flush();
    const count = (labels: Record<string, string>) => metricValue(metrics, "gtm_dns_queries_total", labels);
    assert.equal(await count({ proto: "udp", qtype: "A", rcode: "NOERROR" }), 2);
    assert.equal(await count({ proto: "tcp", qtype: "HTTPS", rcode: "NXDOMAIN" }), 1);
    assert.equal(await count({ proto: "udp", qtype: "OTHER", rcode: "FORMERR" }), 3);
  });
});
