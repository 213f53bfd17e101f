/** Conversations whose clients name none: recognised by their openings, and by the stored responses that they continue. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { FindResponse } from "#gtm/wire/http/state.ts";
import { aPool, aRegion, regionId } from "#test/support/builders.ts";
import { type RunningFrontDoor, startFrontDoor } from "#test/support/front-door.ts";
import { startRememberingFrontDoor } from "#test/support/http-house.ts";
import { metricValue } from "#test/support/metric-value.ts";

const post = (front: RunningFrontDoor, path: string, body: object, headers: Record<string, string> = {}) =>
  fetch(`${front.url}${path}`, {
    method: "POST",
    redirect: "manual",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
const conversationsOf = ({ entries }: RunningFrontDoor): readonly unknown[] =>
  entries.map(({ query }) => query.conversationId);
const counted = (front: RunningFrontDoor, source: string) =>
  metricValue(front.metrics, "gtm_conversation_identity_total", { source });

const user = { role: "user", content: "What is the weather like?" };
const answer = { role: "assistant", content: "Sunny." };
const more = { role: "user", content: "And tomorrow?" };
const system = "You are a helpful assistant.";

describe("a stock client that sends no name", () => {
  const chats: readonly { api: string; path: string; turns: readonly [object, object]; other: object }[] = [
    {
      api: "OpenAI's chat",
      path: "/v1/chat/completions",
      turns: [
        { model: "llama-70b", messages: [{ role: "system", content: system }, user] },
        { messages: [{ role: "system", content: system }, user, answer, more], model: "llama-70b" },
      ],
      other: { model: "llama-70b", messages: [{ role: "system", content: system }, more] },
    },
    {
      api: "the Responses API without a store",
      path: "/v1/responses",
      turns: [
        { model: "llama-70b", instructions: system, input: user.content },
        { model: "llama-70b", input: [user, answer, more], instructions: system },
      ],
      other: { model: "llama-70b", instructions: system, input: more.content },
    },
    {
      api: "Anthropic's messages",
      path: "/v1/messages",
      turns: [
        { model: "llama-70b", max_tokens: 9, system, messages: [user] },
        { model: "llama-70b", max_tokens: 9, messages: [user, answer, more], system: [{ type: "text", text: system }] },
      ],
      other: { model: "llama-70b", max_tokens: 9, system, messages: [more] },
    },
    {
      api: "the completions API",
      path: "/v1/completions",
      turns: [
        { model: "llama-70b", prompt: "User: Hi\nAssistant:" },
        { model: "llama-70b", prompt: "User: Hi\nAssistant: Hello.\nUser: Why?\nAssistant:" },
      ],
      other: { model: "llama-70b", prompt: "User: Why?\nAssistant:" },
    },
  ];
  for (const { api, path, turns, other } of chats) {
    it(`is recognised at its second turn, and no other chat is taken for it: ${api}`, async () => {
      await using front = await startRememberingFrontDoor();
      for (const body of [...turns, other]) assert.equal((await post(front, path, body)).status, 307);
      const [first, second, third] = conversationsOf(front);
      assert.notEqual(first ?? null, null);
      assert.equal(second, first);
      assert.notEqual(third, first);
      assert.deepEqual(
        front.entries.map(({ decision }) => decision.verdict.kind),
        ["placed", "pinned", "placed"],
      );
      assert.equal(await counted(front, "fingerprint"), 3);
    });
  }
  it("is not looked at where a header names the conversation", async () => {
    await using front = await startFrontDoor();
    await post(front, "/v1/chat/completions", { model: "llama-70b", messages: [user] }, { "x-session-id": "s" });
    assert.deepEqual(conversationsOf(front), [front.labels.conversationIdOf("default", "s")]);
    assert.deepEqual([await counted(front, "header"), await counted(front, "fingerprint")], [1, 0]);
  });
  it("is another one for another key", async () => {
    await using front = await startFrontDoor();
    const body = { model: "llama-70b", messages: [user] };
    for (const key of ["sk-1", "sk-2"])
      await post(front, "/v1/chat/completions", body, { authorization: `Bearer ${key}` });
    assert.equal(new Set(conversationsOf(front)).size, 2);
  });
  it("is no conversation where texts are embedded", async () => {
    await using front = await startFrontDoor();
    await post(front, "/v1/embeddings", { model: "llama-70b", input: "some text" });
    assert.deepEqual(conversationsOf(front), [null]);
  });
});

describe("a turn that continues a stored response, which lies in Virginia", () => {
  const body = { model: "llama-70b", previous_response_id: "resp_1", input: "And tomorrow?" };
  const asked: unknown[] = [];
  const setUp = (wish: Parameters<typeof startFrontDoor>[0] = {}) => {
    const conversation = () => front.labels.conversationIdOf("default", "thread 1");
    const findResponse: FindResponse = async (response) => {
      asked.push(response);
      const isOurs = ["resp_1", "conv_1"].some((id) => response === front.labels.conversationIdOf("response", id));
      return isOurs ? { region: regionId("virginia"), conversation: conversation() } : null;
    };
    let front: RunningFrontDoor;
    return startFrontDoor({ findResponse, ...wish }).then((one) => {
      front = one;
      return front;
    });
  };

  const ways: readonly { what: string; path: string; body: object }[] = [
    { what: "previous_response_id", path: "/v1/responses", body },
    { what: "conversation", path: "/v1/responses", body: { model: "llama-70b", input: "Hi", conversation: "conv_1" } },
    {
      what: "conversation.id",
      path: "/v1/responses",
      body: { model: "llama-70b", input: "Hi", conversation: { id: "conv_1" } },
    },
    { what: "the path", path: "/v1/responses/resp_1/cancel", body: {} },
    { what: "the path of a conversation", path: "/v1/conversations/conv_1/items", body: {} },
  ];
  for (const way of ways) {
    it(`goes there by ${way.what}, and is of its conversation`, async () => {
      await using front = await setUp();
      const reply = await post(front, way.path, way.body, { "x-session-id": "another" });
      assert.equal(reply.headers.get("x-gtm-region"), "virginia");
      const [entry] = front.entries;
      assert.equal(entry?.query.conversationId, front.labels.conversationIdOf("default", "thread 1"));
      const frankfurt = entry?.decision.considered.find(({ region }) => region === "frankfurt");
      assert.deepEqual(frankfurt?.kind === "excluded" && frankfurt.exclusion, {
        reason: "state-elsewhere",
        region: "virginia",
      });
      assert.equal(await counted(front, "state"), 1);
    });
  }
  it("goes nowhere else, although a token names another conversation and home", async () => {
    await using front = await setUp();
    const token = (await post(front, "/v1/chat/completions", { model: "llama-70b", messages: [user] })).headers.get(
      "x-gtm-pin",
    );
    const reply = await post(front, "/v1/responses", body, { "x-gtm-pin": token ?? "" });
    assert.equal(reply.headers.get("x-gtm-region"), "virginia");
    assert.deepEqual([front.entries[1]?.query.conversationId === front.entries[0]?.query.conversationId], [true]);
  });
  it("is refused with the reason where that region is down", async () => {
    await using front = await setUp({
      worldRegions: [aRegion("frankfurt"), aRegion("virginia", { health: "unhealthy" })],
    });
    const reply = await post(front, "/v1/responses", body);
    assert.equal(reply.status, 503);
    const { regions } = (await reply.json()) as { regions: readonly { region: string; reason: string }[] };
    assert.deepEqual(
      regions.map(({ region, reason }) => `${region} ${reason}`),
      ["frankfurt state-elsewhere", "virginia down"],
    );
  });
  it("may go anywhere where the pool's regions share what is stored", async () => {
    const pool = aPool([aRegion("frankfurt"), aRegion("virginia")], { sharesResponses: true });
    await using front = await setUp({ pools: [pool], defaultPool: pool });
    await post(front, "/v1/responses", body);
    assert.deepEqual([front.entries[0]?.query.stateRegion, await counted(front, "state")], [null, 1]);
  });
  it("is a turn like any other where nobody told of it, and its words open no conversation", async () => {
    await using front = await setUp();
    const reply = await post(front, "/v1/responses", { ...body, previous_response_id: "resp_unknown" });
    assert.equal(reply.status, 307);
    assert.deepEqual(conversationsOf(front), [null]);
  });
  it("costs no look-up where nothing is continued", async () => {
    await using front = await setUp();
    asked.length = 0;
    await post(front, "/v1/responses", { model: "llama-70b", input: "Hi" });
    await post(front, "/v1/chat/completions", { model: "llama-70b", previous_response_id: "resp_1", messages: [user] });
    assert.deepEqual(asked, []);
  });
});

describe("a task that an agent spawns", () => {
  it("starts from what its parent left behind", async () => {
    await using front = await startRememberingFrontDoor({ worldRegions: [aRegion("frankfurt"), aRegion("virginia")] });
    const first = await post(
      front,
      "/v1/chat/completions",
      { model: "llama-70b", messages: [user] },
      { "x-session-id": "main" },
    );
    const [parent] = conversationsOf(front);
    const messages = [user, answer, { role: "user", content: "some words ".repeat(6_000) }];
    const headers = { "x-session-id": "task", "x-gtm-parent-conversation": "main" };
    const second = await post(front, "/v1/chat/completions", { model: "llama-70b", messages }, headers);
    const turn = front.entries[1]?.decision.turn;
    assert.equal(second.headers.get("x-gtm-region"), first.headers.get("x-gtm-region"));
    assert.equal(turn?.parentId, parent);
    assert.ok((turn?.contextTokens ?? 0) > 10_000);
  });
});

describe("the configured order of sources", () => {
  it("is the one that is asked, and what it leaves out is not heard", async () => {
    await using front = await startFrontDoor({ identityOrder: ["user", "header"] });
    const headers = { "x-session-id": "s", "x-gtm-pin": "p" };
    await post(front, "/v1/chat/completions", { model: "llama-70b", messages: [user], user: "u" }, headers);
    await post(front, "/v1/chat/completions", { model: "llama-70b", messages: [user] }, headers);
    await post(front, "/v1/chat/completions", { model: "llama-70b", messages: [user] });
    assert.deepEqual(await Promise.all(["user", "header", "none"].map((source) => counted(front, source))), [1, 1, 1]);
  });
});
