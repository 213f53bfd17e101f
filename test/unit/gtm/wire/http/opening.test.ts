/** Which chats have one opening, and which have not: what a conversation is recognised by when its client names none. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { PromptShape } from "#gtm/wire/http/prompt-shape.ts";
import { promptShapeOf } from "#gtm/wire/http/prompt-shape.ts";
import { fingerprintOf } from "#test/support/fingerprint.ts";

const SYSTEM = "You are a helpful assistant.";
const ASK = "What is the weather like in Frankfurt?";
const user = { role: "user", content: ASK };
const answer = { role: "assistant", content: "Sunny." };
const more = { role: "user", content: "And tomorrow?" };
const of = (shape: PromptShape, body: unknown): string | null => fingerprintOf(shape, JSON.stringify(body));
const chat = (body: object): string | null => of("messages", { model: "m", ...body });

type Alike = { readonly what: string; readonly shape: PromptShape; readonly first: object; readonly later: object };
const alike: readonly Alike[] = [
  {
    what: "a chat without a system's words",
    shape: "messages",
    first: { messages: [user] },
    later: { messages: [user, answer, more] },
  },
  {
    what: "OpenAI's chat",
    shape: "messages",
    first: { model: "m", messages: [{ role: "system", content: SYSTEM }, user] },
    later: { messages: [{ role: "system", content: SYSTEM }, user, answer, more], temperature: 1, model: "other" },
  },
  {
    what: "members of a message in another order",
    shape: "messages",
    first: { messages: [{ role: "system", content: SYSTEM }, user] },
    later: {
      messages: [
        { content: SYSTEM, role: "system" },
        { content: ASK, name: "ann", role: "user" },
      ],
    },
  },
  {
    what: "content as a string and as one part, as clients write it once they mark it for the cache",
    shape: "messages",
    first: {
      messages: [{ role: "user", content: [{ type: "text", text: ASK, cache_control: { type: "ephemeral" } }] }],
    },
    later: { messages: [user, answer, more] },
  },
  {
    what: "Anthropic's messages, wherever the system stands",
    shape: "messages",
    first: { system: SYSTEM, messages: [user] },
    later: { messages: [user, answer, more], system: [{ type: "text", text: SYSTEM }] },
  },
  {
    what: "the Responses API with input as a string and then as items",
    shape: "responses",
    first: { instructions: SYSTEM, input: ASK },
    later: {
      input: [{ type: "message", role: "user", content: [{ type: "input_text", text: ASK }] }, answer, more],
      instructions: SYSTEM,
    },
  },
  {
    what: "the Responses API with what the model thought in between",
    shape: "responses",
    first: { input: [{ role: "developer", content: SYSTEM }, user] },
    later: {
      input: [{ role: "developer", content: SYSTEM }, user, { type: "reasoning", id: "rs_1", summary: [] }, answer],
    },
  },
  {
    what: "a prompt of the completions API, up to where the model's turn begins",
    shape: "completions",
    first: { prompt: `${SYSTEM}\n\nHuman: ${ASK}\n\nAssistant:` },
    later: { prompt: `${SYSTEM}\n\nHuman: ${ASK}\n\nAssistant: Sunny.\n\nHuman: And tomorrow?\n\nAssistant:` },
  },
  {
    what: "the first of several prompts",
    shape: "completions",
    first: { prompt: ASK },
    later: { prompt: [ASK, "another"] },
  },
  {
    what: "an assistant that speaks first",
    shape: "messages",
    first: { messages: [{ role: "assistant", content: "Hello!" }, user] },
    later: { messages: [user] },
  },
];
describe("later turns have the opening of the first", () => {
  for (const { what, shape, first, later } of alike) {
    it(what, () => {
      assert.notEqual(of(shape, first), null);
      assert.equal(of(shape, later), of(shape, first));
    });
  }
  it("also where everything that can be escaped is escaped, and printed over lines", () => {
    const body = {
      messages: [
        { role: "system", content: "Sé útil. 🦙" },
        { role: "user", content: 'Say "é/\\".\n\t\u0001' },
      ],
    };
    const spelt = JSON.stringify(body, null, 2).replaceAll(/[^\n "{}[\]:,\\]/g, (letter) => letter);
    const hard = JSON.stringify(body).replaceAll(
      /[^\x20-\x7e]/g,
      (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
    assert.equal(fingerprintOf("messages", spelt), of("messages", body));
    assert.equal(
      fingerprintOf("messages", hard.replaceAll("/", "\\/").replaceAll("user", "\\u0075ser")),
      of("messages", body),
    );
  });
});

describe("chats are told apart", () => {
  const system = { role: "system", content: SYSTEM };
  const image = (letter: string) => ({
    role: "user",
    content: [
      { type: "text", text: "What is this?" },
      { type: "image_url", image_url: { url: `data:image/png;base64,${letter.repeat(100_000)}` } },
    ],
  });
  const source = (data: string) => ({
    role: "user",
    content: [{ type: "image", source: { type: "base64", media_type: "image/png", data } }],
  });
  const long = (end: string) => ({ role: "user", content: `${"The quick brown fox. ".repeat(5_000)}${end}` });
  const cases: readonly { what: string; one: object; other: object }[] = [
    {
      what: "by the user where they share the system",
      one: { messages: [system, user] },
      other: { messages: [system, more] },
    },
    { what: "by the system where they share the user", one: { messages: [system, user] }, other: { messages: [user] } },
    {
      what: "by a system beside the messages",
      one: { system: "A", messages: [user] },
      other: { system: "B", messages: [user] },
    },
    {
      what: "by who said it",
      one: { system: "A", messages: [user] },
      other: { messages: [{ role: "user", content: `A${ASK}` }] },
    },
    { what: "by an image", one: { messages: [image("a")] }, other: { messages: [image("b")] } },
    { what: "by an image of Anthropic's", one: { messages: [source("a")] }, other: { messages: [source("b")] } },
    { what: "by the end of a long text", one: { messages: [long("Why?")] }, other: { messages: [long("When?")] } },
    {
      what: "by a question behind a long text",
      one: { messages: [{ role: "user", content: [{ text: long("").content }, { text: "Why?" }] }] },
      other: { messages: [{ role: "user", content: [{ text: long("").content }, { text: "When?" }] }] },
    },
    {
      what: "by where one part ends",
      one: { messages: [{ role: "user", content: [{ text: "ab" }, { text: "c" }] }] },
      other: { messages: [{ role: "user", content: [{ text: "a" }, { text: "bc" }] }] },
    },
  ];
  for (const { what, one, other } of cases) {
    it(what, () => {
      assert.notEqual(chat(one), null);
      assert.notEqual(chat(one), chat(other));
    });
  }
});

describe("there is no opening", () => {
  const cases: readonly { what: string; shape: PromptShape; body: object }[] = [
    { what: "without messages", shape: "messages", body: { model: "m" } },
    { what: "without a user", shape: "messages", body: { messages: [{ role: "system", content: SYSTEM }] } },
    { what: "where the user says nothing", shape: "messages", body: { messages: [{ role: "user", content: "" }] } },
    { what: "where the prompt is tokens", shape: "completions", body: { prompt: [1, 2, 3] } },
    { what: "where messages are within something else", shape: "messages", body: { extra: { messages: [user] } } },
    {
      what: "behind more messages than any chat begins with",
      shape: "messages",
      body: { messages: [...Array(70).fill(answer), user] },
    },
  ];
  for (const { what, shape, body } of cases) it(what, () => assert.equal(of(shape, body), null));
});

describe("the path says what the body's members mean", () => {
  const cases: readonly (readonly [string, PromptShape | null])[] = [
    ["/v1/chat/completions", "messages"],
    ["/openai/deployments/x/chat/completions", "messages"],
    ["/v1/messages", "messages"],
    ["/v1/messages/count_tokens", "messages"],
    ["/v1/responses", "responses"],
    ["/v1/completions", "completions"],
    ["/v1/embeddings", null],
    ["/v1/audio/transcriptions", null],
    ["/v1/responses/resp_1/cancel", null],
    ["/v1/mymessages", null],
  ];
  for (const [path, shape] of cases) it(`${path}: ${shape}`, () => assert.equal(promptShapeOf(path), shape));
});
