/** Redis is killed while real SDKs talk: their conversations go on where they are, by redirect and by name. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ENGINE_KEY } from "#deploy/demo/places.ts";
import { redisStores } from "#deploy/demo/stores.ts";
import type { Status } from "#gtm/wire/admin/routes/status.ts";
import { silentLogger } from "#shared/logger.ts";
import { wayOf } from "#test/support/four-ways.ts";
import { startRedis } from "#test/support/redis.ts";
import { openaiSdk, type SdkTurn, startChat } from "#test/support/sdk-turns.ts";
import { type SteeredRegions, startSteeredRegions } from "#test/support/steered-regions.ts";
import { STEERED_SITES } from "#test/support/steered-settings.ts";
import { until } from "#test/support/until.ts";
import { openZoneClient } from "#test/support/zone-client.ts";

const FIRST_TOKENS = 4_000;
const MORE_TOKENS = 200;
const TURNS_BEFORE = 3;
const TURNS_WITHOUT = 5;
const TURNS_AFTER = 3;

type Talk = {
  readonly name: string;
  readonly home: string;
  readonly turns: SdkTurn[];
  readonly say: () => Promise<void>;
};

const stateOf = async (house: SteeredRegions): Promise<string> => ((await house.get("/status")) as Status).state;

describe("six chats by redirect and by name, two near each region, and a Redis that is killed", () => {
  it("go on in their regions from their caches, and after it has come back empty", async (context) => {
    await using redis = await startRedis();
    await using house = await startSteeredRegions({ stores: redisStores(redis.url, silentLogger) });
    await using client = openZoneClient(house);
    const wish = { apiKey: ENGINE_KEY, fetch: client.fetch };
    const talks = STEERED_SITES.flatMap((site) =>
      (["ticket", "label"] as const).map((way): Talk => {
        const name = `near ${site.id} by ${way}`;
        const aim = wayOf(way, house, wish, { conversation: name, from: site.client });
        const [chat, turns] = [startChat(openaiSdk(wish), name), [] as SdkTurn[]];
        const say = async (): Promise<void> => {
          turns.push(await chat.say(await aim(), turns.length === 0 ? FIRST_TOKENS : MORE_TOKENS));
        };
        return { name, home: site.id, turns, say };
      }),
    );
    const takeTurns = async (count: number): Promise<void> => {
      for (let at = 0; at < count; at++) await Promise.all(talks.map(({ say }) => say()));
    };
    await takeTurns(TURNS_BEFORE);
    redis.kill("SIGKILL");
    await until(async () => (await stateOf(house)) === "degraded", "the GTM to say that the store is away");
    await takeTurns(TURNS_WITHOUT);
    await redis.restart();
    await until(async () => (await stateOf(house)) === "ready", "the GTM to be well again");
    await takeTurns(TURNS_AFTER);
    for (const { name, home, turns } of talks) {
      context.diagnostic(`${name}: cached ${turns.map(({ cachedTokens }) => cachedTokens).join(" ")}`);
      assert.deepEqual([...new Set(turns.map(({ region }) => region))], [home], name);
      for (const [at, { cachedTokens }] of turns.entries()) {
        const before = turns[at - 1];
        if (before !== undefined) assert.ok(cachedTokens >= 0.9 * before.promptTokens, `${name}, turn ${at + 1}`);
      }
    }
  });
});
