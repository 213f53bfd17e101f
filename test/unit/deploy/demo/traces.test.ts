/** A demo in a Redis that is not its own: whose data it takes away, whose it leaves alone, and when it does not start at all. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { moveIn, moveOut } from "#deploy/demo/traces.ts";
import { systemClock } from "#shared/clock.ts";
import { AgentId, InstanceId, RegionId } from "#shared/ids.ts";
import {
  agentsKey,
  auditKey,
  decisionsKey,
  heldKey,
  instancesKey,
  ordersKey,
  reportKey,
  sentKey,
} from "#shared/keys.ts";
import type { Store } from "#shared/store.ts";
import { createMemoryStore } from "#shared/store-memory.ts";

const EU = RegionId.parse("eu-central");
const FAR = RegionId.parse("sa-east");
const DEMO = InstanceId.parse("demo-1");
const OTHER = InstanceId.parse("gtm-1");

const order = (region: string, actor: string, admin = "drain-all") => ({
  ...{ region, admin, actor, comment: "why", orderedAtMs: 1, expiresAtMs: null },
});
const putOrders = (store: Store, ...regions: readonly object[]): Promise<void> =>
  store.put(ordersKey(), JSON.stringify({ v: 1, rev: 1, regions, overrides: [] }), null);

/** What a demo that was killed leaves. */
const leftBehind = async (): Promise<Store> => {
  const store = createMemoryStore(systemClock);
  await store.indexAdd(instancesKey(), DEMO, 1);
  await store.indexAdd(agentsKey(EU), "agent-eu-central", 1);
  await store.indexAdd(heldKey(EU), "0123456789abc", 1);
  await store.append(decisionsKey(DEMO), "{}", 10);
  await store.append(auditKey(), auditOf(DEMO), 10);
  return store;
};

const auditOf = (instance: string): string =>
  JSON.stringify({
    ...{ v: 1, atMs: 1, instance, actor: "demo", role: "admin", method: "POST", path: "/api/v1/regions/us-east/drain" },
    ...{ overrideRule: null, body: null, status: 200 },
  });

const left = async (store: Store): Promise<readonly unknown[]> => [
  await store.get(ordersKey()),
  await store.indexTop(instancesKey(), Number.MAX_SAFE_INTEGER, 10),
  await store.indexTop(agentsKey(EU), Number.MAX_SAFE_INTEGER, 10),
  await store.indexTop(heldKey(EU), Number.MAX_SAFE_INTEGER, 10),
  await store.newest(decisionsKey(DEMO), 10),
  await store.newest(auditKey(), 10),
];
const NOTHING = [null, [], [], [], [], []];

describe("a Redis in which an earlier demo was killed", () => {
  it("is cleared of its orders, which are told", async () => {
    const store = await leftBehind();
    await putOrders(store, order("us-east", "demo"), order("eu-central", "demo", "active"));
    assert.deepEqual(await moveIn(store, 0), ["us-east drain-all by demo"]);
    assert.deepEqual(await left(store), NOTHING);
  });

  it("needs no word where nothing was ordered", async () => {
    const store = await leftBehind();
    assert.deepEqual(await moveIn(store, 0), []);
    assert.deepEqual(await left(store), NOTHING);
  });
});

describe("an audit that others wrote in, too", () => {
  it("is left as it is: nobody takes single entries out", async () => {
    const store = await leftBehind();
    await store.append(auditKey(), auditOf(OTHER), 10);
    await moveIn(store, 0);
    assert.equal((await store.newest(auditKey(), 10)).length, 2);
  });
});

describe("a Redis that others use", () => {
  const cases: readonly { when: string; put: (store: Store) => Promise<unknown>; says: RegExp }[] = [
    {
      when: "a GTM is at work",
      put: async (store) => {
        await store.indexAdd(instancesKey(), OTHER, 1);
        await store.put(sentKey(OTHER), "{}", 5_000);
      },
      says: /others are at work: GTM gtm-1$/,
    },
    {
      when: "another demo is at work",
      put: (store) => store.put(sentKey(DEMO), "{}", 5_000),
      says: /others are at work: GTM demo-1$/,
    },
    {
      when: "an agent reports for one of its regions",
      put: async (store) => {
        await store.indexAdd(agentsKey(EU), "host-1", 1);
        await store.put(reportKey(EU, AgentId.parse("host-1")), "{}", 30_000);
      },
      says: /others are at work: edge agent host-1 of eu-central$/,
    },
    {
      when: "somebody ordered something",
      put: (store) => putOrders(store, order("sa-east", "alice"), order("us-east", "demo")),
      says: /orders that no demo gave: sa-east drain-all by alice$/,
    },
    {
      when: "orders stand there that it does not understand",
      put: (store) => store.put(ordersKey(), '{"v":2}', null),
      says: /orders that no demo gave: orders of another version$/,
    },
  ];
  for (const { when, put, says } of cases) {
    it(`is left as it is when ${when}`, async () => {
      const store = await leftBehind();
      await put(store);
      const before = await left(store);
      await assert.rejects(moveIn(store, 0), { code: "DEMO_REDIS_UNUSABLE", message: says });
      assert.deepEqual(await left(store), before);
    });
  }

  it("is taken when a GTM and an agent that are listed there have ended", async () => {
    const store = await leftBehind();
    await store.indexAdd(instancesKey(), OTHER, 1);
    await store.indexAdd(agentsKey(EU), "host-1", 1);
    assert.deepEqual(await moveIn(store, 0), []);
  });
});

describe("a demo that ends", () => {
  it("takes away its own and nothing else", async () => {
    const store = await leftBehind();
    await store.indexAdd(instancesKey(), OTHER, 1);
    await store.indexAdd(heldKey(FAR), "0123456789abc", 1);
    await moveOut(store);
    const [orders, instances, ...others] = await left(store);
    assert.deepEqual([orders, ...others], [null, [], [], [], []]);
    assert.deepEqual(instances, [{ member: OTHER, score: 1 }]);
    assert.equal((await store.indexTop(heldKey(FAR), 1, 10)).length, 1);
  });
});
