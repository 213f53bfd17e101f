/** Mooncake's trace: both of its forms, who continues whom, and what is wrong with a file. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readMooncake } from "#gtm/simulation/traces/mooncake.ts";

/** Two chats of 1 200 and 700 tokens, and the first one's second turn of 2 100; block 0 is everybody's. */
const COMPACT = [
  '{"t":0,"in":1200,"out":100,"sid":7,"turn":1,"h":[0,3]}',
  '{"t":0,"in":700,"out":20,"sid":8,"turn":1,"h":[0,1,3,1]}',
  '{"t":30,"in":2100,"out":50,"sid":7,"turn":2,"h":[0,2,4,3]}',
];
const PUBLISHED = [
  '{"timestamp":0,"input_length":1200,"output_length":100,"hash_ids":[0,1,2]}',
  '{"timestamp":0,"input_length":700,"output_length":20,"hash_ids":[0,3]}',
  '{"timestamp":30000,"input_length":2100,"output_length":50,"hash_ids":[0,1,4,5,6]}',
];
const read = (lines: readonly string[]) => readMooncake({ name: "chats.jsonl", lines });

describe("Mooncake's trace", () => {
  it("has a client for each conversation, with the block that most begin with as the shared prompt", () => {
    const { clients, blockTokens, loop, lengthMs, timeStepMs } = read(COMPACT);
    assert.deepEqual(
      { blockTokens, loop, lengthMs, timeStepMs },
      { blockTokens: 512, loop: "open", lengthMs: 30_000, timeStepMs: 3_000 },
    );
    assert.deepEqual(clients, [
      {
        startsAtMs: 0,
        location: null,
        turns: [
          { thread: 0, afterMs: 0, promptTokens: 1_200, outputTokens: 100, blocks: [-1, 1, 1, 2] },
          { thread: 0, afterMs: 30_000, promptTokens: 2_100, outputTokens: 50, blocks: [-1, 1, 1, 1, 4, 3] },
        ],
      },
      {
        startsAtMs: 0,
        location: null,
        turns: [{ thread: 0, afterMs: 0, promptTokens: 700, outputTokens: 20, blocks: [-1, 1, 3, 1] }],
      },
    ]);
  });

  it("is the same in the form that it was published in, where conversations are derived", () => {
    assert.deepEqual(read(PUBLISHED), read(COMPACT));
  });

  it("is not spread over steps of 3 s when its times are exact", () => {
    const exact = COMPACT.map((line, at) =>
      line.replace(/"t":(\d+)/, (_, t: string) => `"t":${Number(t) + 0.7 + 0.1 * at}`),
    );
    assert.equal(read(exact).timeStepMs, 0);
  });

  it("does not take a shorter or equal prompt for a continuation", () => {
    const twice = [PUBLISHED[0] ?? "", PUBLISHED[0] ?? ""];
    assert.equal(read(twice).clients.length, 2);
  });

  const faults: readonly { readonly what: string; readonly lines: readonly string[]; readonly says: RegExp }[] = [
    {
      what: "a cut line",
      lines: [COMPACT[0] ?? "", (COMPACT[1] ?? "").slice(0, 20)],
      says: /chats\.jsonl:2: expected one JSON object .* is the file cut\?/,
    },
    { what: "no object", lines: ["[1]"], says: /chats\.jsonl:1: expected one JSON object in a line, found an array/ },
    { what: "no line at all", lines: ["", ""], says: /chats\.jsonl:1: expected at least one line/ },
    {
      what: "time that runs back",
      lines: [COMPACT[2] ?? "", COMPACT[0] ?? ""],
      says: /chats\.jsonl:2: expected times in rising order, found 0 s after 30 s/,
    },
    {
      what: "no prompt length",
      lines: ['{"t":0,"out":1,"h":[0,1]}'],
      says: /chats\.jsonl:1: expected "in" as a number of 1 or more, found none/,
    },
    {
      what: "ids that do not make the prompt",
      lines: ['{"t":0,"in":2000,"out":1,"h":[0,1]}'],
      says: /chats\.jsonl:1: expected "h" .* 4 blocks of 512 tokens, found 1 blocks/,
    },
    {
      what: "ids that are texts",
      lines: ['{"timestamp":0,"input_length":9,"output_length":1,"hash_ids":["a"]}'],
      says: /expected "hash_ids" as an array of whole numbers/,
    },
  ];
  for (const { what, lines, says } of faults) {
    it(`is refused for ${what}`, () => assert.throws(() => read(lines), { code: "GTM_TRACE_INVALID", message: says }));
  }
});
