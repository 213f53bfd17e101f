/** Two gateways and a GTM write the same conversations at once, as the shipped users of a real Redis: nothing is lost. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { createLedger, type Ledger } from "#edge-agent/gateway/ledger.ts";
import { createAnnouncer } from "#edge-agent/gateway/measured.ts";
import { createStoreWarnings } from "#edge-agent/gateway/store-warnings.ts";
import { createConversationStore } from "#gtm/datalayer/conversation-store.ts";
import { createDegradations } from "#gtm/datalayer/degradations.ts";
import { createStoreFailures } from "#gtm/datalayer/store-failures.ts";
import { type CheckedBatch, checkedBatch } from "#gtm/datalayer/turn-check.ts";
import { DEFAULT_POLICY } from "#gtm/steering/policy.ts";
import { systemClock } from "#shared/clock.ts";
import type { ConversationId, ReplicaId } from "#shared/ids.ts";
import { conversationKey, heldKey, responseKey, turnsChannel } from "#shared/keys.ts";
import { silentLogger } from "#shared/logger.ts";
import { createMetrics, type Metrics } from "#shared/metrics.ts";
import { ConversationRecord } from "#shared/packed-conversation.ts";
import { ResponseRecord } from "#shared/records.ts";
import type { Store } from "#shared/store.ts";
import { openStore } from "#shared/store-open.ts";
import { StoreSettings } from "#shared/store-settings.ts";
import { aRegion, regionId } from "#test/support/builders.ts";
import { anEntry } from "#test/support/entry-builders.ts";
import { aMeasured } from "#test/support/measured-conversations.ts";
import { aMeasuredTurn } from "#test/support/measured-turns.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { type RedisServer, startRedis } from "#test/support/redis.ts";
import { makeRedisUsers, type RedisUsers } from "#test/support/redis-users.ts";
import { until } from "#test/support/until.ts";

const folder = mkdtempSync(join(tmpdir(), "gtm-gateway-ledger-"));
let redis: RedisServer;
let users: RedisUsers;
const stores: Store[] = [];
const open = async (user: string): Promise<Store> => {
  const settings = StoreSettings.parse(users.store(user, redis.url));
  const store = openStore(settings, { clock: systemClock, log: silentLogger, name: user });
  stores.push(store);
  await until(store.isUp, "the store");
  return store;
};
const gatewayOf = async (region: string): Promise<{ ledger: Ledger; metrics: Metrics; store: Store }> => {
  const [store, metrics] = [await open(`gateway-${region}`), createMetrics()];
  const by = { store, metrics, clock: systemClock, log: silentLogger };
  const ledger = createLedger({ ...by, region: regionId(region), warn: createStoreWarnings(by), random: Math.random });
  return { ledger, metrics, store };
};
/** null: there is none, or this moment the machine is too busy for an answer in time. */
const recordOf = async (store: Store, id: ConversationId): Promise<ConversationRecord | null> => {
  const stored = await store.get(conversationKey(id)).catch(() => null);
  return stored === null ? null : ConversationRecord.parse(JSON.parse(stored.value));
};
const listedIn = (store: Store, region: string): Promise<number> =>
  store.indexTop(heldKey(regionId(region)), Number.POSITIVE_INFINITY, 100).then(
    ({ length }) => length,
    () => 0,
  );

before(async () => {
  users = await makeRedisUsers(join(folder, "users"), ["frankfurt", "paris"]);
  redis = await startRedis({ aclFile: users.aclFile, login: users.login("admin") });
});
after(async () => {
  await Promise.all(stores.map((store) => store.close()));
  await redis.stop();
  rmSync(folder, { recursive: true });
});

describe("fifty conversations whose turns end in two regions at once, while the GTM sends them on", () => {
  it("lose no holding and no turn, and nobody is refused anything", async () => {
    const [paris, frankfurt] = [await gatewayOf("paris"), await gatewayOf("frankfurt")];
    const [store, metrics] = [await open("gtm"), createMetrics()];
    const by = { store, metrics, clock: systemClock, log: silentLogger };
    const conversations = createConversationStore({
      ...by,
      ...{ failures: createStoreFailures(by), degradations: createDegradations(by), policy: DEFAULT_POLICY },
      ...{ regions: ["frankfurt", "paris"].map(regionId), random: Math.random },
    });
    await conversations.start();
    const ids = Array.from({ length: 50 }, (_, at) => at.toString(32).padStart(13, "0") as ConversationId);
    const nowMs = systemClock.monotonicMs();
    for (const [at, id] of ids.entries()) {
      const entry = anEntry({ regions: [aRegion("paris")] });
      const query = { ...entry.query, conversationId: id };
      conversations.commit({ ...entry, query, decision: { ...entry.decision, decidedAtMs: nowMs } });
      const model = entry.decision.turn.model;
      // The request takes a moment from the front to the gateway.
      paris.ledger.correct(aMeasured({ id, model, tokens: 5_000 + at, atMs: nowMs + 20, turns: 0 }));
      const replica = "192.0.2.20:8000/1" as ReplicaId;
      const elsewhere = { id, model, replica, region: regionId("frankfurt"), tokens: 7_000 + at, atMs: nowMs - 60_000 };
      frankfurt.ledger.correct(aMeasured({ ...elsewhere, turns: 0 }));
    }
    const isWhole = async (id: ConversationId, at: number): Promise<boolean> => {
      const record = await recordOf(store, id);
      const held = record?.h.map(([region, replica, tokens]) => `${region} ${replica} ${tokens}`);
      return (
        `${held}` === `paris 192.0.2.10:8000/0 ${5_000 + at},frankfurt 192.0.2.20:8000/1 ${7_000 + at}` &&
        record?.n === 1
      );
    };
    await until(async () => (await Promise.all(ids.map(isWhole))).every(Boolean), "all fifty entries as measured");
    await until(async () => (await listedIn(store, "paris")) === 50, "all listed");
    // The GTM hears of it: it knows the replica and the measured tokens.
    await until(async () => {
      const known = await conversations.find(ids[7] ?? null, 1_000);
      return known?.holdings[0].tokens === 5_007 && known.holdings[0].replica === "192.0.2.10:8000/0";
    }, "the GTM to know what was measured");
    for (const one of [paris, frankfurt]) {
      assert.equal(await metricValue(one.metrics, "gtm_gateway_ledger_lost_total"), 0);
      await one.ledger.stop();
    }
    await conversations.stop();
    assert.equal(await redis.cli("acl", "log"), "");
  });
});

describe("a store that is away while turns end", () => {
  it("gets the newest word of each conversation, stored responses and measured turns when it is back", async () => {
    const { ledger, metrics, store } = await gatewayOf("paris");
    const gtm = await open("gtm");
    const by = { store, metrics, clock: systemClock, log: silentLogger, region: regionId("paris"), gateway: "gw-1" };
    const key = new Uint8Array(32).fill(7);
    const announcer = createAnnouncer({ ...by, warn: createStoreWarnings(by), reportKey: () => key });
    redis.kill("SIGSTOP");
    await until(() => !store.isUp(), "the store to be away");
    const id = "000000000zzzz".replaceAll("z", "v") as ConversationId;
    const atMs = systemClock.monotonicMs();
    ledger.correct(aMeasured({ id, tokens: 5_000, atMs: atMs - 4_000 }));
    ledger.correct(aMeasured({ id, tokens: 6_000, atMs }));
    // A client waits no longer for a store that is away.
    await ledger.keepResponse(id, id);
    announcer.tell({ turn: aMeasuredTurn({}), endedAtMs: atMs });
    redis.kill("SIGCONT");
    let record: ConversationRecord | null = null;
    await until(async () => {
      record = await recordOf(gtm, id);
      return record !== null;
    }, "the entry");
    const batches: CheckedBatch[] = [];
    const regions = new Set([regionId("paris")]);
    await gtm.subscribe(turnsChannel(), (message) => batches.push(checkedBatch(message, regions, () => [key])));
    const { h, n } = record ?? { h: [], n: 0 };
    assert.deepEqual([h[0]?.[2], n], [6_000, 2]);
    let response = "";
    await until(async () => {
      response = (await gtm.get(responseKey(id)).catch(() => null))?.value ?? "";
      return response !== "";
    }, "the stored response's place");
    assert.deepEqual(ResponseRecord.parse(JSON.parse(response)), { v: 1, region: "paris", conversation: id });
    announcer.tell({ turn: aMeasuredTurn({ completionTokens: 77 }), endedAtMs: systemClock.monotonicMs() });
    const isTold = (one: CheckedBatch): boolean =>
      one.kind === "believed" && one.batch.turns.some(({ completionTokens }) => completionTokens === 77);
    await until(() => batches.some(isTold), "the turn, signed with the region's key");
    await Promise.all([ledger.stop(), announcer.stop()]);
    assert.equal(await metricValue(metrics, "gtm_gateway_turns_untold_total"), 0);
  });
});
