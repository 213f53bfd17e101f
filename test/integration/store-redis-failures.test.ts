/** The store in Redis when Redis fails: hung, killed, full, cut off, failed over; each seen as a caller sees it. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { systemClock } from "#shared/clock.ts";
import { OperationalError } from "#shared/errors.ts";
import type { Store } from "#shared/store.ts";
import { openStore } from "#shared/store-open.ts";
import { StoreSettings } from "#shared/store-settings.ts";
import { startPartition } from "#test/support/partition.ts";
import { recordingLog } from "#test/support/recording-log.ts";
import { startRedis } from "#test/support/redis.ts";
import { startCluster } from "#test/support/redis-cluster.ts";
import { startSentinels } from "#test/support/redis-sentinels.ts";
import { until } from "#test/support/until.ts";

const DEADLINE_MS = 500;
/** A timer of a busy machine may be late by this. */
const SLACK_MS = 2_000;

const opened = async (settings: { readonly url: string } & Record<string, unknown>) => {
  const log = recordingLog();
  const store = openStore(StoreSettings.parse({ deadline: `${DEADLINE_MS}ms`, ...settings }), {
    clock: systemClock,
    log,
    name: "failing",
  });
  await store.get("nothing").catch(() => undefined);
  return { store, log, [Symbol.asyncDispose]: () => store.close() };
};

const codeOf = async (call: Promise<unknown>): Promise<string> => {
  try {
    await call;
    return "done";
  } catch (error) {
    assert.ok(error instanceof OperationalError, String(error));
    return error.code;
  }
};
const works =
  (store: Store, key = "key") =>
  async (): Promise<boolean> =>
    (await codeOf(store.put(key, "value", null))) === "done";
const events = (log: ReturnType<typeof recordingLog>): readonly string[] => log.lines.map(({ event }) => event);

describe("a Redis that was never there", () => {
  it("refuses at once after the first deadline, is told of once, and is used when it comes", async () => {
    await using server = await startRedis();
    server.kill("SIGKILL");
    await using under = await opened({ url: server.url });
    const { store, log } = under;
    assert.equal(store.isUp(), false);
    const startedMs = performance.now();
    const codes = await Promise.all(Array.from({ length: 100 }, () => codeOf(store.get("key"))));
    assert.deepEqual([...new Set(codes)], ["GTM_STORE_UNREACHABLE"]);
    assert.ok(performance.now() - startedMs < DEADLINE_MS + SLACK_MS);
    const refused = log.lines.filter(({ fields }) => /ECONNREFUSED/.test(String(fields["cause"])));
    assert.ok(refused.length >= 1 && refused.length <= 3, `told ${refused.length} times`);
    await server.restart();
    await until(works(store), "the store's return");
    assert.equal(store.isUp(), true);
  });
});

describe("a Redis that hangs", () => {
  it("costs the deadline, is known to be away, and answers again when it goes on", async () => {
    await using server = await startRedis();
    await using under = await opened({ url: server.url });
    const { store, log } = under;
    server.kill("SIGSTOP");
    const startedMs = performance.now();
    assert.equal(await codeOf(store.get("key")), "GTM_STORE_UNREACHABLE");
    const waitedMs = performance.now() - startedMs;
    assert.ok(waitedMs >= DEADLINE_MS - 1 && waitedMs < DEADLINE_MS + SLACK_MS, `${waitedMs} ms`);
    await until(() => !store.isUp(), "the hang is noticed");
    server.kill("SIGCONT");
    await until(works(store), "the store's return");
    assert.deepEqual(
      events(log).filter((event) => event !== "redis.fault"),
      ["redis.up", "redis.down", "redis.up"],
    );
  });
  it("is not flooded: what is more than ten thousand operations is refused at once", async () => {
    await using server = await startRedis();
    await using under = await opened({ url: server.url, deadline: "3s" });
    const { store } = under;
    server.kill("SIGSTOP");
    const flood = Array.from({ length: 10_200 }, () => store.get("key"));
    const last = flood.at(-1);
    assert.ok(last !== undefined);
    await assert.rejects(last, /operations wait for the store already/);
    const outcomes = await Promise.allSettled(flood);
    assert.ok(outcomes.every(({ status }) => status === "rejected"));
    server.kill("SIGCONT");
    await until(works(store), "the store's return");
  });
});

describe("a Redis that is killed and comes back empty", () => {
  it("is used again within the pauses between attempts, and its channels are heard again", async () => {
    await using server = await startRedis();
    await using under = await opened({ url: server.url });
    const { store } = under;
    const heard: string[] = [];
    await store.subscribe("channel", (message) => heard.push(message));
    await store.put("key", "value", null);
    await server.restart();
    await until(works(store, "other"), "the store's return");
    assert.equal(await store.get("key"), null);
    const isHeard = async (): Promise<boolean> => {
      await store.announce("channel", "again");
      return heard.includes("again");
    };
    await until(isHeard, "the channel");
  });
  it("learns the script again", async () => {
    await using server = await startRedis();
    await using under = await opened({ url: server.url });
    const { store } = under;
    assert.deepEqual(await store.compareAndSet("key", 0, '{"rev":1}', null), { kind: "stored", rev: 1 });
    await server.cli("script", "flush");
    assert.deepEqual(await store.compareAndSet("key", 1, '{"rev":2}', null), { kind: "stored", rev: 2 });
  });
});

describe("a Redis without memory", () => {
  it("refuses what would fill it, in its own words, and still reads", async () => {
    await using server = await startRedis();
    await using under = await opened({ url: server.url });
    const { store } = under;
    await store.put("key", "value", null);
    await server.cli("config", "set", "maxmemory-policy", "noeviction");
    await server.cli("config", "set", "maxmemory", "1");
    for (const call of [
      () => store.put("other", "value", null),
      () => store.setIfAbsent("other", "value", 1_000),
      () => store.compareAndSet("other", 0, '{"rev":1}', null),
      () => store.indexAdd("index", "member", 1),
      () => store.append("stream", "value", 10),
    ]) {
      await assert.rejects(call, { code: "GTM_STORE_REFUSED", message: /OOM/ });
    }
    assert.equal((await store.get("key"))?.value, "value");
    await store.remove("key");
    assert.equal(store.isUp(), true);
  });
  it("says of a key that holds something else that it does", async () => {
    await using server = await startRedis();
    await using under = await opened({ url: server.url });
    await under.store.indexAdd("index", "member", 1);
    assert.equal(await codeOf(under.store.get("index")), "GTM_STORE_REFUSED");
    assert.equal(await codeOf(under.store.compareAndSet("index", 0, '{"rev":1}', null)), "GTM_STORE_REFUSED");
  });
});

describe("a network that is cut", () => {
  it("is known to be, and a connection made anew is used when it heals", async () => {
    await using server = await startRedis();
    await using partition = await startPartition(server.port);
    await using under = await opened({ url: `redis://127.0.0.1:${partition.port}` });
    const { store, log } = under;
    await until(works(store));
    partition.cut();
    await until(() => !store.isUp(), "the cut is noticed");
    await until(() => events(log).includes("redis.fault"), "the silent connection is given up");
    partition.heal();
    await until(works(store), "the store's return");
  });
});

describe("a primary that dies under Sentinels", () => {
  it("is followed by its replica, which has what was written and takes more", async () => {
    await using house = await startSentinels();
    await using under = await opened({ url: house.url });
    const { store } = under;
    const heard: string[] = [];
    await store.subscribe("channel", (message) => heard.push(message));
    await store.put("kept", "value", null);
    await until(async () => (await house.replica.cli("get", "kept")) === "value", "the copy");
    house.primary.kill("SIGKILL");
    // They disagree for a moment.
    const portNow = (): Promise<number | null> =>
      house.primaryNow().then(
        ({ port }) => port,
        () => null,
      );
    await until(async () => (await portNow()) === house.replica.port, "the failover");
    await until(works(store), "the store's return");
    assert.equal((await store.get("kept"))?.value, "value");
    const isHeard = async (): Promise<boolean> => {
      await store.announce("channel", "again").catch(() => undefined);
      return heard.includes("again");
    };
    await until(isHeard, "the channel");
  });
});

describe("a Cluster that loses a primary", () => {
  it("refuses that primary's slots and serves the others; a slot's return is noticed", async () => {
    await using cluster = await startCluster();
    await using under = await opened({ url: cluster.url });
    const { store } = under;
    const keys = Array.from({ length: 60 }, (_, at) => `key:{${at}}`);
    await Promise.all(keys.map((key) => store.put(key, key, null)));
    const [lost] = cluster.nodes;
    assert.ok(lost !== undefined);
    const isLost = (key: string): boolean => cluster.nodeOf(key).port === lost.port;
    assert.ok(keys.some(isLost) && !keys.every(isLost));
    lost.kill("SIGKILL");
    const told = async (): Promise<boolean> =>
      /cluster_slots_fail:[1-9]/.test(await (cluster.nodes[1] ?? lost).cli("cluster", "info"));
    await until(told, "the others' agreement that it failed");
    const isRight = async (): Promise<boolean> => {
      const outcomes = await Promise.all(keys.map(async (key) => [isLost(key), await codeOf(store.get(key))] as const));
      return outcomes.every(([gone, code]) => code === (gone ? "GTM_STORE_UNREACHABLE" : "done"));
    };
    await until(isRight, "the split between lost and served slots");
    assert.equal(store.isUp(), true);
    await lost.restart();
    await until(async () => (await Promise.all(keys.map((key) => codeOf(store.get(key))))).every((c) => c === "done"));
  });
});
