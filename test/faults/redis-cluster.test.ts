/** A Cluster that loses a primary without a replica: its slots are gone, the others work. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { ordersKey } from "#shared/keys.ts";
import type { RedisServer } from "#test/support/redis.ts";
import { type Cluster, startCluster } from "#test/support/redis-cluster.ts";
import { play } from "./scene.ts";
import { startWorld, type World } from "./world.ts";

describe("two GTMs on a Cluster of three primaries", { timeout: 110_000 }, () => {
  let cluster: Cluster;
  let world: World;
  before(async () => {
    cluster = await startCluster();
    world = await startWorld({ storeUrl: cluster.url });
  });
  after(async () => {
    await world[Symbol.asyncDispose]();
    await cluster.stop();
  });
  const conversationsOn = async (node: RedisServer): Promise<number> =>
    (await node.cli("keys", "gtm:v1:conv:*")).split("\n").filter((key) => key !== "").length;

  it("go on with the rest when it loses the one that has the orders", async () => {
    await play(world, "A Cluster loses the primary that has the orders", async (scene) => {
      const [a, b] = world.gtms;
      const lost = cluster.nodeOf(ordersKey());
      const left = cluster.nodes.filter((node) => node !== lost);
      assert.equal(await scene.orders(a, "south", "drain-all"), 200);
      await scene.turns(2);
      await scene.breaks("a primary is killed", () => lost.kill("SIGKILL"));
      await scene.dies("east");
      assert.equal(await scene.orders(b, "north", "drain-all"), 503);
      const before = await Promise.all(left.map(conversationsOn));
      for (let at = 0; at < 24; at += 1) scene.traffic.begin(`new-in-a-part-${at}`);
      await scene.until("the primaries that are left take new conversations", async () => {
        const now = await Promise.all(left.map(conversationsOn));
        return now.every((count, at) => count > (before[at] ?? 0));
      });
      await scene.heals("the primary is back, empty", () => lost.restart());
      await scene.returns("east");
      assert.equal(await scene.orders(b, "south", "active"), 200);
    });
  });

  it("take orders when it loses another one", async () => {
    await play(world, "A Cluster loses a primary that has no orders", async (scene) => {
      const [a, b] = world.gtms;
      const lost = cluster.nodes.find((node) => node !== cluster.nodeOf(ordersKey()));
      assert.ok(lost !== undefined);
      await scene.breaks("a primary is killed", () => lost.kill("SIGKILL"));
      await scene.dies("east");
      assert.equal(await scene.orders(b, "south", "drain-all"), 200);
      await scene.turns(2);
      await scene.heals("the primary is back, empty", () => lost.restart());
      await scene.returns("east");
      assert.equal(await scene.orders(a, "south", "active"), 200);
    });
  });
});
