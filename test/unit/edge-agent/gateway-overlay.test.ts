import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ReplicaPage } from "#edge-agent/gateway/replica-page.ts";
import { type GatewayAnswer, withGateways } from "#edge-agent/gateway-overlay.ts";
import { answerOf } from "#edge-agent/gateway-scrape.ts";
import { RegionReport } from "#shared/report.ts";
import { aModelReport, aReplicaReport, aReport } from "#test/support/report-builders.ts";

/** Two replicas with scraped backlogs of 900 ms and a speed of 8 000 tokens a second. */
const replicas = [0, 1].map((at) =>
  aReplicaReport("frankfurt", at, { backlogMs: 900, prefillLinMs: 0.125, prefillAttnMs: 0.000_002 }),
);
const scraped = aReport("frankfurt", {
  models: [
    aModelReport("frankfurt", {
      ...{ replicas, prefillTokensPerSecond: 8_000, prefillConfidence: 0.5 },
      ...{ requestsRunning: 1, requestsWaiting: 1 },
    }),
  ],
});
const [first, second] = replicas.map(({ id }) => id);

const answer = (source: string, rows: readonly object[], region = "frankfurt"): GatewayAnswer => ({
  source,
  kind: "page",
  page: ReplicaPage.parse({
    ...{ v: 1, region, gateway: source, boot: "b1" },
    replicas: rows.map((row) => ({
      ...{ model: "model-a", inFlight: 1, prefillTokensPerSecond: null, prefillLinMs: null, prefillAttnMs: null },
      ...{ backlogMs: 0, prefillConfidence: 0 },
      ...row,
    })),
  }),
});
const silent: GatewayAnswer = { source: "192.0.2.9:9155", kind: "fault", code: "timed-out" };
const backlogs = (report: RegionReport) => report.models[0]?.replicas.map(({ backlogMs }) => backlogMs);

describe("a report beside gateways", () => {
  it("has their exact backlogs, summed over gateways; what none of them knows stays as scraped", () => {
    const both = [answer("gw-1", [{ id: first, backlogMs: 40 }]), answer("gw-2", [{ id: first, backlogMs: 25 }])];
    const report = withGateways(scraped, both);
    assert.deepEqual(backlogs(report), [65, 900]);
    assert.deepEqual(RegionReport.parse(report).faults, scraped.faults);
  });
  it("keeps what was scraped where a router of the region's own chooses, and takes nothing for sent around it", () => {
    const busy = { ...scraped, models: scraped.models.map((model) => ({ ...model, requestsRunning: 50 })) };
    const router = { id: "192.0.2.99:8000/0", backlogMs: null, inFlight: 50 };
    const report = withGateways(busy, [answer("gw-1", [{ ...router, isRouter: true }])]);
    assert.deepEqual([backlogs(report), report.faults], [[900, 900], scraped.faults]);
    // The same of an engine that the agent does not read is a fault of the configuration.
    const engine = withGateways(busy, [answer("gw-1", [router])]);
    assert.equal(engine.faults.at(-1)?.code, "around-gateways");
  });
  it("falls back to what was scraped, with a named fault, while one of them is silent: a part is not the whole", () => {
    const report = withGateways(scraped, [answer("gw-1", [{ id: first, backlogMs: 40 }]), silent]);
    assert.deepEqual(backlogs(report), [900, 900]);
    assert.deepEqual(report.faults, [
      ...scraped.faults,
      { source: "192.0.2.9:9155", field: "replicas", code: "timed-out" },
    ]);
  });
  it("does so for a backlog that a gateway does not know, for that replica alone", () => {
    const rows = [
      { id: first, backlogMs: null },
      { id: second, backlogMs: 7 },
    ];
    assert.deepEqual(backlogs(withGateways(scraped, [answer("gw-1", rows)])), [900, 7]);
  });
  it("has the longer backlog of the two where engines have requests that no gateway sent, and names that", () => {
    const [model] = scraped.models;
    assert.ok(model !== undefined);
    const busy = { ...scraped, models: [{ ...model, requestsWaiting: 40 }] };
    const rows = [
      { id: first, backlogMs: 40 },
      { id: second, backlogMs: 2_000 },
    ];
    const report = withGateways(busy, [answer("gw-1", rows)]);
    assert.deepEqual(backlogs(report), [900, 2_000]);
    assert.deepEqual(report.faults.at(-1), { source: model.model, field: "backlogMs", code: "around-gateways" });
  });
  it("is not touched by a gateway of another region, which is named", () => {
    const report = withGateways(scraped, [answer("gw-9", [{ id: first, backlogMs: 1 }], "paris")]);
    assert.deepEqual(backlogs(report), [900, 900]);
    assert.deepEqual(report.faults.at(-1), { source: "gw-9", field: "replicas", code: "other-region" });
  });
  it("has the calibrated speed of whoever is most certain, also while another is silent, and the model's mean with it", () => {
    const speed = (prefillLinMs: number, prefillConfidence: number) => ({
      ...{ id: first, prefillTokensPerSecond: 1_000 / prefillLinMs, prefillLinMs, prefillAttnMs: 0.000_003 },
      prefillConfidence,
    });
    const answers = [answer("gw-1", [speed(0.25, 1)]), answer("gw-2", [speed(0.5, 0.4)]), silent];
    const [model] = withGateways(scraped, answers).models;
    assert.deepEqual(
      model?.replicas.map(({ prefillLinMs, prefillAttnMs }) => [prefillLinMs, prefillAttnMs]),
      [
        [0.25, 0.000_003],
        [0.125, 0.000_002],
      ],
    );
    assert.deepEqual([model?.prefillTokensPerSecond, model?.prefillConfidence], [6_000, 0.75]);
  });
  it("keeps the scraped speed where the gateway's is a guess", () => {
    const row = { id: first, prefillTokensPerSecond: 1, prefillLinMs: 1_000, prefillAttnMs: 0, prefillConfidence: 0.2 };
    assert.deepEqual(withGateways(scraped, [answer("gw-1", [row])]).models[0]?.prefillTokensPerSecond, 8_000);
  });
  it("without gateways is what was scraped", () => assert.deepEqual(withGateways(scraped, []), scraped));
});

describe("a gateway that answers something else", () => {
  const answered = (status: number, text: string) =>
    answerOf("gw-1", { kind: "answered", status, contentType: "application/json", octets: Buffer.from(text) });
  const cases: readonly (readonly [string, GatewayAnswer, string])[] = [
    ["nothing in time", answerOf("gw-1", { kind: "failed", code: "timed-out" }), "timed-out"],
    ["404", answered(404, ""), "http-404"],
    ["half a page", answered(200, '{"v":1,'), "not-json"],
    ["another page", answered(200, '{"v":2}'), "not-a-replica-page"],
    [
      "a negative backlog",
      answered(
        200,
        JSON.stringify({ v: 1, region: "x", gateway: "g", boot: "b", replicas: [{ id: "a/0", backlogMs: -1 }] }),
      ),
      "not-a-replica-page",
    ],
  ];
  for (const [what, got, code] of cases) {
    it(`${what}: ${code}`, () => assert.deepEqual(got, { source: "gw-1", kind: "fault", code }));
  }
});
