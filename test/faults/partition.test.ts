/** One GTM is cut off from Redis while the world goes on on the other side. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type Partition, startPartition } from "#test/support/partition.ts";
import { type RedisServer, startRedis } from "#test/support/redis.ts";
import { play } from "./scene.ts";
import { startWorld, type World } from "./world.ts";

describe("two GTMs, one of them behind a network of its own", { timeout: 110_000 }, () => {
  let redis: RedisServer;
  let network: Partition;
  let world: World;
  before(async () => {
    redis = await startRedis();
    network = await startPartition(redis.port);
    world = await startWorld({ storeUrl: redis.url, otherUrl: `redis://127.0.0.1:${network.port}` });
  });
  after(async () => {
    await world[Symbol.asyncDispose]();
    await network.stop();
    await redis.stop();
  });

  it("agree again when it heals on what was ordered and moved meanwhile", async () => {
    await play(world, "A partition between one GTM and Redis", async (scene) => {
      const [a, b] = world.gtms;
      assert.equal(await scene.orders(b, "south", "drain-all"), 200);
      await scene.turns(2);
      await scene.breaks("gtm-b is cut off", network.cut);
      await scene.until("gtm-b says so", async () => (await b.status())?.isStoreUp === false);
      assert.equal((await a.status())?.isStoreUp, true);
      assert.equal(await scene.orders(b, "west", "drain-all"), 503);
      assert.equal(await scene.orders(a, "south", "active"), 200);
      await scene.dies("east");
      for (let at = 0; at < 12; at += 1) scene.traffic.begin(`new-on-both-sides-${at}`);
      await scene.turns(3);
      await scene.heals("the network heals", network.heal);
      await scene.returns("east");
      await scene.turns(2);
    });
  });
});
