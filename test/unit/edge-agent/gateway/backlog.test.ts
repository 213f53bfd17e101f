import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { backlogMs, type InFlight, type Lane, prefillStart } from "#edge-agent/gateway/backlog.ts";

const turn = (seq: number, change: Partial<InFlight> = {}): InFlight => ({
  seq,
  submittedAtMs: 1_000,
  prefillMs: 400,
  decodeMs: null,
  isStreamed: true,
  firstTokenAtMs: null,
  ...change,
});
const lane = (turns: readonly InFlight[], change: Partial<Lane> = {}): Lane => ({
  turns,
  prefilledAtMs: Number.NEGATIVE_INFINITY,
  prefilledSeq: 0,
  slots: null,
  ...change,
});

describe("a backlog of prefills of 400 ms each, sent at 1 000 ms", () => {
  const cases: readonly (readonly [what: string, lane: Lane, nowMs: number, expected: number])[] = [
    ["nothing in flight", lane([]), 1_000, 0],
    ["one, just sent", lane([turn(1)]), 1_000, 400],
    ["one, of which 300 ms are done: the running prefill counts with what is left", lane([turn(1)]), 1_300, 100],
    ["three, one after another", lane([turn(1), turn(2), turn(3)]), 1_100, 1_100],
    [
      "three, of which the first showed its first token after 200 ms, sooner than thought",
      lane([turn(1, { firstTokenAtMs: 1_200 }), turn(2), turn(3)], { prefilledAtMs: 1_200, prefilledSeq: 1 }),
      1_200,
      800,
    ],
    [
      "one that decodes",
      lane([turn(1, { firstTokenAtMs: 1_400 })], { prefilledAtMs: 1_400, prefilledSeq: 1 }),
      1_500,
      0,
    ],
    ["a stream 600 ms late: as long again", lane([turn(1)]), 2_000, 600],
    ["a reply in one piece after its time: it decodes", lane([turn(1, { isStreamed: false })]), 2_000, 0],
    ["no header yet after its time: nobody knows that it is late", lane([turn(1, { isStreamed: null })]), 2_000, 0],
    [
      "a reply in one piece, behind which a stream showed its first token: it has passed",
      lane([turn(1, { isStreamed: false, prefillMs: 9_000 }), turn(2, { firstTokenAtMs: 1_500 })], {
        prefilledAtMs: 1_500,
        prefilledSeq: 2,
      }),
      1_500,
      0,
    ],
  ];
  for (const [what, one, nowMs, expected] of cases) {
    it(`${what}: ${expected} ms`, () => assert.equal(backlogMs(one, nowMs), expected));
  }
});

describe("two slots, both decoding until 3 000 and 5 000 ms", () => {
  const decoding = [
    turn(1, { firstTokenAtMs: 1_400, decodeMs: 1_600 }),
    turn(2, { firstTokenAtMs: 1_800, decodeMs: 3_200 }),
  ];
  const at = (turns: readonly InFlight[], slots: number) =>
    backlogMs(lane(turns, { prefilledAtMs: 1_800, prefilledSeq: 2, slots }), 2_000);
  it("keep the next one waiting until the first of them ends", () => assert.equal(at(decoding, 2), 1_000));
  it("keep nobody waiting where there are three", () => assert.equal(at(decoding, 3), 0));
});

describe("when a prefill began", () => {
  const shown = lane([turn(1, { firstTokenAtMs: 1_300 }), turn(2)], { prefilledAtMs: 1_300, prefilledSeq: 1 });
  it("is when the one before showed its first token", () => {
    assert.deepEqual(prefillStart(shown, turn(2), 1_700), { atMs: 1_300, isSeen: true });
  });
  it("is when it was sent, where nothing came before", () => {
    assert.deepEqual(prefillStart(lane([turn(1)]), turn(1), 1_400), { atMs: 1_000, isSeen: true });
  });
  it("is an estimate behind a reply in one piece", () => {
    const behind = lane([turn(1, { isStreamed: false }), turn(2)]);
    assert.deepEqual(prefillStart(behind, turn(2), 1_900), { atMs: 1_400, isSeen: false });
  });
});
