/** Two GTMs, each with its own connection to one real Redis: what one does the other knows, and asked alike they answer alike. */
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { request } from "undici";
import { parseGtmConfig } from "#gtm/config.ts";
import { startGtm } from "#gtm/start.ts";
import type { Instances } from "#gtm/wire/admin/routes/instances.ts";
import { systemClock } from "#shared/clock.ts";
import { ConversationId } from "#shared/ids.ts";
import { conversationKey } from "#shared/keys.ts";
import { silentLogger } from "#shared/logger.ts";
import { createMetrics } from "#shared/metrics.ts";
import { openStore } from "#shared/store-open.ts";
import { StoreSettings } from "#shared/store-settings.ts";
import { MODEL } from "#test/support/builders.ts";
import { askUdp } from "#test/support/dns-client.ts";
import { HOUSE_REGIONS, houseYaml } from "#test/support/house.ts";
import { keyFolder } from "#test/support/key-folder.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { publishReport } from "#test/support/publish-report.ts";
import { startRedis } from "#test/support/redis.ts";
import { aModelReport, aReplicaReport, aReport } from "#test/support/report-builders.ts";
import { until } from "#test/support/until.ts";

const stack = new AsyncDisposableStack();
after(() => stack.disposeAsync());
const redis = stack.use(await startRedis());
const keys = stack.use(keyFolder());
const open = (name: string) => {
  const store = openStore(StoreSettings.parse({ url: redis.url, deadline: "10s" }), {
    clock: systemClock,
    log: silentLogger,
    name,
  });
  stack.defer(() => store.close());
  return store;
};
const agents = open("agents");

let seq = 0;
/** Of both regions; `busy` has a queue so long that its average of a minute is soon worth leaving at once. */
const report = async (busy: string | null = null): Promise<void> => {
  seq += 1;
  for (const { id } of HOUSE_REGIONS) {
    const replicas = [aReplicaReport(id, 0, { backlogMs: id === busy ? 900_000 : 0 })];
    await publishReport(agents, systemClock, aReport(id, { seq, models: [aModelReport(id, { replicas })] }));
  }
};
let busy: string | null = null;
// One that is lost on a busy machine is followed by the next.
const reporter = setInterval(() => void report(busy).catch(() => undefined), 500);
stack.defer(() => clearInterval(reporter));

const startOne = async (instance: string, change: Readonly<Record<string, unknown>> = {}) => {
  const {
    models: _,
    pools: __,
    ...house
  } = JSON.parse(houseYaml(() => "http://127.0.3.9:1", { regions: { probe: null } }));
  const settings = {
    ...{ ...house, instance, models: [{ id: MODEL }] },
    pools: [{ name: "chat", models: [MODEL], regions: HOUSE_REGIONS.map(({ id }) => id) }],
    keys: { identity_file: keys.files.identity, signing_file: keys.files.signing },
    ...change,
  };
  const [store, metrics] = [open(instance), createMetrics()];
  const gtm = await startGtm(parseGtmConfig(JSON.stringify(settings), "test", {}), store, {
    ...{ clock: systemClock, log: silentLogger, metrics },
  });
  stack.defer(() => gtm.stop());
  const { http, admin, dns } = gtm.addresses();
  const api = `http://${admin.address}:${admin.port}/api/v1`;
  const [dnsAddress] = dns;
  assert.ok(dnsAddress !== undefined);
  return {
    dig: async () => (await askUdp(dnsAddress, { name: "chat.llm.test" })).data,
    turn: async (conversation: string): Promise<{ readonly region: string; readonly pin: string }> => {
      const answer = await request(`http://${http.address}:${http.port}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-conversation-id": conversation },
        body: JSON.stringify({ model: MODEL, messages: [{ role: "user", content: "Hello" }] }),
      });
      await answer.body.dump();
      assert.equal(answer.statusCode, 307);
      return { region: String(answer.headers["x-gtm-region"]), pin: String(answer.headers["x-gtm-pin"]) };
    },
    /** Where its next turn would go, without making it. */
    next: async (pin: string): Promise<string> => {
      const headers = { "content-type": "application/json" };
      const body = JSON.stringify({ pool: "chat", client: "203.0.113.7", conversation: pin });
      const answer = await request(`${api}/explain`, { method: "POST", headers, body });
      const { verdict } = (await answer.body.json()) as { verdict: { region: string } };
      return verdict.region;
    },
    get: async (path: string): Promise<unknown> => (await request(api + path)).body.json(),
    post: async (path: string, body: object): Promise<number> => {
      const headers = { "content-type": "application/json" };
      const answer = await request(api + path, { method: "POST", headers, body: JSON.stringify(body) });
      await answer.body.dump();
      return answer.statusCode;
    },
    etag: async (path: string): Promise<string> => {
      const { headers, body } = await request(api + path);
      await body.dump();
      return String(headers["etag"]);
    },
    /** Only as it was seen. @returns the status */
    change: async (method: "POST" | "DELETE", path: string, etag: string, body?: object): Promise<number> => {
      const headers = { "if-match": etag, ...(body === undefined ? {} : { "content-type": "application/json" }) };
      const answer = await request(api + path, {
        method,
        headers,
        body: body === undefined ? null : JSON.stringify(body),
      });
      await answer.body.dump();
      return answer.statusCode;
    },
    counted: (name: string, labels: Readonly<Record<string, string>> = {}) => metricValue(metrics, name, labels),
  };
};

await report();
const [a, b] = [await startOne("gtm-a"), await startOne("gtm-b")];
const others = async (one: typeof a) => ((await one.get("/instances")) as Instances).others;
const isAdmin = async (one: typeof a, region: string, admin: string): Promise<boolean> =>
  ((await one.get(`/regions/${region}`)) as { admin: string }).admin === admin;

describe("two GTMs on one Redis", () => {
  it("see each other on the same state and disagree on nothing", async () => {
    for (const [one, id] of [
      [a, "gtm-b"],
      [b, "gtm-a"],
    ] as const) {
      await until(async () => (await others(one)).some(({ instance, isSameState }) => instance === id && isSameState));
      const [other] = await others(one);
      assert.deepEqual([other?.configDiffers, other?.disagreements], [[], []]);
      await until(async () => (await one.counted("gtm_instances")) === 2, "the metric, which is set once a second");
    }
  });
  it("answer the same query alike, by DNS and by HTTP, as the state changes", async () => {
    for (const region of ["eu-central", "us-east"]) {
      busy = region;
      await report(busy);
      const [free] = HOUSE_REGIONS.filter(({ id }) => id !== region);
      assert.ok(free !== undefined);
      for (const one of [a, b]) await until(async () => String(await one.dig()) === free.address, `${free.id} by DNS`);
      for (let at = 0; at < 3; at++) {
        assert.equal((await a.turn(`new on a, ${region} ${at}`)).region, free.id);
        assert.equal((await b.turn(`new on b, ${region} ${at}`)).region, free.id);
      }
    }
    busy = null;
    await report();
  });
  it("give a conversation the home that the other gave it, and follow when the other moves it", async () => {
    const { region: first, pin } = await a.turn("moved");
    await until(async () => (await a.counted("gtm_pins_waiting")) === 0);
    await until(async () => (await b.next(pin)) === first);
    assert.equal(await a.post(`/regions/${first}/drain`, { mode: "drain-all", comment: "maintenance" }), 200);
    for (const one of [a, b]) await until(() => isAdmin(one, first, "drain-all"), "the order acts");
    const { region: second } = await b.turn("moved");
    assert.notEqual(second, first);
    assert.equal(await b.post(`/regions/${first}/undrain`, { comment: "done" }), 200);
    for (const one of [a, b]) await until(() => isAdmin(one, first, "active"), "it is taken back");
    // A served the first turn and has it cached: it follows because B said that it moved.
    await until(async () => (await a.next(pin)) === second);
  });
  it("have one winner where both place a conversation at once", async () => {
    const names = Array.from({ length: 20 }, (_, at) => `at once ${at}`);
    const answers = await Promise.all(names.flatMap((name) => [a.turn(name), b.turn(name)]));
    for (const one of [a, b]) await until(async () => (await one.counted("gtm_pins_waiting")) === 0);
    for (const { pin } of answers) {
      await until(async () => (await a.next(pin)) === (await b.next(pin)), "one home");
    }
  });
  it("carry out one of two orders by one ETag, at whichever of them each was given", async () => {
    const path = "/regions/us-east";
    const etag = await a.etag(path);
    const wish = { mode: "drain-new", comment: "maintenance" };
    const orders = [a, b].map((one) => one.change("POST", `${path}/drain`, etag, wish));
    assert.deepEqual((await Promise.all(orders)).sort(), [200, 412]);
    for (const one of [a, b]) await until(() => isAdmin(one, "us-east", "drain-new"));
    const drained = await a.etag(path);
    const returns = [a, b].map((one) => one.change("POST", `${path}/undrain`, drained, {}));
    assert.deepEqual((await Promise.all(returns)).sort(), [200, 412]);
    for (const one of [a, b]) await until(() => isAdmin(one, "us-east", "active"));
  });
  it("release a conversation once by one ETag", async () => {
    const { pin } = await a.turn("released");
    await until(async () => (await a.counted("gtm_pins_waiting")) === 0);
    const path = `/conversations/${pin}`;
    const etag = await a.etag(path);
    const releases = [a, b].map((one) => one.change("DELETE", path, etag));
    assert.deepEqual((await Promise.all(releases)).sort(), [200, 412]);
    assert.equal(((await b.get(path)) as { status: number }).status, 404);
  });
  it("give a wiped store the pins that they know", async () => {
    const { region, pin } = await a.turn("outlives a wipe");
    await until(async () => (await a.counted("gtm_pins_waiting")) === 0);
    const conversations = async () => (await redis.cli("--scan", "--pattern", "gtm:v1:conv:*")).split("\n").toSorted();
    const before = await conversations();
    assert.ok(before.length > 20);
    await redis.cli("flushall");
    await until(async () => String(await conversations()) === String(before), "every pin is back");
    assert.equal(await b.next(pin), region);
  });
  it("leave alone what is no conversation", async () => {
    const id = ConversationId.parse("0123456789abc");
    await redis.cli("set", conversationKey(id), "not ours");
    assert.equal(((await a.get(`/conversations/${id}`)) as { status: number }).status >= 400, true);
    assert.equal(await redis.cli("get", conversationKey(id)), "not ours");
  });
});

describe("a third GTM that is configured otherwise, and a fourth that has the first one's name", () => {
  it("are told of by the others, by name and by what differs", async () => {
    await startOne("gtm-c", { policy: { margin_fraction: 0.2 } });
    await until(async () => (await a.counted("gtm_instance_config_differs", { instance: "gtm-c" })) === 1);
    const other = (await others(a)).find(({ instance }) => instance === "gtm-c");
    assert.deepEqual(other?.configDiffers, ["policy"]);
    assert.equal(await a.counted("gtm_degraded", { what: "instances" }), 1);
    await startOne("gtm-a");
    const reasons = async () => JSON.stringify(await a.get("/status"));
    await until(async () => (await reasons()).includes("another GTM calls itself gtm-a"));
  });
});
