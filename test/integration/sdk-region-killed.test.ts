/** A region's engine, gateway and agent are killed while real SDKs talk: every way comes back, elsewhere. How soon is told, not asserted. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { ENGINE_KEY } from "#deploy/demo/places.ts";
import { redisStores } from "#deploy/demo/stores.ts";
import { silentLogger } from "#shared/logger.ts";
import { FOUR_WAYS, wayOf } from "#test/support/four-ways.ts";
import { startRedis } from "#test/support/redis.ts";
import { openaiSdk, type SdkTurn, startChat } from "#test/support/sdk-turns.ts";
import { startSteeredRegions } from "#test/support/steered-regions.ts";
import { STEERED_SITES } from "#test/support/steered-settings.ts";
import { openZoneClient } from "#test/support/zone-client.ts";

const TOKENS = 400;
/** A client that failed asks again so soon. */
const AGAIN_MS = 100;
const GIVEN_UP_MS = 90_000;
const [HOME] = STEERED_SITES;

/** As an application does that does not give up. */
const sayUntilGood = async (say: () => Promise<SdkTurn>): Promise<SdkTurn> => {
  const givenUpAt = performance.now() + GIVEN_UP_MS;
  for (;;) {
    try {
      return await say();
    } catch (fault) {
      if (performance.now() > givenUpAt) throw fault;
      await pause(AGAIN_MS);
    }
  }
};

describe("chats by four ways in a region where everything is killed", () => {
  it("go on in another region, where they then stay", async (context) => {
    await using redis = await startRedis();
    const stores = redisStores(redis.url, silentLogger);
    await using house = await startSteeredRegions({ stores, apart: [HOME.id] });
    // Names are resolved as resolvers do: an answer is good for its TTL.
    await using client = openZoneClient({ ...house, keepsAnswers: true });
    const wish = { apiKey: ENGINE_KEY, fetch: client.fetch };
    const talks = FOUR_WAYS.map((way) => {
      const aim = wayOf(way, house, wish, { conversation: way, from: HOME.client });
      const chat = startChat(openaiSdk(wish), way);
      return { way, say: async () => chat.say(await aim(), TOKENS) };
    });
    for (const { say, way } of talks) for (const _ of [1, 2]) assert.equal((await say()).region, HOME.id, way);

    await house.region(HOME.id).kill();
    const killedAt = performance.now();
    await Promise.all(
      talks.map(async ({ way, say }) => {
        const { region } = await sayUntilGood(say);
        const afterMs = performance.now() - killedAt;
        context.diagnostic(`${way}: first good turn after ${(afterMs / 1_000).toFixed(1)} s, in ${region}`);
        assert.notEqual(region, HOME.id, way);
        const next = await sayUntilGood(say);
        assert.equal(next.region, region, `${way} stays there`);
        assert.ok(next.cachedTokens > 0, way);
      }),
    );
  });
});
