/** Two thousand challenges by somebody whose token was stolen: bounded, and DNS answers meanwhile. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Pool } from "undici";
import { parseGtmConfig } from "#gtm/config.ts";
import { startGtm } from "#gtm/start.ts";
import { MOST_ACME_VALUES } from "#shared/acme-record.ts";
import { systemClock } from "#shared/clock.ts";
import { silentLogger } from "#shared/logger.ts";
import { createMetrics } from "#shared/metrics.ts";
import { createMemoryStore } from "#shared/store-memory.ts";
import { askUdp } from "#test/support/dns-client.ts";
import { houseYaml } from "#test/support/house.ts";

const PRESENTS = 2_000;
/** Half of them names of the zone. */
const HOSTS = ["c", "chat", "m", "nope", "x.c", "", "r", "example.org", "constructor", "front"];

describe("2 000 challenges", () => {
  it("leave at most eight values a name and nothing elsewhere, and names are answered meanwhile", async () => {
    const store = createMemoryStore(systemClock);
    const config = parseGtmConfig(
      houseYaml(() => "http://127.0.3.9:1", { regions: { probe: null } }),
      "test",
      {},
    );
    const gtm = await startGtm(config, store, { clock: systemClock, log: silentLogger, metrics: createMetrics() });
    await using stack = new AsyncDisposableStack();
    stack.defer(() => gtm.stop());
    const { admin, dns } = gtm.addresses();
    const [at] = dns;
    assert.ok(at !== undefined);
    const client = new Pool(`http://${admin.address}:${admin.port}`, { connections: 16, pipelining: 1 });
    stack.defer(() => client.close());

    const statuses = new Map<number, number>();
    let sent = 0;
    const presentSome = async (): Promise<void> => {
      while (sent < PRESENTS) {
        const i = sent++;
        const host = HOSTS[i % HOSTS.length] ?? "";
        const fqdn = `_acme-challenge.${host === "" ? "" : `${host}.`}llm.test.`;
        const { statusCode, body } = await client.request({
          ...{ method: "POST", path: "/acme/present", headers: { "content-type": "application/json" } },
          body: JSON.stringify({ fqdn, value: `value-${i}` }),
        });
        await body.dump();
        statuses.set(statusCode, (statuses.get(statusCode) ?? 0) + 1);
        if (i % 100 === 0) assert.equal((await askUdp(at, { name: "front.llm.test" })).rcode, 0);
      }
    };
    await Promise.all(Array.from({ length: 16 }, presentSome));

    const names = ["c", "chat", "m", "r", "front"].map((host) => `_acme-challenge.${host}.llm.test`);
    const ours = [...names, "_acme-challenge.llm.test"].sort();
    const { body } = await client.request({ method: "GET", path: "/api/v1/acme-challenges" });
    const { items } = (await body.json()) as { items: { name: string; values: unknown[] }[] };
    assert.deepEqual(
      items.map(({ name, values }) => [name, values.length]),
      ours.map((name) => [name, MOST_ACME_VALUES]),
    );
    const taken = ours.length * MOST_ACME_VALUES;
    const foreign = (PRESENTS / HOSTS.length) * (HOSTS.length - ours.length);
    assert.deepEqual(Object.fromEntries(statuses), { 200: taken, 404: foreign, 409: PRESENTS - taken - foreign });
    assert.equal((await askUdp(at, { name: "_acme-challenge.c.llm.test", type: 16 })).packet.answers?.length, 8);
  });
});
