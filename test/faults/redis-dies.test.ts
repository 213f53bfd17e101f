/** The one Redis dies, freezes, or forgets, under traffic. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { ordersKey } from "#shared/keys.ts";
import { type RedisServer, startRedis } from "#test/support/redis.ts";
import { play } from "./scene.ts";
import { startWorld, type World } from "./world.ts";

const FROZEN_MS = 10_000;

describe("two GTMs on one Redis", { timeout: 110_000 }, () => {
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

  it("go on when it is killed, and when it comes back empty", async () => {
    await play(world, "Redis is killed with kill -9 and comes back empty", async (scene) => {
      const [a, b] = world.gtms;
      assert.equal(await scene.orders(a, "south", "drain-all"), 200);
      await scene.turns(2);
      await scene.breaks("Redis is killed", () => redis.kill("SIGKILL"));
      await scene.dies("east");
      assert.equal(await scene.orders(b, "north", "drain-all"), 503);
      await scene.heals("Redis is back, empty", () => redis.restart());
      await scene.until("Redis has the orders again", async () => (await redis.cli("exists", ordersKey())) === "1");
      await scene.returns("east");
      await scene.turns(2);
      assert.equal(await scene.orders(b, "south", "active"), 200);
    });
  });

  it("go on while it is stopped for 10 s, and a region falls silent meanwhile", async () => {
    await play(world, "Redis is stopped (SIGSTOP) for 10 s", async (scene) => {
      const [a, b] = world.gtms;
      assert.equal(await scene.orders(b, "south", "drain-all"), 200);
      await scene.turns(2);
      const frozenAtMs = performance.now();
      await scene.breaks("Redis is stopped", () => redis.kill("SIGSTOP"));
      await scene.dies("east", "falls silent");
      assert.equal(await scene.orders(a, "north", "drain-all"), 503);
      await scene.until("10 s have passed", () => performance.now() - frozenAtMs > FROZEN_MS);
      await scene.heals("Redis goes on", () => redis.kill("SIGCONT"));
      await scene.returns("east");
      assert.equal(await scene.orders(a, "south", "active"), 200);
      // It was refused while Redis was stopped, and may have been done all the same when it went on.
      await scene.orders(a, "north", "active");
    });
  });

  it("give it back what FLUSHALL took", async () => {
    await play(world, "FLUSHALL", async (scene) => {
      const [a, b] = world.gtms;
      assert.equal(await scene.orders(a, "south", "drain-all"), 200);
      await scene.turns(2);
      const held = async (): Promise<number> => (await redis.cli("keys", "gtm:v1:conv:*")).split("\n").length;
      const before = await held();
      await scene.breaks("Redis is flushed", () => redis.cli("flushall"));
      await scene.heals("nobody does anything", () => {});
      await scene.until("Redis has the orders again", async () => (await redis.cli("exists", ordersKey())) === "1");
      await scene.until(`Redis has ${scene.traffic.size()} conversations again`, async () => {
        const now = await held();
        return now >= scene.traffic.size() && now <= before;
      });
      await scene.dies("east");
      await scene.returns("east");
      assert.equal(await scene.orders(b, "south", "active"), 200);
    });
  });
});
