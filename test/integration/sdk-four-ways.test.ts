/** The real openai and Anthropic packages by each of the four ways: ten turns at one region, each from more cache, and one move when it is drained. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ENGINE_KEY } from "#deploy/demo/places.ts";
import { FOUR_WAYS, wayOf } from "#test/support/four-ways.ts";
import { anthropicSdk, openaiSdk, type SdkTurn, startChat } from "#test/support/sdk-turns.ts";
import { startSteeredRegions } from "#test/support/steered-regions.ts";
import { STEERED_SITES } from "#test/support/steered-settings.ts";
import { until } from "#test/support/until.ts";
import { openZoneClient } from "#test/support/zone-client.ts";

const TURNS = 10;
const TURNS_AFTER = 3;
const FIRST_TOKENS = 2_000;
const MORE_TOKENS = 200;
const [HOME] = STEERED_SITES;

const PACKAGES = { openai: openaiSdk, "@anthropic-ai/sdk": anthropicSdk };

/** The regions in turn, one that repeats only once. */
const route = (turns: readonly SdkTurn[]): readonly string[] =>
  turns.map(({ region }) => region).filter((region, at, all) => region !== all[at - 1]);

type Talk = {
  readonly conversation: string;
  readonly turns: readonly SdkTurn[];
  readonly say: (newTokens: number) => Promise<SdkTurn>;
};

const growsTurnByTurn = ({ conversation, turns }: Talk): void => {
  for (const [at, { cachedTokens, text }] of turns.entries()) {
    assert.ok(text.length > 0, conversation);
    const before = turns[at - 1];
    if (before === undefined) continue;
    assert.ok(cachedTokens > before.cachedTokens, `${conversation}: turn ${at + 1} found more than the one before`);
    assert.ok(cachedTokens >= 0.9 * before.promptTokens, `${conversation}: nearly all that was said before`);
  }
};

const movesOnce = async ({ conversation, turns, say }: Talk): Promise<void> => {
  await until(async () => (await say(MORE_TOKENS)).region !== HOME.id, `${conversation} to move`);
  for (let at = 0; at < TURNS_AFTER; at++) await say(MORE_TOKENS);
  assert.equal(route(turns).length, 2, `${conversation} went by ${route(turns)}`);
  const [last, before] = [turns.at(-1), turns.at(-2)];
  assert.ok((last?.cachedTokens ?? 0) >= 0.9 * (before?.promptTokens ?? 0), `${conversation} is at home there`);
};

describe("eight streamed chats, one by each way of each package, near eu-central", () => {
  it("take ten turns there, each from more cache, and move once when it is drained", async (context) => {
    await using house = await startSteeredRegions();
    await using client = openZoneClient(house);
    const wish = { apiKey: ENGINE_KEY, fetch: client.fetch };
    const talks = Object.entries(PACKAGES).flatMap(([name, sdk]) =>
      FOUR_WAYS.map((way): Talk => {
        const conversation = `${name} by ${way}`;
        const aim = wayOf(way, house, wish, { conversation, from: HOME.client });
        const [chat, turns] = [startChat(sdk(wish), conversation), [] as SdkTurn[]];
        const say = async (newTokens: number): Promise<SdkTurn> => {
          const turn = await chat.say(await aim(), newTokens);
          turns.push(turn);
          return turn;
        };
        return { conversation, turns, say };
      }),
    );
    for (const { say } of talks) await say(FIRST_TOKENS);
    for (let at = 1; at < TURNS; at++) for (const { say } of talks) await say(MORE_TOKENS);
    for (const talk of talks) {
      context.diagnostic(
        `${talk.conversation}: cached ${talk.turns.map(({ cachedTokens }) => cachedTokens).join(" ")}`,
      );
      assert.deepEqual(route(talk.turns), [HOME.id], talk.conversation);
      growsTurnByTurn(talk);
    }
    assert.equal(await house.region(HOME.id).served(), talks.length * TURNS);

    await house.drainAll(HOME.id);
    for (const talk of talks) {
      await movesOnce(talk);
      context.diagnostic(`${talk.conversation}: ${talk.turns.map(({ region }) => region).join(" ")}`);
    }
  });
});

describe("a chat whose key is not the engines'", () => {
  it("is refused by each way: what reaches the engine is the client's own", async () => {
    await using house = await startSteeredRegions();
    await using client = openZoneClient(house);
    const wrong = { apiKey: "another-key", fetch: client.fetch };
    for (const way of FOUR_WAYS) {
      const aim = wayOf(way, house, wrong, { conversation: `wrong by ${way}`, from: HOME.client });
      await assert.rejects(startChat(openaiSdk(wrong), way).say(await aim(), MORE_TOKENS), { status: 401 }, way);
    }
  });
});
