/** Tokens on a real Redis, as its shipped user `gtm`: given at one GTM, known and revoked at the other, back after a Redis that came back empty. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createDegradations } from "#gtm/datalayer/degradations.ts";
import { createStoreFailures } from "#gtm/datalayer/store-failures.ts";
import { createTokenStore } from "#gtm/datalayer/token-store.ts";
import { systemClock as clock } from "#shared/clock.ts";
import { tokensKey } from "#shared/keys.ts";
import { silentLogger as log } from "#shared/logger.ts";
import { createMetrics } from "#shared/metrics.ts";
import { openStore } from "#shared/store-open.ts";
import { StoreSettings } from "#shared/store-settings.ts";
import type { TokenRecord } from "#shared/token-record.ts";
import { startRedis } from "#test/support/redis.ts";
import { redisCli } from "#test/support/redis-cli.ts";
import { makeRedisUsers } from "#test/support/redis-users.ts";
import { until } from "#test/support/until.ts";

const stack = new AsyncDisposableStack();
after(() => stack.disposeAsync());
const folder = mkdtempSync(join(tmpdir(), "gtm-redis-tokens-"));
stack.defer(() => rmSync(folder, { recursive: true }));
const users = await makeRedisUsers(folder, ["eu-central"]);
const redis = stack.use(await startRedis({ aclFile: users.aclFile, login: users.login("admin") }));

const gtm = async (name: string) => {
  const settings = StoreSettings.parse(users.store("gtm", redis.url, { deadline: "10s" }));
  const store = openStore(settings, { clock, log, name });
  stack.defer(() => store.close());
  const metrics = createMetrics();
  const degradations = createDegradations({ clock, log, metrics });
  const failures = createStoreFailures({ clock, log, metrics });
  const tokens = createTokenStore({ store, clock, log, failures, degradations });
  stack.defer(() => tokens.stop());
  await tokens.start();
  return Object.assign(tokens, { degradations, token: (id: string) => tokens.current().find((one) => one.id === id) });
};
const here = await gtm("here");
const there = await gtm("there");

const aToken = (id: string): TokenRecord => ({
  ...{ id, name: id, role: "viewer", sha256: id.charCodeAt(3).toString(16).padStart(64, "0"), names: null },
  ...{ regions: ["eu-*"], pools: null, tenants: null, comment: "a test", createdBy: "root", createdWith: null },
  ...{ createdAtMs: Date.now(), changedAtMs: Date.now(), expiresAtMs: Date.now() + 3_600_000 },
  ...{ revokedAtMs: null, revokedBy: null },
});

describe("a token on a real Redis", () => {
  it("that one GTM gives the other knows, and one that the other revokes the first refuses", async () => {
    assert.equal(await here.add(aToken("tk-a")), true);
    await until(() => there.token("tk-a") !== undefined);
    assert.deepEqual(there.token("tk-a"), here.token("tk-a"));
    await there.change("tk-a", { revokedAtMs: Date.now(), revokedBy: "root" }, null);
    await until(() => here.token("tk-a")?.revokedAtMs !== null);
    assert.deepEqual(here.degradations.current(), []);
  });
  it("that was used at one GTM was used at the other", async () => {
    here.used("tk-a");
    await until(async () => (await there.lastUsed(["tk-a"])).size === 1);
  });
  it("that two give at the same time both stand", async () => {
    await Promise.all([here.add(aToken("tk-b")), there.add(aToken("tk-c"))]);
    await until(() => [here, there].every((one) => one.token("tk-b") !== undefined && one.token("tk-c") !== undefined));
  });
  it("is there again after Redis came back empty, and its revocation with it", async () => {
    await redis.restart();
    await until(async () => (await redis.cli("exists", tokensKey())) === "1");
    const stored = JSON.parse(await redis.cli("get", tokensKey()));
    const revoked = stored.tokens.map(({ id, revokedAtMs }: TokenRecord) => [id, revokedAtMs !== null]);
    assert.deepEqual(revoked, [
      ["tk-a", true],
      ["tk-b", false],
      ["tk-c", false],
    ]);
  });
  it("is nothing that an edge agent's user could read, make or take away", async () => {
    const login = users.login("edge-agent-eu-central");
    for (const words of [
      ["get", tokensKey()],
      ["set", tokensKey(), "{}"],
      ["del", tokensKey()],
    ]) {
      await assert.rejects(redisCli({ port: redis.port, tls: null, login }, ...words), /NOPERM/);
    }
  });
});
