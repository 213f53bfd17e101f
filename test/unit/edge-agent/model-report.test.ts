import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ModelSettings } from "#edge-agent/replica-report.ts";
import type { ModelReport } from "#shared/report.ts";
import { answered, answers, codesIn, heard, onlyModelOf, reportOf } from "#test/support/edge-agent.ts";
import { enginePayload, PAGE_MODEL, type VllmEngine, vllmPage } from "#test/support/vllm-page.ts";

type Engines = readonly Partial<VllmEngine>[];

/** One address, two pages ten seconds apart. */
const twice = (first: Engines, second: Engines, settings: Partial<ModelSettings> = {}): ModelReport =>
  onlyModelOf(
    reportOf(
      [
        heard([
          answers(0, { metrics: answered(vllmPage(first)) }),
          answers(10_000, { metrics: answered(vllmPage(second)) }),
        ]),
      ],
      { [PAGE_MODEL]: settings },
    ),
  );

describe("vLLM's captured pages, ten seconds apart", () => {
  const report = reportOf([
    heard([
      answers(0, { metrics: answered(enginePayload("vllm-v1-current.t0.prom")) }),
      answers(10_000, { metrics: answered(enginePayload("vllm-v1-current.t1.prom")) }),
    ]),
  ]);
  const model = onlyModelOf(report);
  const close = (actual: number | null, expected: number): void => {
    assert.ok(
      actual !== null && Math.abs(actual - expected) < 1e-6 * Math.max(1, expected),
      `${actual} is not ${expected}`,
    );
  };
  it("run 22, keep 4 waiting and use 0.49505 of 864 000 tokens", () => {
    assert.deepEqual([model.requestsRunning, model.requestsWaiting, model.kvCapacityTokens], [22, 4, 864_000]);
    close(model.kvCacheUsedFraction, 0.49505);
  });
  it("hit the prefix cache in 0.559322 of the tokens", () => close(model.prefixHitFraction, 26_400 / 47_200));
  it("wrote 2 080 computed and 1 100 output tokens a second", () => close(model.newTokensPerSecond, 2_080 + 1_100));
  it("gave the first token after 250 ms in the median and 960 ms at p95", () => {
    close(model.ttftP50Ms, 250);
    close(model.ttftP95Ms, 960);
  });
  it("had no prefill end in between, so that the speed is unknown and so is the backlog", () => {
    assert.deepEqual([model.prefillTokensPerSecond, model.prefillConfidence, model.itlMs], [null, null, null]);
    assert.deepEqual(
      model.replicas.map(({ backlogMs }) => backlogMs),
      [null, null],
    );
  });
  it("has no fault", () => assert.deepEqual(report.faults, []));
  it("share the capacity evenly, of which each pins its part", () => {
    assert.deepEqual(
      model.replicas.map(({ kvCapacityTokens }) => kvCapacityTokens),
      [432_000, 432_000],
    );
    close(model.replicas[0]?.kvPinnedTokens ?? null, 0.4511 * 432_000);
  });
});

describe("the same pages with a configured speed of 4 000 tokens/s", () => {
  it("wait for 533 computed tokens a request on one replica and 622 on the other", () => {
    const endpoint = heard([
      answers(0, { metrics: answered(enginePayload("vllm-v1-current.t0.prom")) }),
      answers(10_000, { metrics: answered(enginePayload("vllm-v1-current.t1.prom")) }),
    ]);
    const model = onlyModelOf(reportOf([endpoint], { [PAGE_MODEL]: { prefillTokensPerSecond: 4_000 } }));
    assert.equal(model.prefillConfidence, 1);
    assert.deepEqual(
      model.replicas.map(({ backlogMs }) => Math.round(backlogMs ?? -1)),
      [Math.round((1_000 * (9_600 / 18)) / 4_000), Math.round((1_000 * 3 * (11_200 / 18)) / 4_000)],
    );
    assert.equal(model.replicas[0]?.prefillLinMs, 0.25);
    assert.equal(model.replicas[0]?.prefillAttnMs, 0.5 / 131_072);
  });
});

describe("a replica that had no request lately", () => {
  const first: Engines = [{ firstTokens: [0, 0, 0], computedTokens: 0 }, { waiting: 0 }];
  const second: Engines = [{ firstTokens: [4, 4, 4], computedTokens: 8_000 }, { waiting: 3 }];
  it("is taken to wait for the usual request of its model: 3 × 2 000 tokens at 8 000 tokens/s", () => {
    const model = twice(first, second, { prefillTokensPerSecond: 8_000 });
    assert.equal(model.replicas[1]?.backlogMs, 750);
  });
  it("has an unknown backlog where none of them had one", () => {
    const model = twice([{}], [{ waiting: 3 }], { prefillTokensPerSecond: 8_000 });
    assert.equal(model.replicas[0]?.backlogMs, null);
  });
});

describe("a replica whose KV cache is full", () => {
  it("waits for room too: 4 ÷ 8 of a mean decode of 2 s", () => {
    const model = twice(
      [{ firstTokens: [0, 0, 0], computedTokens: 0 }],
      [{ firstTokens: [4, 4, 4], computedTokens: 8_000, waiting: 4, running: 8, kvUsed: 0.97 }],
      { prefillTokensPerSecond: 8_000 },
    );
    assert.equal(model.replicas[0]?.backlogMs, 1_000 + 1_000);
  });
});

describe("measured prefill speeds", () => {
  it("are computed tokens over prefill time, per replica, and the model has their mean", () => {
    const model = twice(
      [
        { computedTokens: 0, prefill: [0, 0] },
        { computedTokens: 0, prefill: [0, 0] },
      ],
      [
        { computedTokens: 40_000, prefill: [20, 5] },
        { computedTokens: 40_000, prefill: [10, 10] },
      ],
    );
    assert.deepEqual(
      model.replicas.map(({ prefillLinMs }) => prefillLinMs),
      [1_000 / 8_000, 1_000 / 4_000],
    );
    assert.deepEqual([model.prefillTokensPerSecond, model.prefillConfidence], [6_000, 0.75]);
  });
  it("are lent to a replica that has none", () => {
    const model = twice(
      [{ computedTokens: 0, prefill: [0, 0] }, {}],
      [{ computedTokens: 40_000, prefill: [20, 5] }, {}],
    );
    assert.deepEqual(
      model.replicas.map(({ prefillLinMs }) => prefillLinMs),
      [0.125, 0.125],
    );
  });
});

describe("the gap between tokens", () => {
  it("is the mean over the gaps of all replicas: 1 000 of 20 ms and 3 000 of 40 ms", () => {
    const model = twice([{}, {}], [{ interToken: [21_000, 420] }, { interToken: [23_000, 520] }]);
    assert.equal(model.itlMs, 35);
  });
});

describe("two addresses with one model", () => {
  const at = (address: string, page: string, models = "vllm-v1-models.json") =>
    heard([answers(0, { metrics: answered(page), models: answered(enginePayload(models)) })], "auto", address);
  it("are summed, and fractions weighted by what each holds", () => {
    const large = vllmPage([{ running: 5, kvUsed: 0.5 }]).replace('num_gpu_blocks="25000"', 'num_gpu_blocks="75000"');
    const model = onlyModelOf(
      reportOf([at("10.0.0.5:8000", vllmPage([{ running: 2, kvUsed: 0.1 }])), at("10.0.0.6:8000", large)]),
    );
    assert.deepEqual(
      model.replicas.map(({ id }) => id),
      ["10.0.0.5:8000/0", "10.0.0.6:8000/0"],
    );
    assert.deepEqual([model.requestsRunning, model.kvCapacityTokens], [7, 1_600_000]);
    assert.equal(model.kvCacheUsedFraction?.toFixed(9), "0.400000000");
  });
  it("of which one is unknown have an unknown sum", () => {
    const model = onlyModelOf(
      reportOf([at("10.0.0.5:8000", vllmPage([{ running: 2 }])), at("10.0.0.6:8000", vllmPage([{ running: "NaN" }]))]),
    );
    assert.equal(model.requestsRunning, null);
    assert.equal(model.requestsWaiting, 0);
  });
  it("of which one is down are what the other says", () => {
    const down = heard(
      [answers(0), answers(1_000, { health: answered("", { status: 503 }) })],
      "auto",
      "10.0.0.6:8000",
    );
    const model = onlyModelOf(reportOf([at("10.0.0.5:8000", vllmPage([{ running: 2 }])), down]));
    assert.deepEqual([model.state, model.requestsRunning, model.replicas.length], ["loaded", 2, 1]);
  });
  it("with different histogram bounds have no common quantile", () => {
    const other = (text: string): string => text.replaceAll('le="0.1"', 'le="0.2"');
    const both = (address: string, change: (text: string) => string) =>
      heard(
        [
          answers(0, { metrics: answered(change(vllmPage([{ firstTokens: [0, 0, 0] }]))) }),
          answers(1_000, { metrics: answered(change(vllmPage([{ firstTokens: [4, 4, 4] }]))) }),
        ],
        "auto",
        address,
      );
    const report = reportOf([both("10.0.0.5:8000", (text) => text), both("10.0.0.6:8000", other)]);
    assert.equal(onlyModelOf(report).ttftP50Ms, null);
    assert.deepEqual(codesIn(report, "ttftP50Ms"), ["buckets-differ"]);
  });
});

describe("a quantile beyond the last bound", () => {
  it("is that bound, and said to be capped", () => {
    const endpoint = heard([
      answers(0, { metrics: answered(vllmPage([{ firstTokens: [0, 0, 0] }])) }),
      answers(1_000, { metrics: answered(vllmPage([{ firstTokens: [6, 6, 10] }])) }),
    ]);
    const report = reportOf([endpoint]);
    assert.equal(onlyModelOf(report).ttftP95Ms, 1_000);
    assert.deepEqual(codesIn(report, "ttftP95Ms"), ["capped"]);
    assert.deepEqual(codesIn(report, "ttftP50Ms"), []);
  });
});

describe("what the operator configured", () => {
  it("stands in the report, and the capacity is per replica and speaks louder than the engine", () => {
    const model = twice([{}, {}], [{}, {}], {
      weightBytes: 141e9,
      coldStartMs: 80_000,
      kvCapacityTokens: 300_000,
    });
    assert.deepEqual([model.weightBytes, model.coldStartMs, model.kvCapacityTokens], [141e9, 80_000, 600_000]);
    assert.deepEqual(
      model.replicas.map(({ kvCapacityTokens }) => kvCapacityTokens),
      [300_000, 300_000],
    );
  });
  it("takes the fault from an engine that does not tell its capacity", () => {
    const silent = vllmPage().replace(/^vllm:cache_config_info.*\n/m, "");
    const endpoint = heard([answers(0, { metrics: answered(silent) })]);
    assert.deepEqual(codesIn(reportOf([endpoint]), "kvCapacityTokens"), ["capacity-unknown"]);
    const configured = reportOf([endpoint], { [PAGE_MODEL]: { kvCapacityTokens: 300_000 } });
    assert.deepEqual(codesIn(configured, "kvCapacityTokens"), []);
    assert.equal(onlyModelOf(configured).kvCapacityTokens, 300_000);
  });
});

describe("a model whose engines sleep", () => {
  const asleep = (engine: number): string =>
    `vllm:engine_sleep_state{engine="${engine}",model_name="${PAGE_MODEL}",sleep_state="discard_all"} 1\n`;
  it("is asleep when all of them do", () => {
    const endpoint = heard([answers(0, { metrics: answered(`${vllmPage([{}, {}])}${asleep(0)}${asleep(1)}`) })]);
    assert.equal(onlyModelOf(reportOf([endpoint])).state, "asleep");
  });
  it("is loaded when one is awake", () => {
    const endpoint = heard([answers(0, { metrics: answered(`${vllmPage([{}, {}])}${asleep(0)}`) })]);
    assert.equal(onlyModelOf(reportOf([endpoint])).state, "loaded");
  });
});

describe("a model that is listed while no page can be had", () => {
  it("is served by somebody of whom nothing is known", () => {
    const report = reportOf([heard([answers(0, { metrics: answered("", { status: 404 }) })])]);
    const model = onlyModelOf(report);
    assert.equal(model.state, "loaded");
    assert.deepEqual(
      model.replicas.map(({ id, backlogMs, kvCapacityTokens }) => [id, backlogMs, kvCapacityTokens]),
      [["10.0.0.5:8000/0", null, null]],
    );
    assert.deepEqual(codesIn(report, "page"), ["http-404"]);
  });
});

describe("V0's averaged hit rate", () => {
  it("is the fraction where there are no counters", () => {
    const endpoint = heard([answers(0, { metrics: answered(enginePayload("vllm-v0-0.6.prom")) })]);
    assert.equal(onlyModelOf(reportOf([endpoint])).prefixHitFraction, 0.414);
  });
});
