/** What subjects share: read once, and closed for good. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseGtmConfig } from "#gtm/config.ts";
import { createContext } from "#gtm/doctor/context.ts";
import { systemClock } from "#shared/clock.ts";
import { houseYaml } from "#test/support/house.ts";
import { startRedis } from "#test/support/redis.ts";

const contextOn = (url: string, asked: { times: number } = { times: 0 }) => {
  const settings = {
    ...JSON.parse(houseYaml(() => "http://127.0.3.9:1", { regions: { probe: null } })),
    store: { url },
  };
  return createContext({
    config: parseGtmConfig(JSON.stringify(settings), "test", {}),
    clock: systemClock,
    askRunning: async () => {
      asked.times += 1;
      return { kind: "failed", server: "http://127.0.0.1:1", why: "nobody is there" };
    },
    isGtmAskedFor: false,
    pause: async () => {},
  });
};

describe("the context of an examination", () => {
  it("asks for each thing once, however many subjects want it", async () => {
    const asked = { times: 0 };
    const context = contextOn("memory:", asked);
    await Promise.all([context.running(), context.running()]);
    assert.equal(asked.times, 1);
    assert.equal(context.storeFacts(), context.storeFacts());
  });
  it("has no store to read where it is in the memory of another process, or away", async () => {
    assert.match(String(await contextOn("memory:").store()), /memory of the GTM's process/);
    assert.equal(await contextOn("redis://127.0.0.1:1").store(), "the store is away");
  });
  it("opens a store once, and none after it was closed", async () => {
    await using redis = await startRedis();
    const early = contextOn(redis.url);
    const store = await early.store();
    assert.ok(typeof store !== "string" && store === (await early.store()));
    await early.close();
    assert.equal(store.isUp(), false);
    const late = contextOn(redis.url);
    await late.close();
    assert.equal(await late.store(), "the store answered too late");
  });
});
