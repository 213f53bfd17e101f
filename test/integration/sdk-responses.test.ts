/** The openai package's Responses API through the front door: a turn that goes on from a stored response, and a task that begins with its parent's context. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import OpenAI from "openai";
import { ENGINE_KEY } from "#deploy/demo/places.ts";
import { prose } from "#deploy/demo/prose.ts";
import { SIMULATED_ALIAS } from "#test/support/engine-simulators.ts";
import { openaiSdk, startChat } from "#test/support/sdk-turns.ts";
import { type SteeredRegions, startSteeredRegions } from "#test/support/steered-regions.ts";
import { STEERED_SITES } from "#test/support/steered-settings.ts";
import { until } from "#test/support/until.ts";
import { openZoneClient, type ZoneClient } from "#test/support/zone-client.ts";

const CONTEXT_TOKENS = 2_000;
const [EU, , AP] = STEERED_SITES;

let house: SteeredRegions;
let client: ZoneClient;
before(async () => {
  house = await startSteeredRegions();
  client = openZoneClient(house);
});
after(async () => {
  await client[Symbol.asyncDispose]();
  await house[Symbol.asyncDispose]();
});

/** A client that stands elsewhere is cheaper served elsewhere. */
const openaiFrom = (from: string, headers: Readonly<Record<string, string>> = {}): OpenAI =>
  new OpenAI({
    ...{ apiKey: ENGINE_KEY, baseURL: `${house.frontUrl()}/v1`, maxRetries: 0, fetch: client.fetch },
    defaultHeaders: { "x-forwarded-for": from, ...headers },
  });

const ask = async (openai: OpenAI, input: string, previous: string | null) => {
  const { data, response } = await openai.responses
    .create({
      ...{ model: SIMULATED_ALIAS, input, stream: true, max_output_tokens: 8 },
      ...(previous === null ? {} : { previous_response_id: previous }),
    })
    .withResponse();
  for await (const event of data) {
    if (event.type !== "response.completed" && event.type !== "response.incomplete") continue;
    const { id, usage } = event.response;
    const cachedTokens = usage?.input_tokens_details.cached_tokens ?? 0;
    return { id, cachedTokens, region: response.headers.get("x-sim-region") };
  }
  throw new Error("the stream ended before its response was whole");
};

describe("a response that was stored in eu-central", () => {
  it("is gone on from there, also by a client for whom ap-southeast is cheaper", async () => {
    const first = await ask(openaiFrom(EU.client), prose(CONTEXT_TOKENS, "stored"), null);
    assert.equal(first.region, EU.id);
    // Its place is told beside the answer.
    const elsewhere = openaiFrom(AP.client);
    await until(async () => {
      const body = { model: SIMULATED_ALIAS, conversation: "nothing yet" };
      const { region } = await elsewhere.post<{ readonly region: string }>("/steer", { body });
      return region === AP.id;
    }, "ap-southeast to be the cheapest there");
    let previous = first.id;
    for (let turn = 2; turn <= 4; turn++) {
      const next = await answered(() => ask(elsewhere, `And then? ${turn}`, previous));
      assert.equal(next.region, EU.id);
      assert.ok(next.cachedTokens >= 0.9 * CONTEXT_TOKENS, `turn ${turn} found ${next.cachedTokens} tokens`);
      previous = next.id;
    }
  });
});

/**
 * A gateway writes down where a response lies beside its answer: a turn that comes within that moment is sent where it costs
 * least, and the engine there has never heard of it (404).
 */
const answered = async <T>(turn: () => Promise<T>): Promise<T> => {
  let answer: { readonly value: T } | null = null;
  await until(async () => {
    answer = await turn().then(
      (value) => ({ value }),
      (fault: unknown) => {
        if (fault instanceof OpenAI.NotFoundError) return null;
        throw fault;
      },
    );
    return answer !== null;
  }, "the stored response to be known");
  if (answer === null) throw new Error("until() waited for it");
  return (answer as { readonly value: T }).value;
};

describe("a task of an agent whose own conversation lives in eu-central", () => {
  const parent = "the agent";
  const chatFrom = (from: string, headers: Readonly<Record<string, string>>, name: string) => {
    const chat = startChat(openaiSdk({ apiKey: ENGINE_KEY, fetch: client.fetch }), name);
    const aim = { baseUrl: `${house.frontUrl()}/v1`, headers: { "x-forwarded-for": from, ...headers } };
    return (tokens: number) => chat.say(aim, tokens);
  };

  it("begins there where it names its parent, and near its client where it does not", async () => {
    const say = chatFrom(EU.client, { "x-conversation-id": parent }, "parent");
    assert.equal((await say(8_000)).region, EU.id);
    assert.equal((await say(200)).region, EU.id);
    const orphan = chatFrom(AP.client, { "x-conversation-id": "orphan" }, "parent");
    assert.equal((await orphan(8_000)).region, AP.id);
    const child = chatFrom(AP.client, { "x-conversation-id": "child", "x-gtm-parent-conversation": parent }, "parent");
    const turn = await child(8_000);
    assert.equal(turn.region, EU.id);
    assert.ok(turn.cachedTokens >= 7_000, `it begins with its parent's context: ${turn.cachedTokens} tokens`);
  });
});
