import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { answered, answers, codesIn, failed, heard, onlyModelOf, reportOf } from "#test/support/edge-agent.ts";
import { PAGE_MODEL, vllmPage } from "#test/support/vllm-page.ts";

const page = (wish: Parameters<typeof vllmPage>[0]) => ({ metrics: answered(vllmPage(wish)) });

describe("an address that answers", () => {
  it("is loaded, with what it says now", () => {
    const model = onlyModelOf(reportOf([heard([answers(0, page([{ running: 3, waiting: 0 }]))])]));
    assert.deepEqual(
      [model.model, model.state, model.requestsRunning, model.requestsWaiting],
      [PAGE_MODEL, "loaded", 3, 0],
    );
    assert.equal(model.replicas[0]?.id, "10.0.0.5:8000/0");
    assert.equal(model.replicas[0]?.startedAtMs, 1_796_000_000_000);
  });
});

describe("an address whose page cannot be had for a moment", () => {
  const endpoint = heard([
    answers(0),
    answers(1_000, page([{ outputTokens: 20_100 }])),
    answers(2_000, { metrics: failed("timed-out") }),
  ]);
  const report = reportOf([endpoint], { [PAGE_MODEL]: { prefillTokensPerSecond: 8_000 } });
  const model = onlyModelOf(report);
  it("is still loaded, with its replicas", () => {
    assert.equal(model.state, "loaded");
    assert.deepEqual(
      model.replicas.map(({ id }) => id),
      ["10.0.0.5:8000/0"],
    );
  });
  it("has every measured value unknown, not zero", () => {
    const {
      requestsRunning,
      requestsWaiting,
      kvCacheUsedFraction,
      newTokensPerSecond,
      ttftP50Ms,
      prefixHitFraction,
      itlMs,
    } = model;
    assert.deepEqual(
      [requestsRunning, requestsWaiting, kvCacheUsedFraction, newTokensPerSecond, ttftP50Ms, prefixHitFraction, itlMs],
      [null, null, null, null, null, null, null],
    );
    assert.deepEqual([model.replicas[0]?.backlogMs, model.replicas[0]?.kvPinnedTokens], [null, null]);
  });
  it("keeps what silence does not change: size, start and speed", () => {
    assert.equal(model.kvCapacityTokens, 400_000);
    assert.equal(model.replicas[0]?.startedAtMs, 1_796_000_000_000);
    assert.equal(model.prefillTokensPerSecond, 8_000);
  });
  it("keeps the speed it measured before", () => {
    const measured = heard([
      answers(0, page([{ computedTokens: 0, prefill: [0, 0] }])),
      answers(1_000, page([{ computedTokens: 40_000, prefill: [20, 5] }])),
      answers(2_000, { metrics: failed("timed-out") }),
      answers(3_000, { metrics: failed("timed-out") }),
    ]);
    const { prefillTokensPerSecond, prefillConfidence } = onlyModelOf(reportOf([measured]));
    assert.deepEqual([prefillTokensPerSecond, prefillConfidence], [8_000, 1]);
  });
  it("names the reason", () => assert.deepEqual(codesIn(report, "page"), ["timed-out"]));
  it("has its rates back as soon as the page is", () => {
    const back = heard([
      answers(0),
      answers(1_000, { metrics: failed("timed-out") }),
      answers(2_000, page([{ outputTokens: 20_200 }])),
    ]);
    assert.equal(onlyModelOf(reportOf([back])).newTokensPerSecond, 100);
  });
});

describe("an address that falls silent", () => {
  const silent = (atMs: number) =>
    answers(atMs, { metrics: failed("timed-out"), models: failed("timed-out"), health: failed("timed-out") });
  it("is not down: silence is not a no", () => {
    assert.equal(onlyModelOf(reportOf([heard([answers(0), silent(29_999)])])).state, "loaded");
  });
  it("is down after 30 s, as long as a report lives", () => {
    const model = onlyModelOf(reportOf([heard([answers(0), silent(30_000)])]));
    assert.deepEqual([model.state, model.replicas, model.requestsRunning], ["down", [], null]);
  });
  it("says nothing of models when it never answered", () => {
    const report = reportOf([heard([silent(0), silent(60_000)])]);
    assert.deepEqual(report.models, []);
    assert.deepEqual(
      report.faults.map(({ field, code }) => [field, code]),
      [
        ["page", "timed-out"],
        ["models", "timed-out"],
        ["health", "timed-out"],
      ],
    );
  });
});

describe("an address that says no", () => {
  it("by 503 is down at once", () => {
    const endpoint = heard([answers(0), answers(1_000, { health: answered("", { status: 503 }) })]);
    assert.equal(onlyModelOf(reportOf([endpoint])).state, "down");
  });
  it("by refusing the connection is down at once", () => {
    const refused = { metrics: failed("refused"), models: failed("refused"), health: failed("refused") };
    const model = onlyModelOf(reportOf([heard([answers(0), answers(1_000, refused)])]));
    assert.deepEqual([model.state, model.replicas], ["down", []]);
  });
  it("and then comes back is loaded again, with the history begun anew", () => {
    const refused = { metrics: failed("refused"), models: failed("refused"), health: failed("refused") };
    const started = page([
      { createdAt: 1_796_011_201, outputTokens: 50, promptTokens: 900, computedTokens: 900, hits: 0 },
    ]);
    const endpoint = heard([answers(0), answers(1_000, refused), answers(2_000, started)]);
    const model = onlyModelOf(reportOf([endpoint]));
    assert.equal(model.state, "loaded");
    assert.equal(model.replicas[0]?.startedAtMs, 1_796_011_201_000);
    assert.equal(model.newTokensPerSecond, (900 + 50) / 2);
  });
});

describe("a model list that cannot be had for a moment", () => {
  it("is remembered, so that aliases do not come and go", () => {
    const silent = [1_000, 2_000, 3_000].map((atMs) => answers(atMs, { models: failed("timed-out") }));
    const model = onlyModelOf(reportOf([heard([answers(0), ...silent])]));
    assert.deepEqual([model.aliases, model.contextLimitTokens], [["llama-3.3-70b"], 131_072]);
  });
});

describe("an address behind which several processes answer", () => {
  const starts = [1_796_000_000, 1_796_005_000, 1_796_000_000];
  const endpoint = heard(starts.map((createdAt, at) => answers(at * 1_000, page([{ createdAt, waiting: 0 }]))));
  const report = reportOf([endpoint], { [PAGE_MODEL]: { prefillTokensPerSecond: 8_000 } });
  it("is told by name", () => assert.deepEqual(codesIn(report, "page"), ["multi-replica-endpoint"]));
  it("reports no rates, no backlog and no start", () => {
    const model = onlyModelOf(report);
    assert.deepEqual([model.newTokensPerSecond, model.prefixHitFraction, model.ttftP50Ms], [null, null, null]);
    assert.deepEqual([model.replicas[0]?.backlogMs, model.replicas[0]?.startedAtMs], [null, null]);
  });
});
