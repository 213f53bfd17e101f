/** What GTMs tell each other of the turns they sent. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createCellRegions } from "#gtm/datalayer/cell-regions.ts";
import { createSent, type SentOptions } from "#gtm/datalayer/sent.ts";
import type { Clock } from "#shared/clock.ts";
import { InstanceId, ModelId } from "#shared/ids.ts";
import { KEYS, sentKey } from "#shared/keys.ts";
import type { Store } from "#shared/store.ts";
import { createMemoryStore } from "#shared/store-memory.ts";
import { MODEL, regionId, replicaId } from "#test/support/builders.ts";
import { createManualClock } from "#test/support/manual-clock.ts";

const FRANKFURT = regionId("frankfurt");
const send = (arrivalAtMs: number, workMs: number, at: number | null = null) => ({
  region: FRANKFURT,
  model: MODEL,
  send: { replica: at === null ? null : replicaId("frankfurt", at), arrivalAtMs, workMs },
});
const gtm = (name: string, store: Store, clock: Clock, wish: Partial<SentOptions> = {}) =>
  createSent({
    ...{ store, clock, instance: InstanceId.parse(name) },
    ownLive: () => [],
    cells: createCellRegions(clock),
    agreement: {
      said: () => ({ boot: `boot of ${name}`, version: "", says: null }),
      hear: () => {},
      sawDouble: () => {},
    },
    reportedSinceMs: () => null,
    onForgotten: () => assert.fail("the store was not wiped"),
    onRefused: (_, detail) => assert.fail(detail),
    ...wish,
  });
/** Two instances on one store; another machine's monotonic clock has nothing to do with ours. */
const pair = (wish: Partial<SentOptions> = {}) => {
  const clock = createManualClock();
  const theirs: Clock = { monotonicMs: () => clock.monotonicMs() + 5_000_000, epochMs: clock.epochMs };
  const store = createMemoryStore(clock);
  return { clock, store, a: gtm("a", store, clock), b: gtm("b", store, theirs, wish), theirs };
};
const workOf = (list: readonly { readonly send: { readonly workMs: number } }[]): number =>
  list.reduce((sum, one) => sum + one.send.workMs, 0);

describe("two GTMs on one store", () => {
  it("know of each other's sends, at most 100 ms after their arrival and never before it, on their own clocks", async () => {
    const { a, b, clock, theirs } = pair();
    a.add(send(clock.monotonicMs() + 120, 300, 1));
    await a.sync();
    clock.advance(200);
    await b.sync();
    const [found] = b.sends();
    assert.equal(found?.send.workMs, 300);
    assert.equal(found?.send.replica, replicaId("frankfurt", 1));
    const lateMs = (found?.send.arrivalAtMs ?? 0) - (theirs.monotonicMs() - 80);
    assert.ok(lateMs >= 0 && lateMs <= 100, `${lateMs} ms`);
  });
  it("sum what arrives at one replica within 100 ms, and lose nothing of it", async () => {
    const { a, b, clock } = pair();
    const slot = Math.ceil(clock.monotonicMs() / 100) * 100;
    for (const [after, work] of [
      [1, 10],
      [50, 20],
      [99, 30],
      [100, 40],
    ] as const)
      a.add(send(slot + after, work));
    a.add(send(slot + 1, 5, 0));
    await a.sync();
    await b.sync();
    assert.deepEqual(
      b
        .sends()
        .map((one) => one.send.workMs)
        .toSorted((x, y) => x - y),
      [5, 40, 60],
    );
    assert.equal(workOf(b.sends()), workOf(a.sends()));
  });
  it("add up what their conversations keep alive", async () => {
    const live = (tokens: number) => () => [{ region: FRANKFURT, model: MODEL, tokens }];
    const { store, clock } = pair();
    const a = gtm("a", store, clock, { ownLive: live(1_000) });
    const b = gtm("b", store, clock, { ownLive: live(200) });
    await a.sync();
    await b.sync();
    assert.equal(
      b.live().reduce((sum, { tokens }) => sum + tokens, 0),
      1_200,
    );
  });
  it("forget one that says nothing for 5 s", async () => {
    const { a, b, clock } = pair();
    a.add(send(clock.monotonicMs(), 300));
    await a.sync();
    await b.sync();
    assert.equal(b.sends().length, 1);
    clock.advance(5_001);
    await b.sync();
    assert.deepEqual(b.sends(), []);
  });
  it("do not hear what is no record, and say whose it is", async () => {
    const refused: string[] = [];
    const { store, b, a } = pair({ onRefused: (instance) => refused.push(instance) });
    await a.sync();
    await store.put(sentKey(InstanceId.parse("a")), '{"v":1,"sends":[{"region":"frankfurt"}]}', KEYS.sent.ttlMs);
    await b.sync();
    assert.deepEqual(refused, ["a"]);
    assert.deepEqual(b.sends(), []);
  });
});

describe("a send", () => {
  it("is kept for 30 s while no report tells of its region", async () => {
    const { a, clock } = pair();
    a.add(send(clock.monotonicMs(), 300));
    clock.advance(29_999);
    await a.sync();
    assert.equal(a.sends().length, 1);
    clock.advance(1);
    await a.sync();
    assert.equal(a.sends().length, 0);
  });
  it("is dropped once the oldest report that speaks for its region is 2.5 s younger", async () => {
    const clock = createManualClock();
    const reportedAtMs = clock.monotonicMs() + 2_500;
    const a = gtm("a", createMemoryStore(clock), clock, { reportedSinceMs: () => reportedAtMs });
    a.add(send(clock.monotonicMs(), 300));
    a.add(send(clock.monotonicMs() + 1, 300));
    clock.advance(2_600);
    await a.sync();
    assert.equal(a.sends().length, 1);
  });
  it("of another model or replica stays apart", async () => {
    const { a, b, clock } = pair();
    const atMs = clock.monotonicMs();
    a.add(send(atMs, 1));
    a.add({ ...send(atMs, 2), model: ModelId.parse("other") });
    a.add(send(atMs, 3, 0));
    await a.sync();
    await b.sync();
    assert.equal(b.sends().length, 3);
  });
});

describe("a GTM among others", () => {
  const put = (store: Store, name: string, value: unknown) =>
    store.put(sentKey(InstanceId.parse(name)), JSON.stringify(value), KEYS.sent.ttlMs);

  it("is told of a record of a newer version once, and hears the others all the same", async () => {
    const refused: string[] = [];
    const { store, clock, a, b } = pair({ onRefused: (instance, detail) => refused.push(`${instance}: ${detail}`) });
    await gtm("c", store, clock).sync();
    a.add(send(clock.monotonicMs(), 300));
    await a.sync();
    await put(store, "c", { v: 2 });
    for (let at = 0; at < 5; at++) await b.sync();
    assert.equal(refused.length, 1);
    assert.match(refused[0] ?? "", /^c: v:/);
    assert.equal(workOf(b.sends()), 300);
  });
  it("hears the others though one cannot be read, and says what failed", async () => {
    const { store, clock, a, theirs } = pair();
    await gtm("c", store, clock).sync();
    a.add(send(clock.monotonicMs(), 300));
    await a.sync();
    const fault = new Error("its slot is lost");
    const broken: Store = {
      ...store,
      get: (key) => (key === sentKey(InstanceId.parse("c")) ? Promise.reject(fault) : store.get(key)),
    };
    const b = gtm("b", broken, theirs);
    await assert.rejects(b.sync(), fault);
    assert.equal(workOf(b.sends()), 300);
  });
  it("hears the others while the store takes nothing more of it", async () => {
    const { store, clock, a, theirs } = pair();
    a.add(send(clock.monotonicMs(), 300));
    await a.sync();
    const fault = new Error("OOM");
    const b = gtm("b", { ...store, put: () => Promise.reject(fault) }, theirs);
    await assert.rejects(b.sync(), fault);
    assert.equal(workOf(b.sends()), 300);
  });
  it("whose clock is an hour behind stays on the list, and its sends are as old as they are", async () => {
    const clock = createManualClock();
    const store = createMemoryStore(clock);
    const behind: Clock = { monotonicMs: clock.monotonicMs, epochMs: () => clock.epochMs() - 3_600_000 };
    const [a, b] = [gtm("a", store, behind), gtm("b", store, clock)];
    for (let at = 0; at < 20; at++) {
      clock.advance(500);
      a.add(send(clock.monotonicMs(), 1));
      await a.sync();
      await b.sync();
      assert.equal(workOf(b.sends()), at + 1);
    }
  });
  it("is told by whose process its own record was overwritten, but not of the one before it", async () => {
    const { store, clock } = pair();
    const seen: (string | null)[] = [];
    const said = (boot: string) => ({ said: () => ({ boot, version: "", says: null }), hear: () => {} });
    const first = gtm("a", store, clock, { agreement: { ...said("one"), sawDouble: () => {} } });
    const second = gtm("a", store, clock, { agreement: { ...said("two"), sawDouble: (boot) => seen.push(boot) } });
    await first.sync();
    await second.sync();
    assert.deepEqual(seen, []);
    await second.sync();
    await first.sync();
    await second.sync();
    assert.deepEqual(seen, ["two", "one"]);
  });
  it("with more sends than fit into a record tells them in longer slots, and loses no work", async () => {
    const { a, b, clock } = pair();
    clock.advance(20_000);
    for (let at = 0; at < 3_000; at++) {
      a.add({ ...send(clock.monotonicMs() - 100 * (at % 200), 1), model: ModelId.parse(`model ${at % 15}`) });
    }
    await a.sync();
    await b.sync();
    assert.ok(b.sends().length <= 2_000, `${b.sends().length} sends`);
    assert.equal(workOf(b.sends()), 3_000);
  });
});
