/** Unmodified SDKs: front door, a redirect with a ticket, the gateway, an engine that demands a key. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { SIMULATED_MODEL } from "#test/support/engine-simulators.ts";
import { chunkOf } from "#test/support/talking-engine.ts";
import { startTicketHouse, type TicketHouse } from "#test/support/ticket-house.ts";
import { until } from "#test/support/until.ts";

const run = promisify(execFile);
const KEY = "demo-key";
const MESSAGES = [{ role: "user" as const, content: "Hello" }];

const EVENTS = [
  ["message_start", { message: { id: "m", type: "message", role: "assistant", model: "m", content: [], usage: {} } }],
  ["content_block_start", { index: 0, content_block: { type: "text", text: "" } }],
  ["content_block_delta", { index: 0, delta: { type: "text_delta", text: "Good day" } }],
  ["content_block_stop", { index: 0 }],
  ["message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } }],
  ["message_stop", {}],
] as const;

describe("an engine that demands a key, behind a gateway, behind the front door", () => {
  let house: TicketHouse;
  before(async () => {
    house = await startTicketHouse((incoming, outgoing) => {
      outgoing.writeHead(200, { "content-type": "text/event-stream" });
      if (incoming.url?.endsWith("/messages") === true) {
        for (const [type, rest] of EVENTS)
          outgoing.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`);
        outgoing.end();
      } else {
        for (const word of ["Good ", "day"]) outgoing.write(chunkOf(word));
        outgoing.end("data: [DONE]\n\n");
      }
    });
  });
  after(() => house[Symbol.asyncDispose]());

  const ways = async (way: string): Promise<number> =>
    Number(new RegExp(`gtm_http_ways_total\\{way="${way}"\\} (\\d+)`).exec(await house.metricsText())?.[1] ?? 0);

  it("serves ten streamed turns of the openai package, whose key the redirect drops", async () => {
    const heard = house.engine.heard.length;
    const client = new OpenAI({ apiKey: KEY, baseURL: `${house.frontUrl}/v1`, maxRetries: 0 });
    for (let turn = 0; turn < 10; turn++) {
      const stream = await client.chat.completions.create(
        { model: SIMULATED_MODEL, stream: true, messages: MESSAGES },
        { headers: { "x-conversation-id": "ten-turns" } },
      );
      let text = "";
      for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? "";
      assert.equal(text, "Good day");
    }
    const turns = house.engine.heard.slice(heard);
    assert.equal(turns.length, 10);
    for (const { headers, url } of turns) {
      assert.equal(headers.authorization, `Bearer ${KEY}`);
      assert.equal(url, "/v1/chat/completions");
    }
    assert.equal(await ways("ticket"), 10);
  });
  it("serves the Anthropic package", async () => {
    const client = new Anthropic({ apiKey: KEY, baseURL: house.frontUrl, maxRetries: 0 });
    const stream = client.messages.stream({ model: SIMULATED_MODEL, max_tokens: 16, messages: MESSAGES });
    assert.equal(await stream.finalText(), "Good day");
    const last = house.engine.heard.at(-1);
    assert.deepEqual([last?.url, last?.headers.authorization], ["/v1/messages", `Bearer ${KEY}`]);
  });
  it("serves curl, which follows nothing, where the pool is auto: forwarded", async () => {
    const { stdout } = await run("curl", [
      ...["-sS", "--noproxy", "*", "-H", `Host: auto.front.llm.test`, "-H", `Authorization: Bearer ${KEY}`],
      ...["-H", "Content-Type: application/json", "-d", JSON.stringify({ model: SIMULATED_MODEL, messages: MESSAGES })],
      `${house.frontUrl}/v1/chat/completions`,
    ]);
    assert.match(stdout, /Good /);
    assert.equal(house.bareEngine.heard.at(-1)?.headers.authorization, `Bearer ${KEY}`);
  });
  it("forwards a key that is too long for a ticket, and the gateway learns what a ticket would have said", async () => {
    const cookie = `session=${"c".repeat(7_000)}`;
    const reply = await fetch(`${house.frontUrl}/v1/chat/completions`, {
      method: "POST",
      redirect: "manual",
      headers: {
        authorization: `Bearer ${KEY}`,
        cookie,
        "content-type": "application/json",
        "x-conversation-id": "big",
      },
      body: JSON.stringify({ model: SIMULATED_MODEL, messages: MESSAGES }),
    });
    assert.equal(reply.status, 200);
    assert.match(await reply.text(), /Good /);
    assert.equal(house.engine.heard.at(-1)?.headers.cookie, cookie);
    assert.equal(house.engine.heard.at(-1)?.url, "/v1/chat/completions");
    await until(async () => (await ways("forward")) > 0);
  });
});
