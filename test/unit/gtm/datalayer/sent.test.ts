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
