/** What is kept of decisions, who is told, and what reaches the store. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createDecisionLog } from "#gtm/datalayer/decision-log.ts";
import { createDegradations } from "#gtm/datalayer/degradations.ts";
import { createStoreFailures } from "#gtm/datalayer/store-failures.ts";
import type { Entry } from "#gtm/steering/ports.ts";
import { ConversationId, InstanceId, PoolName } from "#shared/ids.ts";
import { decisionsKey } from "#shared/keys.ts";
import { createMetrics } from "#shared/metrics.ts";
import { createMemoryStore } from "#shared/store-memory.ts";
import { aPool, aRegion } from "#test/support/builders.ts";
import { anEntry, decisionId, type EntryWish } from "#test/support/entry-builders.ts";
import { createFallibleStore } from "#test/support/fallible-store.ts";
import { createManualClock } from "#test/support/manual-clock.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { recordingLog } from "#test/support/recording-log.ts";
import { until } from "#test/support/until.ts";

const INSTANCE = InstanceId.parse("gtm-1");
const ANY = { pool: null, region: null, verdict: null, channel: null, conversation: null, limit: 100, cursor: null };

const setUp = (view: (entry: Entry) => object = ({ decision }) => ({ id: decision.id })) => {
  const clock = createManualClock();
  const store = createFallibleStore(createMemoryStore(clock));
  const [log, metrics] = [recordingLog(), createMetrics()];
  const degradations = createDegradations({ clock, log: recordingLog(), metrics });
  const decisions = createDecisionLog({
    degradations,
    ...{ store, clock, log, metrics, view, instance: INSTANCE, failures: createStoreFailures({ log, metrics, clock }) },
  });
  const record = (at: number, wish: EntryWish = {}): Entry => {
    const entry = anEntry({ ...wish, query: { id: decisionId(at), ...wish.query } });
    decisions.record(entry);
    return entry;
  };
  const streamed = async (): Promise<readonly Record<string, unknown>[]> =>
    (await store.newest(decisionsKey(INSTANCE), 20_000)).map(({ value }) => JSON.parse(value));
  const lost = (reason: string) => metricValue(metrics, "gtm_decision_stream_lost_total", { reason });
  return { clock, store, log, metrics, degradations, decisions, record, streamed, lost };
};
const idsOf = (page: { readonly items: readonly Entry[] }) => page.items.map(({ decision }) => decision.id);

describe("decisions in memory", () => {
  it("are found by id, and listed newest first", () => {
    const { decisions, record } = setUp();
    const [first, second] = [record(1), record(2)];
    assert.equal(decisions.get(decisionId(1)), first);
    assert.deepEqual(decisions.list(ANY).items, [second, first]);
    assert.equal(decisions.get(decisionId(9)), null);
  });
  it("come in pages", () => {
    const { decisions, record } = setUp();
    for (let at = 1; at <= 5; at++) record(at);
    const first = decisions.list({ ...ANY, limit: 2 });
    const second = decisions.list({ ...ANY, limit: 2, cursor: first.nextCursor });
    const third = decisions.list({ ...ANY, limit: 2, cursor: second.nextCursor });
    assert.deepEqual([first, second, third].map(idsOf), [
      [5, 4].map(decisionId),
      [3, 2].map(decisionId),
      [decisionId(1)],
    ]);
    assert.equal(third.nextCursor, null);
  });
  it("go on in pages while new ones come, and a cursor of nobody's yields nothing", () => {
    const { decisions, record } = setUp();
    for (let at = 1; at <= 4; at++) record(at);
    const first = decisions.list({ ...ANY, limit: 2 });
    record(5);
    assert.deepEqual(idsOf(decisions.list({ ...ANY, limit: 2, cursor: first.nextCursor })), [2, 1].map(decisionId));
    for (const cursor of ["nonsense", "-1", "1.5"]) assert.deepEqual(decisions.list({ ...ANY, cursor }).items, []);
  });
  it("are 10 000, the latest", () => {
    const { decisions, record } = setUp();
    const entry = record(0);
    for (let at = 1; at <= 10_000; at++) {
      decisions.record({ ...entry, decision: { ...entry.decision, id: decisionId(at) } });
    }
    assert.equal(decisions.get(decisionId(0)), null);
    assert.ok(decisions.get(decisionId(1)));
    assert.equal(decisions.list({ ...ANY, limit: 20_000 }).items.length, 10_000);
  });
  it("are filtered by pool, region, verdict, channel and conversation", () => {
    const { decisions, record } = setUp();
    const other = ConversationId.parse("0000000000001");
    record(1);
    record(2, { regions: [aRegion("paris")] });
    record(3, { regions: [aRegion("paris", { admin: "down" })] });
    record(4, { query: { channel: "dns" } });
    record(5, { query: { conversationId: other } });
    record(6, { query: { pool: aPool([aRegion("frankfurt")], { name: PoolName.parse("code") }) } });
    const filtered = (filter: Partial<typeof ANY> | object) => idsOf(decisions.list({ ...ANY, ...filter }));
    assert.deepEqual(filtered({ region: "paris" }), [decisionId(2)]);
    assert.deepEqual(filtered({ verdict: "unserved" }), [decisionId(3)]);
    assert.deepEqual(filtered({ channel: "dns" }), [decisionId(4)]);
    assert.deepEqual(filtered({ conversation: other }), [decisionId(5)]);
    assert.deepEqual(filtered({ pool: "code" }), [decisionId(6)]);
    assert.deepEqual(filtered({ pool: "code", region: "paris" }), []);
  });
});

describe("who watches decisions", () => {
  it("hears each one, in order, behind the answer, until the subscription ends", async () => {
    const { decisions, record } = setUp();
    const heard: string[] = [];
    const end = decisions.subscribe(({ decision }) => heard.push(decision.id));
    record(1);
    record(2);
    assert.deepEqual(heard, []);
    await until(() => heard.length === 2);
    assert.deepEqual(heard, [1, 2].map(decisionId));
    end();
    record(3);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(heard.length, 2);
  });
  it("is dropped, counted and told of when hearing fails, and the others go on", async () => {
    const { decisions, record, metrics, log } = setUp();
    const heard: string[] = [];
    decisions.subscribe(() => {
      throw new Error("the socket is gone");
    });
    decisions.subscribe(({ decision }) => heard.push(decision.id));
    record(1);
    record(2);
    await until(() => heard.length === 2);
    assert.equal(await metricValue(metrics, "gtm_decision_subscribers_dropped_total"), 1);
    assert.deepEqual(
      log.lines.map(({ level, event }) => `${level} ${event}`),
      ["warn decision.subscriber-dropped"],
    );
  });
  it("misses what comes too fast: 10 000 between two turns of the event loop are shown, the rest counted", async () => {
    const { decisions, record, metrics } = setUp();
    let heard = 0;
    decisions.subscribe(() => {
      heard += 1;
    });
    const entry = record(0);
    for (let i = 0; i < 10_004; i++) decisions.record(entry);
    await until(() => heard === 10_000);
    assert.equal(await metricValue(metrics, "gtm_decisions_untold_total"), 5);
  });
  it("is one of a hundred at most", () => {
    const { decisions } = setUp();
    for (let i = 0; i < 100; i++) decisions.subscribe(() => {});
    assert.throws(() => decisions.subscribe(() => {}), /100 listen/);
  });
});

describe("the decisions' stream in the store", () => {
  it("gets the view of each decision, computed behind the record", async () => {
    let viewed = 0;
    const { record, streamed, decisions } = setUp(({ decision }) => {
      viewed += 1;
      return { id: decision.id };
    });
    record(1);
    assert.equal(viewed, 0);
    await decisions.stop();
    assert.deepEqual(await streamed(), [{ id: decisionId(1), keptOneIn: 1 }]);
  });
  it("is sampled in the second after one with more than 1 000, and each entry says so", async () => {
    const { decisions, streamed, clock, record, lost } = setUp();
    const entry = record(0);
    for (let i = 1; i < 2_500; i++) {
      decisions.record(entry);
      if (i % 500 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    clock.advance(1_000);
    for (let i = 0; i < 300; i++) decisions.record(entry);
    await decisions.stop();
    const kept = (await streamed()).filter(({ keptOneIn }) => keptOneIn === 3);
    assert.equal(kept.length, 100);
    assert.equal(await lost("sampled"), 200);
  });
  it("takes all again once a quiet second has passed", async () => {
    const { decisions, streamed, clock, record } = setUp();
    const entry = record(0);
    for (let i = 1; i < 2_000; i++) decisions.record(entry);
    clock.advance(1_000);
    decisions.record(entry);
    clock.advance(1_000);
    await decisions.stop();
    record(1);
    await decisions.stop();
    assert.equal((await streamed())[0]?.["keptOneIn"], 1);
  });
  it("loses what comes faster than the store takes it, counted", async () => {
    const { decisions, record, lost } = setUp();
    const entry = record(0);
    for (let i = 1; i < 2_007; i++) decisions.record(entry);
    assert.equal(await lost("too-many"), 7);
    await decisions.stop();
  });
  it("loses what was to be written while the store is away, counted and warned of; memory has it", async () => {
    const { decisions, record, store, lost, log, degradations } = setUp();
    store.isAway = true;
    record(1);
    record(2);
    await until(async () => (await lost("store")) === 2);
    assert.deepEqual(
      degradations.current().map(({ what }) => what),
      ["decisions"],
    );
    assert.deepEqual(
      log.lines.map(({ level, event }) => `${level} ${event}`),
      ["warn store.failed"],
    );
    assert.equal(decisions.list(ANY).items.length, 2);
    store.isAway = false;
    record(3);
    await decisions.stop();
    assert.deepEqual(degradations.current(), []);
  });
  it("survives a view that fails: an error in the log, and the next one is written", async () => {
    const { decisions, record, streamed, log } = setUp(({ decision }) => {
      if (decision.id === decisionId(1)) throw new Error("a bug");
      return { id: decision.id };
    });
    record(1);
    await decisions.stop();
    record(2);
    await decisions.stop();
    assert.deepEqual(
      log.lines.map(({ level, event }) => `${level} ${event}`),
      ["error store.failed"],
    );
    assert.deepEqual(
      (await streamed()).map(({ id }) => id),
      [decisionId(2)],
    );
  });
});
