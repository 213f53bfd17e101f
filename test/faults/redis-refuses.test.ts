/** A Redis that answers and does not do what it is asked for: it has no memory left, or throws out who listens too slowly. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { changedChannel } from "#shared/keys.ts";
import { type RedisServer, startRedis } from "#test/support/redis.ts";
import { play } from "./scene.ts";
import { startWorld, type World } from "./world.ts";

describe("two GTMs on a Redis that refuses", { timeout: 110_000 }, () => {
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

  it("go on when it is out of memory", async () => {
    await play(world, "Redis is out of memory (maxmemory 1, noeviction)", async (scene) => {
      const [a, b] = world.gtms;
      assert.equal(await scene.orders(a, "south", "drain-all"), 200);
      await scene.turns(2);
      await scene.breaks("Redis has no memory left", () => redis.cli("config", "set", "maxmemory", "1"));
      await scene.until("both say that pins and orders are not taken", async () => {
        const all = await Promise.all(world.gtms.map((gtm) => gtm.status()));
        return all.every((status) => ["pins", "orders"].every((what) => status?.degraded.includes(what)));
      });
      await scene.dies("east");
      assert.equal(await scene.orders(b, "north", "drain-all"), 503);
      await scene.turns(2);
      await scene.heals("Redis has memory again", () => redis.cli("config", "set", "maxmemory", "0"));
      await scene.returns("east");
      assert.equal(await scene.orders(b, "south", "active"), 200);
    });
  });

  it("are right within the window although it throws their subscribers out again and again", async () => {
    const subscribers = async (): Promise<ReadonlySet<string>> =>
      new Set((await redis.cli("client", "list", "type", "pubsub")).match(/\bid=\d+/g));
    await play(
      world,
      "Redis throws out slow subscribers (output buffers of 32 kB, a flood on the channel)",
      async (scene) => {
        const [a, b] = world.gtms;
        const first = await subscribers();
        assert.ok(first.size >= 2, "both listen");
        const limit = (text: string) => redis.cli("config", "set", "client-output-buffer-limit", text);
        await scene.does("output buffers are small", () => limit("pubsub 32kb 32kb 1"));
        const flood = async (): Promise<void> => {
          for (let sent = 0; sent < 8; sent += 1) await redis.cli("publish", changedChannel(), "x".repeat(100_000));
        };
        await scene.does("the channel is flooded", flood);
        assert.equal(await scene.orders(a, "south", "drain-all"), 200);
        await scene.does("the channel is flooded again", flood);
        await scene.until("the subscribers are others than before", async () => {
          const now = await subscribers();
          return now.size >= first.size && ![...now].some((id) => first.has(id));
        });
        await scene.dies("east");
        await scene.does("the channel is flooded again", flood);
        await scene.returns("east");
        await scene.does("output buffers are as before", () => limit("pubsub 32mb 8mb 60"));
        assert.equal(await scene.orders(b, "south", "active"), 200);
      },
    );
  });
});
