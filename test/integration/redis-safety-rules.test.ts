/** Two GTMs on one real Redis: the rules know what was ordered at the other one, and a share steers both alike. */
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { createDegradations } from "#gtm/datalayer/degradations.ts";
import { createOperatorState } from "#gtm/datalayer/operator-state.ts";
import { createStoreFailures } from "#gtm/datalayer/store-failures.ts";
import { createAdmin } from "#gtm/wire/admin/server.ts";
import { silentLogger } from "#shared/logger.ts";
import { createMetrics } from "#shared/metrics.ts";
import { openStore } from "#shared/store-open.ts";
import { StoreSettings } from "#shared/store-settings.ts";
import { startRedis } from "#test/support/redis.ts";
import { until } from "#test/support/until.ts";
import { decisionId, fakeClock, fakeGtm } from "#test/unit/gtm/wire/admin/fake-ports.ts";
import { NO_AUTH, tokensFile } from "#test/unit/gtm/wire/admin/running-admin.ts";

const stack = new AsyncDisposableStack();
after(() => stack.disposeAsync());
const redis = stack.use(await startRedis());
const tokens = stack.use(await tokensFile());
const clock = fakeClock();

let ids = 1_000;
const nextId = (): number => {
  ids += 1;
  return ids;
};

const gtmOn = async (name: string) => {
  const metrics = createMetrics();
  const log = silentLogger;
  const store = openStore(StoreSettings.parse({ url: redis.url, deadline: "10s" }), { clock, log, name });
  stack.defer(() => store.close());
  const orders = createOperatorState({
    ...{ store, clock, log, degradations: createDegradations({ clock, log, metrics }) },
    ...{ failures: createStoreFailures({ log, clock, metrics }), onChanged: () => undefined, onWiped: () => undefined },
  });
  await orders.start();
  stack.defer(() => orders.stop());
  const { ports } = fakeGtm();
  const { steering } = ports;
  const admin = createAdmin({
    listen: { address: "127.0.0.1", port: 0 },
    auth: { ...NO_AUTH, tokensFile: tokens.path },
    ports: {
      ...{ ...ports, orders },
      // Each has an id of its own, as overrides need one.
      newDecisionId: () => decisionId(nextId()),
      steering: { ...steering, world: () => ({ ...steering.world(), overrides: orders.overrides() }) },
    },
    ...{ clock, log, metrics },
  });
  await admin.start();
  stack.defer(() => admin.stop());
  const url = `http://127.0.0.1:${admin.address().port}/api/v1`;
  const ask = async (who: "operator" | "admin", method: string, path: string, body: unknown) => {
    const response = await fetch(`${url}${path}`, {
      ...{ method, body: JSON.stringify(body) },
      headers: { authorization: `Bearer ${tokens.of[who]}`, "content-type": "application/json" },
    });
    // biome-ignore lint/suspicious/noExplicitAny: tests look into answers whose schemas are what they test
    return { status: response.status, body: (await response.json()) as any };
  };
  return { orders, ask };
};
const [a, b] = [await gtmOn("A"), await gtmOn("B")];

describe("two GTMs on one Redis", () => {
  it("refuse at one what was changed at the other a moment ago, until the cooldown is over", async () => {
    const drain = { mode: "drain-new", comment: "drivers" };
    assert.equal((await a.ask("operator", "POST", "/regions/frankfurt/drain", drain)).status, 200);
    await until(() => b.orders.current().regions.length === 1, "the other GTM to hear of it");
    const refused = await b.ask("admin", "POST", "/regions/frankfurt/undrain", {});
    assert.deepEqual([refused.status, refused.body.rule], [409, "cooldown"]);
    assert.match(refused.body.detail, /the-operator drained it \(drain-new\): drivers/);
    assert.equal((await b.ask("operator", "POST", "/regions/frankfurt/undrain", {})).status, 200);
    await until(() => a.orders.current().regions.length === 0, "the first GTM to hear of it");
    const again = await a.ask("admin", "POST", "/regions/frankfurt/drain", drain);
    assert.match(again.body.detail, /the-operator returned it to service/);
    clock.pass(61_000);
    assert.equal((await a.ask("admin", "POST", "/regions/frankfurt/drain", drain)).status, 200);
  });

  it("give a share to the same conversations, and to those and others when it is raised", async () => {
    const shareOf = (share: number) => ({ kind: "share", share, region: "frankfurt", comment: "canary", for: "1h" });
    const insideOf = async (gtm: typeof a): Promise<readonly number[]> => {
      const inside: number[] = [];
      for (let at = 0; at < 40; at++) {
        const { body } = await gtm.ask("operator", "POST", "/explain", {
          ...{ pool: "chat", client: "192.0.2.1", conversation: `abcdefgh${String(at).padStart(5, "0")}` },
        });
        if (body.verdict.region === "frankfurt") inside.push(at);
      }
      return inside;
    };
    clock.pass(120_000);
    await a.ask("admin", "POST", "/regions/frankfurt/undrain", {});
    const first = await a.ask("operator", "POST", "/overrides?override_rule=cooldown", shareOf(0.3));
    assert.deepEqual([first.status, first.body.share], [200, 0.3]);
    await until(() => b.orders.overrides().length === 1, "the other GTM to hear of it");
    const some = await insideOf(a);
    assert.ok(some.length > 0 && some.length < 40, `${some.length} of 40`);
    assert.deepEqual(await insideOf(b), some);
    const pass = "override_rule=cooldown&comment=canary%20goes%20on";
    assert.equal((await b.ask("operator", "DELETE", `/overrides/${first.body.id}?${pass}`, {})).status, 200);
    assert.equal((await b.ask("operator", "POST", "/overrides?override_rule=cooldown", shareOf(0.7))).status, 200);
    const more = await insideOf(b);
    assert.ok(more.length > some.length);
    assert.deepEqual(
      some.filter((at) => !more.includes(at)),
      [],
    );
  });
});
