/** RAGPulse: contents become chained blocks, and only what several sessions have is shared. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { blockAt, blocksIn } from "#gtm/simulation/traces/block-runs.ts";
import { readRagpulse } from "#gtm/simulation/traces/ragpulse.ts";

const TABLE = ["id,tokens", "1,128", "2,100", "3,64", "4,20", "5,64"];
const question = (t: number, sid: number, ...b: readonly (readonly number[])[]) =>
  JSON.stringify({ t, in: 300, out: 9, sid, b: [b[0], b[1] ?? [], [], [], [4]] });
const read = (lines: readonly string[], table: readonly string[] = TABLE, hasten = 1) =>
  readRagpulse({ name: "rag.jsonl", lines }, { name: "tokens.csv", lines: table }, hasten);

const blocksOf = (lines: readonly string[]) => {
  const turns = read(lines).clients.flatMap(({ turns }) => turns);
  return turns.map(({ blocks }) => Array.from({ length: blocksIn(blocks) }, (_, at) => blockAt(blocks, at) ?? 0));
};

describe("RAGPulse's questions", () => {
  it("share the blocks of a system prompt that two sessions have, and no more once anything differs", () => {
    const [first, second, third] = blocksOf([
      question(0, 0, [1, 3], [2]),
      question(1, 1, [1, 3], [5]),
      question(2, 2, [1, 5], [2]),
    ]);
    assert.equal(first?.length, 4);
    assert.deepEqual(first?.slice(0, 3), second?.slice(0, 3));
    assert.ok(first?.slice(0, 3).every((id) => id < 0));
    assert.notEqual(first?.[3], second?.[3]);
    assert.deepEqual(first?.slice(0, 2), third?.slice(0, 2));
    // Content 5 is nobody else's system prompt, and what stands behind it is chained to it.
    assert.ok(third?.slice(2).every((id) => id > 0 && !first?.includes(id) && !second?.includes(id)));
  });

  it("are one client a session, their times divided by what hastens them", () => {
    const { clients } = read([question(0, 3, [1]), question(100, 3, [1]), question(400, 9, [1])], TABLE, 10);
    assert.deepEqual(
      clients.map(({ startsAtMs, turns }) => [startsAtMs, turns.map(({ afterMs }) => afterMs)]),
      [
        [0, [0, 10_000]],
        [40_000, [0]],
      ],
    );
  });

  it("are refused for unknown contents, missing lists and a table that is none", () => {
    assert.throws(
      () => read([question(0, 0, [77])]),
      /rag\.jsonl:1: expected only contents of the table of tokens, found 77/,
    );
    assert.throws(() => read(['{"t":0,"in":1,"out":1,"sid":0,"b":[[1]]}']), /rag\.jsonl:1: expected "b" as 5 arrays/);
    assert.throws(() => read([question(0, 0, [1])], ["tokens"]), /tokens\.csv:1: expected the heading "id,tokens"/);
    assert.throws(() => read([question(0, 0, [1])], ["id,tokens", "1,x"]), /tokens\.csv:2: expected two whole numbers/);
    assert.throws(
      () => read([question(5, 0, [1]), question(4, 0, [1])]),
      /rag\.jsonl:2: expected times in rising order/,
    );
  });
});
