/** Agents that say what is not true, or what is not understood. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type RedisServer, startRedis } from "#test/support/redis.ts";
import { type Liar, openLiar } from "./liar.ts";
import { play, type Scene } from "./scene.ts";
import { startWorld, type World } from "./world.ts";

/** Reports that are older are stale, and their region degraded. */
const STALE_AFTER_MS = 5_000;

describe("two GTMs and agents that are not to be believed", { timeout: 110_000 }, () => {
  let redis: RedisServer;
  let world: World;
  let liar: Liar;
  before(async () => {
    redis = await startRedis();
    world = await startWorld({ storeUrl: redis.url });
    liar = openLiar(redis, world.keysFolder);
  });
  after(async () => {
    await liar[Symbol.asyncDispose]();
    await world[Symbol.asyncDispose]();
    await redis.stop();
  });
  /** On each GTM. */
  const refusals = async (region: string, reason: string): Promise<readonly number[]> => {
    const metrics = await Promise.all(world.gtms.map((gtm) => gtm.metrics("gtm_reports_refused_total{")));
    const line = `region="${region}",reason="${reason}"`;
    return metrics.map((lines) =>
      Number(
        lines
          .find((text) => text.includes(line))
          ?.split(" ")
          .at(-1) ?? 0,
      ),
    );
  };
  /** Says it again and again, since the true agent reports twice a second, until both have refused it. */
  const isRefused = async (scene: Scene, region: string, reason: string, what: string, act: () => Promise<void>) => {
    const before = await refusals(region, reason);
    await scene.does(what, act);
    await scene.until(`both refused it: ${reason}`, async () => {
      await act();
      const now = await refusals(region, reason);
      return now.every((count, at) => count > (before[at] ?? 0));
    });
  };

  it("refuse by name what a liar says, and go on with what is true", async () => {
    await play(world, "A lying agent", async (scene) => {
      const [a, b] = world.gtms;
      assert.equal(await scene.orders(a, "south", "drain-all"), 200);
      const east = await liar.truth("east");
      const down = { ...east, seq: east.seq + 1_000, models: [], mac: null };
      const unsigned = () => liar.says("east", "agent-east", down);
      await isRefused(scene, "east", "signature", "says that east has no model, unsigned", unsigned);
      const byWest = () => liar.says("east", "agent-east", liar.signed(down, "west"));
      await isRefused(scene, "east", "signature", "says so with west's signature", byWest);
      const ofWest = () => liar.says("west", "agent-west", liar.signed(down, "east"));
      await isRefused(scene, "west", "other-region", "says it in west's place with east's signature", ofWest);
      const south = await liar.truth("south");
      const models = south.models.map((model) => ({
        ...model,
        prefillTokensPerSecond: 1e300,
        kvCapacityTokens: 1e300,
      }));
      const absurd = liar.signed({ ...south, models, boot: "absurd", mac: null }, "south");
      await scene.does("says absurd things of south with south's key", () => liar.says("south", "agent-south", absurd));
      await scene.does("lists 2 000 agents of east that nobody has heard of", () => liar.invents("east", 2_000));
      const inventedAtMs = performance.now();
      await scene.until("longer than reports are fresh", () => performance.now() - inventedAtMs > STALE_AFTER_MS);
      await scene.turns(2);
      await scene.dies("west");
      await scene.returns("west");
      await scene.does("a person clears the list of east's agents", () => liar.forgets("east"));
      assert.equal(await scene.orders(b, "south", "active"), 200);
    });
  });

  it("refuse a report of a newer major version, and go on with the last one understood", async () => {
    await play(world, "A report of a newer major version", async (scene) => {
      const west = world.region("west");
      const report = await liar.truth("west");
      const next = liar.signed({ ...report, v: 2, mac: null, news: { of: "version 2" } } as never, "west");
      await scene.does("west's agent ends", west.stopAgent);
      const says = () => liar.says("west", "agent-west", next);
      await isRefused(scene, "west", "version", "one of version 2 takes its place", says);
      await scene.until("both say that west is degraded: its last report is old", async () => {
        const healths = await Promise.all(world.gtms.map((gtm) => gtm.healthOf("west")));
        return healths.every((health) => health === "degraded");
      });
      await scene.turns(2);
      await scene.does("west's agent is the old one again", () => west.startAgent());
    });
  });
});
