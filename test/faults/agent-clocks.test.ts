/** An agent whose host has its clock set wrong. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type RedisServer, startRedis } from "#test/support/redis.ts";
import { play } from "./scene.ts";
import { startWorld, type World } from "./world.ts";

const AN_HOUR_MS = 3_600_000;
/** Reports that are older are stale, and their region degraded. */
const STALE_AFTER_MS = 5_000;

describe("two GTMs and an agent whose clock is wrong", { timeout: 110_000 }, () => {
  let redis: RedisServer;
  let world: World;
  before(async () => {
    redis = await startRedis();
    world = await startWorld({ storeUrl: redis.url });
  });
  after(async () => {
    await world[Symbol.asyncDispose]();
    await redis.stop();
  });

  for (const { when, shiftMs } of [
    { when: "fast", shiftMs: AN_HOUR_MS },
    { when: "slow", shiftMs: -AN_HOUR_MS },
  ]) {
    it(`believe one whose clock is an hour ${when}`, async () => {
      await play(world, `An agent's clock is an hour ${when}`, async (scene) => {
        const west = world.region("west");
        await scene.does("west's agent ends", west.stopAgent);
        await scene.does(`it starts again, an hour ${when}`, () =>
          west.startAgent((config) => ["test/support/shifted-agent.ts", config, String(shiftMs)]),
        );
        const startedAtMs = performance.now();
        // By its own word its reports are an hour old by then, or not made yet.
        await scene.until("longer than reports are fresh", () => performance.now() - startedAtMs > STALE_AFTER_MS);
        for (const gtm of world.gtms) assert.equal(await gtm.healthOf("west"), "healthy");
        await scene.dies("east");
        await scene.returns("east");
        await scene.does("west's agent ends", west.stopAgent);
        await scene.does("it starts again, in time", () => west.startAgent());
      });
    });
  }
});
