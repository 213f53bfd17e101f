import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createUsageReader, type Usage } from "#edge-agent/gateway/usage.ts";
import * as replies from "#test/support/replies.ts";

/** One piece, at 100 ms. */
const read = (text: string, isStream: boolean): Usage => {
  const reader = createUsageReader(isStream, () => undefined);
  reader.push(Buffer.from(text), 100);
  return reader.end();
};
const NOTHING: Usage = {
  promptTokens: null,
  cachedTokens: null,
  completionTokens: null,
  isCompletionEstimated: false,
  firstContentAtMs: null,
  responseId: null,
  hasError: false,
};
const CHAT = { ...NOTHING, promptTokens: 5_000, cachedTokens: 4_096, completionTokens: 3 };
const RESPONSE = { ...NOTHING, promptTokens: 700, cachedTokens: 512, completionTokens: 9, responseId: "resp_1" };
/** Anthropic's input leaves out what was cached: 300 + 4 000 + 200. */
const ANTHROPIC = { ...NOTHING, promptTokens: 4_500, cachedTokens: 4_000, completionTokens: 20 };

const cases: readonly (readonly [what: string, text: string, isStream: boolean, expected: Usage])[] = [
  ["a chat in one piece, with a usage in its content", replies.CHAT_JSON, false, CHAT],
  ["a chat stream", replies.CHAT_STREAM, true, { ...CHAT, firstContentAtMs: 100 }],
  [
    "a chat stream without usage: its content events are counted",
    replies.CHAT_STREAM_SILENT,
    true,
    { ...NOTHING, completionTokens: 3, isCompletionEstimated: true, firstContentAtMs: 100 },
  ],
  [
    "a tool call, which never says what was cached",
    replies.TOOL_STREAM,
    true,
    { ...NOTHING, promptTokens: 800, completionTokens: 12, firstContentAtMs: 100 },
  ],
  [
    "legacy completions",
    replies.LEGACY_STREAM,
    true,
    { ...NOTHING, promptTokens: 12, completionTokens: 2, firstContentAtMs: 100 },
  ],
  ["a stored response", replies.RESPONSE_JSON, false, RESPONSE],
  ["a response that is not stored", replies.RESPONSE_JSON_NOT_STORED, false, { ...RESPONSE, responseId: null }],
  ["a response's stream", replies.RESPONSE_STREAM, true, { ...RESPONSE, firstContentAtMs: 100 }],
  ["an Anthropic message", replies.ANTHROPIC_JSON, false, ANTHROPIC],
  ["an Anthropic stream", replies.ANTHROPIC_STREAM, true, { ...ANTHROPIC, firstContentAtMs: 100 }],
  ["an error within a stream", 'data: {"error":{"message":"engine died"}}\n\n', true, { ...NOTHING, hasError: true }],
  [
    "events ended by carriage returns",
    replies.CHAT_STREAM.replaceAll("\n", "\r"),
    true,
    { ...CHAT, firstContentAtMs: 100 },
  ],
  ["events ended by both", replies.CHAT_STREAM.replaceAll("\n", "\r\n"), true, { ...CHAT, firstContentAtMs: 100 }],
  ["a byte order mark", `\uFEFF${replies.CHAT_STREAM}`, true, { ...CHAT, firstContentAtMs: 100 }],
  [
    "a stream that breaks off before its blank line",
    replies.LEGACY_STREAM.trimEnd(),
    true,
    {
      ...NOTHING,
      promptTokens: 12,
      completionTokens: 2,
      firstContentAtMs: 100,
    },
  ],
];

describe("what a reply says of itself", () => {
  for (const [what, text, isStream, expected] of cases)
    it(what, () => assert.deepEqual(read(text, isStream), expected));

  const nonsense: readonly (readonly [string, string])[] = [
    ["a negative count", '{"usage":{"prompt_tokens":-5}}'],
    ["a count that is a text", '{"usage":{"prompt_tokens":"5"}}'],
    ["a count beyond all prompts", '{"usage":{"prompt_tokens":99999999999999}}'],
    ["a fraction", '{"usage":{"prompt_tokens":0.5}}'],
    ["usage in a list of usages that nobody sends", '{"usages":[{"prompt_tokens":5}]}'],
    ["brackets that close nothing", ']]}}{"usage"'],
    ["an HTML page", "<html><body>usage: 5</body></html>"],
    ["nothing", ""],
  ];
  for (const [what, text] of nonsense)
    it(`takes ${what} for nothing`, () => assert.deepEqual(read(text, false), NOTHING));

  it("does not believe more cached tokens than the prompt has", () => {
    const text = '{"usage":{"prompt_tokens":5,"prompt_tokens_details":{"cached_tokens":6}}}';
    assert.deepEqual(read(text, false), { ...NOTHING, promptTokens: 5 });
  });
});

describe("the first token", () => {
  const parts = replies.CHAT_STREAM_SILENT.split(/(?<=\n\n)/);

  it("is the first octet of the first event with content, not the role before it, and is told once", () => {
    const told: number[] = [];
    const reader = createUsageReader(true, (atMs) => told.push(atMs));
    for (const [at, part] of parts.entries()) {
      const octets = Buffer.from(part);
      reader.push(octets.subarray(0, 10), 1_000 + at * 10);
      reader.push(octets.subarray(10), 1_005 + at * 10);
    }
    assert.deepEqual({ told, atMs: reader.end().firstContentAtMs }, { told: [1_010], atMs: 1_010 });
  });
});

describe("an engine that sends one event of 100 MB", () => {
  it("costs no memory that grows with it, and the usage behind it is read", () => {
    const reader = createUsageReader(true, () => undefined);
    reader.push(Buffer.from('data: {"choices":[{"delta":{"content":"'), 0);
    const piece = Buffer.alloc(1_048_576, "x");
    const before = process.memoryUsage();
    for (let at = 0; at < 100; at++) reader.push(piece, at);
    const after = process.memoryUsage();
    reader.push(Buffer.from('"}}],"usage":{"prompt_tokens":7}}\n\n'), 100);
    const { promptTokens, firstContentAtMs } = reader.end();
    assert.deepEqual({ promptTokens, firstContentAtMs }, { promptTokens: 7, firstContentAtMs: 0 });
    const grownBytes = after.external + after.arrayBuffers - before.external - before.arrayBuffers;
    assert.ok(grownBytes < 1_048_576, `${grownBytes} octets of buffers more`);
  });
  it("also where it is one key, one number, or a hundred million brackets", () => {
    for (const octet of ["1", "[", "{", '"']) {
      const reader = createUsageReader(true, () => undefined);
      reader.push(Buffer.from("data: "), 0);
      const piece = Buffer.alloc(262_144, octet);
      for (let at = 0; at < 20; at++) reader.push(piece, at);
      assert.deepEqual(reader.end(), NOTHING);
    }
  });
});
