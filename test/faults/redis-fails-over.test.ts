/** A primary that dies under Sentinels, with a replica that takes over. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type Sentinels, startSentinels } from "#test/support/redis-sentinels.ts";
import { play } from "./scene.ts";
import { startWorld, type World } from "./world.ts";

describe("two GTMs under three Sentinels", { timeout: 110_000 }, () => {
  let sentinels: Sentinels;
  let world: World;
  before(async () => {
    sentinels = await startSentinels();
    world = await startWorld({ storeUrl: sentinels.url });
  });
  after(async () => {
    await world[Symbol.asyncDispose]();
    await sentinels.stop();
  });

  it("follow the failover, and keep what was ordered", async () => {
    await play(world, "Failover by Sentinel", async (scene) => {
      const [a, b] = world.gtms;
      const { primary, replica } = sentinels;
      assert.equal(await scene.orders(a, "south", "drain-all"), 200);
      await scene.turns(2);
      await scene.breaks("the primary is killed", () => primary.kill("SIGKILL"));
      await scene.dies("east");
      await scene.heals("the Sentinels make the replica the primary", () => {});
      assert.equal(await sentinels.primaryNow(), replica);
      assert.equal(await scene.orders(b, "north", "drain-all"), 200);
      await scene.returns("east");
      await scene.turns(2);
      await scene.does("the old primary comes back as a replica", () => primary.restart());
      for (const region of ["north", "south"]) assert.equal(await scene.orders(a, region, "active"), 200);
    });
  });
});
