/**
 * A drain by and by with two GTMs on one store, in memory and in a real Redis: both let the same conversations go at the same
 * time, a GTM that is started in between goes on, only one of two people takes it back, and its end is verified.
 */
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { request } from "undici";
import { parseGtmConfig } from "#gtm/config.ts";
import { startGtm } from "#gtm/start.ts";
import type { DecisionSchema } from "#gtm/wire/admin/decision-schema.ts";
import type { OperationView } from "#gtm/wire/admin/operation-view.ts";
import { systemClock } from "#shared/clock.ts";
import { silentLogger } from "#shared/logger.ts";
import { createMetrics } from "#shared/metrics.ts";
import type { Store } from "#shared/store.ts";
import { createMemoryStore } from "#shared/store-memory.ts";
import { openStore } from "#shared/store-open.ts";
import { StoreSettings } from "#shared/store-settings.ts";
import { MODEL } from "#test/support/builders.ts";
import { HOUSE_REGIONS, houseYaml } from "#test/support/house.ts";
import { keyFolder } from "#test/support/key-folder.ts";
import { publishReport } from "#test/support/publish-report.ts";
import { startRedis } from "#test/support/redis.ts";
import { aModelReport, aReplicaReport, aReport } from "#test/support/report-builders.ts";
import { until } from "#test/support/until.ts";

const stack = new AsyncDisposableStack();
after(() => stack.disposeAsync());
const redis = stack.use(await startRedis());
const keys = stack.use(keyFolder());
const memory = createMemoryStore(systemClock);
const STORES: Readonly<Record<string, (name: string) => Store>> = {
  memory: () => memory,
  Redis: (name) => {
    const parts = { clock: systemClock, log: silentLogger, name };
    const store = openStore(StoreSettings.parse({ url: redis.url, deadline: "10s" }), parts);
    stack.defer(() => store.close());
    return store;
  },
};
const CONVERSATIONS = 5;

const startOne = async (store: Store, instance: string) => {
  const yaml = houseYaml(() => "http://127.0.3.9:1", { regions: { probe: null } });
  const { models: _, pools: __, ...house } = JSON.parse(yaml);
  const settings = {
    ...{ ...house, instance, models: [{ id: MODEL }] },
    pools: [{ name: "chat", models: [MODEL], regions: HOUSE_REGIONS.map(({ id }) => id) }],
    keys: { identity_file: keys.files.identity, signing_file: keys.files.signing },
  };
  const parts = { clock: systemClock, log: silentLogger, metrics: createMetrics() };
  const gtm = await startGtm(parseGtmConfig(JSON.stringify(settings), "test", {}), store, parts);
  let isStopped = false;
  const stop = async (): Promise<void> => {
    if (!isStopped) await gtm.stop();
    isStopped = true;
  };
  stack.defer(stop);
  const { http, admin } = gtm.addresses();
  const api = `http://${admin.address}:${admin.port}/api/v1`;
  const ask = async <Body>(method: "GET" | "POST" | "DELETE", path: string, body?: object, ifMatch?: string) => {
    const headers = { "content-type": "application/json", ...(ifMatch === undefined ? {} : { "if-match": ifMatch }) };
    const sent = body === undefined ? null : JSON.stringify(body);
    const answer = await request(api + path, { method, headers, body: sent });
    return { status: answer.statusCode, body: (await answer.body.json()) as Body };
  };
  return {
    stop,
    ask,
    operations: async () => (await ask<{ items: readonly OperationView[] }>("GET", "/operations")).body.items,
    turn: async (conversation: string): Promise<{ readonly region: string; readonly pin: string }> => {
      const answer = await request(`http://${http.address}:${http.port}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-conversation-id": conversation },
        body: JSON.stringify({ model: MODEL, messages: [{ role: "user", content: "Hello" }] }),
      });
      await answer.body.dump();
      return { region: String(answer.headers["x-gtm-region"]), pin: String(answer.headers["x-gtm-pin"]) };
    },
    /** Until when each may stay in the region that is drained; null: it may not. */
    leaving: async (pins: readonly string[]): Promise<readonly (string | null)[]> => {
      const found: (string | null)[] = [];
      for (const conversation of pins) {
        const body = { pool: "chat", client: "203.0.113.7", conversation };
        const { considered } = (await ask<DecisionSchema>("POST", "/explain", body)).body;
        found.push(considered.find(({ region }) => region === "eu-central")?.leavesAt ?? null);
      }
      return found;
    },
  };
};

for (const [kind, open] of Object.entries(STORES)) {
  describe(`a drain by and by, on ${kind}`, async () => {
    const agents = open("agents");
    let seq = 0;
    const report = async (): Promise<void> => {
      seq += 1;
      for (const { id } of HOUSE_REGIONS) {
        // All begin in eu-central.
        const replicas = [aReplicaReport(id, 0, { backlogMs: id === "us-east" ? 5_000 : 0 })];
        const models = [aModelReport(id, { replicas, requestsRunning: 0, requestsWaiting: 0 })];
        await publishReport(agents, systemClock, aReport(id, { seq, models }));
      }
    };
    await report();
    // One that is lost on a busy machine is followed by the next.
    const reporter = setInterval(() => void report().catch(() => undefined), 500);
    stack.defer(() => clearInterval(reporter));
    const [first, b] = [await startOne(open("a"), "gtm-a"), await startOne(open("b"), "gtm-b")];
    let a = first;
    const pins: string[] = [];
    const operationOf = async (one: typeof a): Promise<OperationView | undefined> => (await one.operations())[0];

    it("lets the same conversations go at the same time at both GTMs", async () => {
      for (let at = 0; at < CONVERSATIONS; at++) {
        const { region, pin } = await a.turn(`${kind} ${at}`);
        assert.equal(region, "eu-central");
        pins.push(pin);
      }
      const wish = { mode: "drain-all", comment: "driver", over: "1h", pace: "even" };
      // Turns are written behind.
      const isKnown = async () => {
        const plan = await b.ask<{ conversations: { home: number } }>(
          "POST",
          "/regions/eu-central/drain?dry_run=true",
          wish,
        );
        return plan.body.conversations.home === CONVERSATIONS;
      };
      await until(isKnown, "the ledger to know all conversations");
      assert.equal((await a.ask("POST", "/regions/eu-central/drain", wish)).status, 200);
      await until(async () => (await operationOf(b))?.state === "running", "the other GTM to hear of it");
      const isHeard = async (one: typeof a) => (await one.leaving(pins)).some((at) => at !== null);
      for (const one of [a, b]) await until(() => isHeard(one), "the order to reach the world");
      const [here, there] = [await a.leaving(pins), await b.leaving(pins)];
      assert.deepEqual(here, there);
      assert.ok(new Set(here).size > 1, "one after another");
    });
    it("goes on at a GTM that is started in between, as if it had been there", async () => {
      const [before, leaving] = [await operationOf(b), await b.leaving(pins)];
      await a.stop();
      a = await startOne(open("a again"), "gtm-a");
      await until(async () => (await a.leaving(pins)).some((at) => at !== null), "the order to reach the world");
      const now = await operationOf(a);
      assert.deepEqual(
        [now?.id, now?.startedAt, now?.deadlineAt, now?.atStart.pinned, now?.etag],
        [before?.id, before?.startedAt, before?.deadlineAt, CONVERSATIONS, before?.etag],
      );
      assert.deepEqual(await a.leaving(pins), leaving);
    });
    it("is taken back by one of two people who saw the same", async () => {
      const { id = "", etag = "" } = (await operationOf(a)) ?? {};
      const cancel = (one: typeof a) => one.ask<OperationView>("POST", `/operations/${id}/cancel`, {}, etag);
      const answers = await Promise.all([cancel(a), cancel(b)]);
      const statuses = answers.map(({ status }) => status).sort();
      assert.equal(statuses[0], 200);
      assert.ok(statuses[1] === 409 || statuses[1] === 412, String(statuses[1]));
      for (const one of [a, b])
        await until(async () => (await operationOf(one))?.state === "cancelled", "both to know");
      const { admin } = (await b.ask<{ admin: string }>("GET", "/regions/eu-central")).body;
      assert.equal(admin, "active");
    });
    it("is verified at its end, and both say so with the same time", async () => {
      const drained = await b.ask("POST", "/regions/eu-central/drain", { mode: "drain-all", comment: "again" });
      assert.equal(drained.status, 200);
      const { items } = (await b.ask<{ items: readonly { id: string }[] }>("GET", "/conversations?region=eu-central"))
        .body;
      assert.equal(items.length, CONVERSATIONS);
      for (const { id } of items) assert.equal((await b.ask("DELETE", `/conversations/${id}`)).status, 200);
      for (const one of [a, b])
        await until(async () => (await operationOf(one))?.state === "verified-empty", "nothing to be held there");
      const [here, there] = [await operationOf(a), await operationOf(b)];
      assert.deepEqual([here?.endedAt, here?.left], [there?.endedAt, null]);
      assert.match(here?.because ?? "", /^Nothing is held in eu-central any more/);
    });
  });
}
