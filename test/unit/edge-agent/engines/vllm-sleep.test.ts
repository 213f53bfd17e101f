import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Endpoint, learn, newEndpoint } from "#edge-agent/endpoint.ts";
import type { Engine, Further } from "#edge-agent/engines/engine.ts";
import { vllm } from "#edge-agent/engines/vllm.ts";
import { PLAIN } from "#edge-agent/engines/wording.ts";
import { EMPTY_PAGE } from "#edge-agent/exposition.ts";
import { readEngine } from "#edge-agent/read-answers.ts";
import { answered, answers, EPOCH_MS, onlyModelOf, reportOf } from "#test/support/edge-agent.ts";
import { PAGE_MODEL, vllmPage } from "#test/support/vllm-page.ts";

const IS_SLEEPING = "/is_sleeping";
const saying = (isSleeping: unknown) =>
  new Map([[IS_SLEEPING, answered(JSON.stringify({ is_sleeping: isSleeping }), { contentType: "application/json" })]]);
const notThere = new Map([[IS_SLEEPING, answered("no", { status: 404 })]]);
const gauge = (state: string): string =>
  `vllm:engine_sleep_state{engine="0",model_name="${PAGE_MODEL}",sleep_state="${state}"} 1\n`;

type Wish = Parameters<typeof answers>[1];
const heard = (...rounds: readonly Wish[]): Endpoint =>
  rounds.reduce(
    (known: Endpoint, wish, at) =>
      learn(known, readEngine(answers(at * 1_000, wish), known, { ...PLAIN, wish: "auto" })),
    newEndpoint("h:1"),
  );
const stateOf = (...rounds: readonly Wish[]) => onlyModelOf(reportOf([heard(...rounds)])).state;

describe("a vLLM whose page has no gauge of sleep", () => {
  it("is asked whether it sleeps; one whose page has it is not", () => {
    const next = (page: Further, onAPage: boolean) =>
      (vllm as Engine).nextPaths(
        { page: null, models: null, further: new Map([["/metrics", page]]) },
        (text) => onAPage && text === "engine_sleep_state",
      );
    const page: Further = { kind: "page", page: EMPTY_PAGE };
    assert.deepEqual(next(page, false), [IS_SLEEPING]);
    assert.deepEqual(next(page, true), []);
    assert.deepEqual(next({ kind: "unknown", code: "http-404" }, false), ["/v1/metrics", IS_SLEEPING]);
    assert.deepEqual(next({ kind: "unknown", code: "timed-out" }, false), []);
  });
  it("is asleep where it says so, and loaded where it says otherwise or nothing sound", () => {
    assert.equal(stateOf({ further: saying(true) }), "asleep");
    assert.equal(stateOf({ further: saying(false) }), "loaded");
    assert.equal(stateOf({ further: saying("true") }), "loaded");
    assert.equal(stateOf({ further: notThere }), "loaded");
  });
  it("is asleep also where it has no page at all", () => {
    assert.equal(stateOf({ metrics: answered("no", { status: 404 }), further: saying(true) }), "asleep");
  });
  it("that has no such path is not asked again before it was away", () => {
    assert.deepEqual([...heard({ further: notThere }, {}).absentPaths], [IS_SLEEPING]);
    assert.deepEqual([...heard({ further: notThere }, { health: answered("", { status: 503 }) }).absentPaths], []);
  });
});

describe("sleep and what is held", () => {
  it("goes together with nothing: what was held before is void once it wakes", () => {
    const asleep = { metrics: answered(vllmPage() + gauge("weights_offloaded")) };
    const awake = { metrics: answered(vllmPage() + gauge("awake")) };
    const startedAtMs = (...rounds: readonly Wish[]) =>
      onlyModelOf(reportOf([heard(...rounds)])).replicas[0]?.startedAtMs ?? null;
    assert.ok((startedAtMs(awake, awake) ?? 0) < EPOCH_MS);
    assert.equal(startedAtMs(awake, asleep, awake, awake), EPOCH_MS + 1_000);
  });
  it("takes no part in what the model can hold while another replica serves", () => {
    const asleep = heard({ metrics: answered(vllmPage() + gauge("discard_all")) });
    const awake = { ...heard({ metrics: answered(vllmPage() + gauge("awake")) }), address: "h:2" };
    const model = onlyModelOf(reportOf([asleep, awake]));
    const alone = onlyModelOf(reportOf([awake]));
    assert.deepEqual(
      [model.state, model.replicas.map(({ id }) => id), model.kvCapacityTokens],
      ["loaded", alone.replicas.map(({ id }) => id), alone.kvCapacityTokens],
    );
  });
});
