/** Laws of the report: what is not known is null and never zero, and whatever engines say, the schema accepts what is made of it. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { RegionReport } from "#shared/report.ts";
import { answered, answers, failed, heard, onlyModelOf, reportOf } from "#test/support/edge-agent.ts";
import { enginePayload, PAGE_MODEL, type VllmEngine, vllmPage } from "#test/support/vllm-page.ts";

const FIRST: Partial<VllmEngine> = { running: 3, waiting: 2, kvUsed: 0.4 };
const SECOND: Partial<VllmEngine> = {
  running: 4,
  waiting: 3,
  kvUsed: 0.5,
  promptTokens: 130_000,
  computedTokens: 72_000,
  outputTokens: 21_000,
  hits: 55_000,
  prefill: [130, 13],
  decode: [120, 230],
  interToken: [21_000, 421],
  firstTokens: [60, 125, 130],
};
const LINES = vllmPage([SECOND, SECOND]).split("\n").slice(0, -1);

const reportAfter = (first: string, second: string) =>
  reportOf(
    [heard([answers(0, { metrics: answered(first) }), answers(10_000, { metrics: answered(second) })], "vllm")],
    { [PAGE_MODEL]: { coldStartMs: 80_000 } },
  );

const WHOLE = onlyModelOf(reportAfter(vllmPage([FIRST, FIRST]), vllmPage([SECOND, SECOND])));

/** Every number of a model's report by its path. */
const numbersIn = (value: unknown, path = ""): readonly (readonly [path: string, value: unknown])[] => {
  if (typeof value !== "object" || value === null) return [[path, value]];
  return Object.entries(value).flatMap(([key, inner]) => numbersIn(inner, `${path}.${key}`));
};

describe("any lines of a page made NaN or left out", () => {
  const damaged = fc.array(fc.constantFrom("keep", "NaN", "absent", "+Inf"), {
    minLength: LINES.length,
    maxLength: LINES.length,
  });
  const isolated = fc
    .record({ at: fc.nat(LINES.length - 1), how: fc.constantFrom("NaN", "absent", "+Inf") })
    .map(({ at, how }) => LINES.map((_, index) => (index === at ? how : "keep")));
  const pageOf = (fates: readonly string[]): string =>
    LINES.flatMap((line, at) => {
      const fate = fates[at] ?? "keep";
      if (fate === "absent") return [];
      return [fate === "keep" ? line : line.replace(/ [^ ]*$/, ` ${fate}`)];
    })
      .map((line) => `${line}\n`)
      .join("");

  it("turn values into nulls and never into zeros", () => {
    // Nothing in the whole report is zero, so that every zero would be an invention.
    const whole = new Map(numbersIn(WHOLE));
    assert.deepEqual(
      [...whole].filter(([, value]) => value === 0),
      [],
    );
    fc.assert(
      fc.property(fc.oneof(isolated, damaged), (fates) => {
        const report = reportAfter(vllmPage([FIRST, FIRST]), pageOf(fates));
        for (const model of report.models) {
          for (const [path, value] of numbersIn(model)) assert.notEqual(value, 0, `${path} of ${fates}`);
        }
      }),
      { numRuns: 300 },
    );
  });
  it("leave every count either as it was or unknown: a part of a sum is no sum", () => {
    fc.assert(
      fc.property(fc.oneof(isolated, damaged), (fates) => {
        const [model] = reportAfter(vllmPage([FIRST, FIRST]), pageOf(fates)).models;
        if (model === undefined || model.replicas.length < 2) return;
        assert.ok([null, WHOLE.requestsRunning].includes(model.requestsRunning));
        assert.ok([null, WHOLE.requestsWaiting].includes(model.requestsWaiting));
        assert.ok([null, WHOLE.kvCacheUsedFraction].includes(model.kvCacheUsedFraction));
        assert.ok([null, WHOLE.kvCapacityTokens].includes(model.kvCapacityTokens));
      }),
      { numRuns: 300 },
    );
  });
  it("are each named by a fault", () => {
    const required =
      /num_requests|kv_cache_usage|prompt_tokens_total|generation_tokens_total|prefix_cache|prefill_time|inter_token/;
    const relevant = LINES.flatMap((line, at) => (required.test(line) ? [at] : []));
    assert.ok(relevant.length >= 20);
    for (const at of relevant) {
      const fates = LINES.map((_, index) => (index === at ? "NaN" : "keep"));
      assert.notDeepEqual(reportAfter(vllmPage([FIRST, FIRST]), pageOf(fates)).faults, [], LINES[at]);
    }
  });
});

describe("numbers that no engine has", () => {
  it("make what is computed of them unknown, with a fault for each, and not the report refused", () => {
    const idle = { interToken: [0, 0], prefill: [0, 0], computedTokens: 0 } as const;
    const absurd = { interToken: [5e-324, 1e15], prefill: [5e-324, 1e15], computedTokens: 5e-324 } as const;
    const report = reportAfter(vllmPage([idle]), vllmPage([absurd]));
    assert.equal(onlyModelOf(report).itlMs, null);
    const named = report.faults.filter(({ code }) => code === "out-of-range").map(({ field }) => field);
    assert.ok(named.includes("itlMs"), `named: ${named.join(", ")}`);
    assert.ok(RegionReport.safeParse(JSON.parse(JSON.stringify(report))).success);
  });
});

describe("the schema of reports", () => {
  const number = fc.oneof(
    fc.double({ min: 0, max: 1e6 }),
    fc.double(),
    fc.constantFrom(0, 1, 5e-324, 1e15, 1e308, Number.MAX_SAFE_INTEGER, "NaN", "-Inf", "+Inf", "9223372036854775794"),
  );
  const pair = fc.tuple(number, number);
  const count = fc.nat(1_000);
  const engine = fc.record({
    running: number,
    waiting: number,
    kvUsed: number,
    promptTokens: number,
    computedTokens: number,
    outputTokens: number,
    hits: number,
    prefill: pair,
    decode: pair,
    interToken: pair,
    firstTokens: fc.tuple(count, count, count),
    createdAt: fc.option(fc.double({ noNaN: true }), { nil: null }),
  });
  const round = fc.record({
    engines: fc.array(engine, { maxLength: 3 }),
    answer: fc.constantFrom("page", "page", "page", "silence", "half", "refused"),
    afterMs: fc.integer({ min: 0, max: 40_000 }),
  });
  const rounds = fc.array(round, { minLength: 1, maxLength: 5 });

  it("accepts whatever is made of whatever engines say", () => {
    fc.assert(
      fc.property(rounds, fc.option(fc.double({ min: 1e-3, max: 1e9, noNaN: true }), { nil: null }), (all, rate) => {
        let atMs = 0;
        const heardOf = all.map(({ engines, answer, afterMs }) => {
          atMs += afterMs;
          const page = vllmPage(engines);
          const health = answer === "refused" ? failed("refused") : answered("");
          if (answer === "silence" || answer === "refused")
            return answers(atMs, { metrics: failed("timed-out"), health });
          return answers(atMs, { metrics: answered(answer === "half" ? page.slice(0, -2) : page), health });
        });
        const settings = { [PAGE_MODEL]: { prefillTokensPerSecond: rate } };
        const report = reportOf([heard(heardOf, "vllm")], settings);
        assert.deepEqual(RegionReport.parse(JSON.parse(JSON.stringify(report))), report);
      }),
      { numRuns: 400 },
    );
  });
  it("accepts what is made of a real page with any text in place of one of its lines", () => {
    const lines = enginePayload("vllm-v1-0.8.prom").split("\n").slice(0, -1);
    fc.assert(
      fc.property(fc.nat(lines.length - 1), fc.string({ unit: "binary" }), (at, text) => {
        const page = lines.with(at, text).join("\n");
        const report = reportOf([heard([answers(0), answers(1_000, { metrics: answered(`${page}\n`) })])]);
        assert.deepEqual(RegionReport.parse(JSON.parse(JSON.stringify(report))), report);
      }),
      { numRuns: 200 },
    );
  });
});
