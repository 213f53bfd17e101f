/** Both GTMs restart at once: with Redis there, and with Redis away, when all they have is what they saved. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type RedisServer, startRedis } from "#test/support/redis.ts";
import { play, type Scene } from "./scene.ts";
import { startWorld, type World } from "./world.ts";

describe("both GTMs at once", { timeout: 110_000 }, () => {
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
  const restart = async (scene: Scene, signal: NodeJS.Signals): Promise<void> => {
    await Promise.all(world.gtms.map((gtm) => scene.kills(gtm, signal)));
    await Promise.all(world.gtms.map(scene.starts));
  };

  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    it(`know every home and order after ${signal}`, async () => {
      await play(world, `Both GTMs get ${signal} at once, Redis is there`, async (scene) => {
        const [a, b] = world.gtms;
        assert.equal(await scene.orders(a, "south", "drain-all"), 200);
        await scene.turns(2);
        await restart(scene, signal);
        await scene.dies("east");
        await scene.returns("east");
        assert.equal(await scene.orders(b, "south", "active"), 200);
      });
    });
  }

  it("answer from what they saved when Redis is away, and keep to the tokens that clients bring", async () => {
    await play(world, "Both GTMs get SIGKILL at once while Redis is away", async (scene) => {
      const [a, b] = world.gtms;
      assert.equal(await scene.orders(a, "south", "drain-all"), 200);
      await scene.turns(2);
      await scene.breaks("Redis is killed", () => redis.kill("SIGKILL"));
      await scene.turns(2);
      await restart(scene, "SIGKILL");
      await scene.turns(2);
      await scene.dies("east");
      assert.equal(await scene.orders(b, "north", "drain-all"), 503);
      await scene.heals("Redis is back, empty", () => redis.restart());
      await scene.returns("east");
      assert.equal(await scene.orders(b, "south", "active"), 200);
    });
  });
});
