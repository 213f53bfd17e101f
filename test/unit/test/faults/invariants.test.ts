/** The fault suite's invariants see what they are for: each violated, and each not violated by what is excused. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type GtmName, outsideOf, type Told } from "#test/faults/history.ts";
import {
  againstOrders,
  keptShare,
  lostOrders,
  onDownRegion,
  restless,
  twoHomes,
  unanswered,
  unsettled,
} from "#test/faults/invariants.ts";

const told = (atMs: number, region: string | null, wish: Partial<Told> = {}): Told => ({
  ...{ askedAtMs: atMs - 1, atMs, gtm: "gtm-a", wire: "http", conversation: "c", outcome: "307", verdict: "pinned" },
  region,
  ...wish,
});
/** At both in turns, from the first of a second on, every half second. */
const inTurns = (regions: readonly string[]): readonly Told[] =>
  regions.map((region, at) => told(at * 500, region, { gtm: (["gtm-a", "gtm-b"] as const)[at % 2] as GtmName }));
const WINDOW_MS = 2_000;
const NOTHING: readonly string[] = [];

describe("every query is answered", () => {
  const late = told(5_000, null, { askedAtMs: 0, outcome: "TimeoutError" });
  const cases: readonly { when: string; history: readonly Told[]; violations: number }[] = [
    { when: "a redirect and an address", history: [told(1, "x"), told(2, "x", { outcome: "NOERROR" })], violations: 0 },
    { when: "a 503", history: [told(1, null, { outcome: "503" })], violations: 1 },
    { when: "SERVFAIL", history: [told(1, null, { outcome: "SERVFAIL" })], violations: 1 },
    { when: "an empty answer", history: [told(1, null, { outcome: "NOERROR" })], violations: 1 },
    { when: "no answer", history: [late], violations: 1 },
  ];
  for (const { when, history, violations } of cases)
    it(`has ${violations} violations with ${when}`, () => {
      assert.equal(unanswered(history, []).length, violations);
    });
  it("excuses what was under way to a GTM that was gone, and nothing of the other", () => {
    const gone = [{ gtm: "gtm-a", fromMs: 4_000, toMs: 6_000 }] as const;
    assert.deepEqual(unanswered([late], gone), NOTHING);
    assert.equal(unanswered([{ ...late, gtm: "gtm-b" }], gone).length, 1);
    assert.equal(unanswered([{ ...late, askedAtMs: 6_001, atMs: 9_000 }], gone).length, 1);
  });
});

describe("nobody is sent to a region that is down", () => {
  const downs = [{ region: "x", fromMs: 1_000, toMs: 9_000 }];
  it("within the stated time, which begins when it dies", () => {
    assert.deepEqual(onDownRegion([told(4_000, "x"), told(8_000, "y"), told(9_500, "x")], downs, 4_300), NOTHING);
    assert.equal(onDownRegion([told(6_000, "x")], downs, 4_300).length, 1);
  });
});

describe("no two homes beyond the window", () => {
  it("are found where both keep to their own", () => {
    assert.equal(twoHomes(inTurns(["x", "y", "x", "y", "x", "y"]), [], WINDOW_MS).length, 0);
    assert.equal(twoHomes(inTurns(["x", "y", "x", "y", "x", "y", "x"]), [], WINDOW_MS).length > 0, true);
  });
  it("are not where one follows the other", () => {
    assert.deepEqual(twoHomes(inTurns(["x", "x", "y", "x", "y", "y", "y", "y", "y"]), [], WINDOW_MS), NOTHING);
  });
  it("are excused while the store was away, and not afterwards", () => {
    const split = inTurns(["x", "y", "x", "y", "x", "y", "x", "y", "x"]);
    assert.deepEqual(twoHomes(split, [{ fromMs: 0, toMs: 2_000 }], WINDOW_MS), NOTHING);
    assert.equal(twoHomes(split, [{ fromMs: 0, toMs: 1_000 }], WINDOW_MS).length > 0, true);
  });
  it("are those of one conversation", () => {
    const others = inTurns(["x", "y", "x", "y", "x", "y", "x"]).map((one) => ({ ...one, conversation: one.gtm }));
    assert.deepEqual(twoHomes(others, [], WINDOW_MS), NOTHING);
  });
});

describe("a home that serves is not left", () => {
  const history = inTurns(["x", "x", "y", "y"]);
  it("for nothing", () => {
    assert.equal(restless(history, [], [], 500).length, 1);
  });
  it("but for one that is down, in the aftermath of a fault, or within the window of its first turn", () => {
    assert.deepEqual(restless(history, [], [{ region: "x", fromMs: 600, toMs: null }], 500), NOTHING);
    assert.deepEqual(restless(history, [{ fromMs: 0, toMs: 1_500 }], [], 500), NOTHING);
    assert.equal(restless(history, [{ fromMs: 0, toMs: 900 }], [], 500).length, 1);
    assert.deepEqual(restless(history, [], [], 1_000), NOTHING);
  });
  it("but within the window of having had to leave another, which does not begin again by itself", () => {
    const down = [{ region: "x", fromMs: 1_000, toMs: null }];
    assert.deepEqual(restless(inTurns(["x", "x", "x", "y", "z", "z"]), [], down, 500), NOTHING);
    assert.equal(restless(inTurns(["x", "x", "x", "y", "z", "y", "z"]), [], down, 500).length, 2);
  });
});

describe("at the end all have settled", () => {
  it("where both name the same home", () => {
    assert.deepEqual(unsettled(inTurns(["x", "y", "y", "y"]), 400), NOTHING);
    assert.equal(unsettled(inTurns(["x", "y", "y", "x"]), 400).length, 1);
  });
  it("only where both were asked", () => {
    assert.equal(unsettled([told(1_000, "x"), told(2_000, "x")], 0).length, 1);
  });
});

describe("no order is lost", () => {
  const drained = { region: "x", admin: "drain-all", askedAtMs: 990, atMs: 1_000 } as const;
  const saying = (a: string, b: string) =>
    new Map([
      ["gtm-a", new Map([["x", a]])],
      ["gtm-b", new Map([["x", b]])],
    ]);
  it("that was taken, on either GTM", () => {
    const taken = [{ ...drained, status: 200 }];
    assert.deepEqual(lostOrders(taken, saying("drain-all", "drain-all")), NOTHING);
    assert.equal(lostOrders(taken, saying("drain-all", "active")).length, 1);
    assert.equal(lostOrders(taken, new Map([["gtm-a", new Map()]])).length, 1);
  });
  it("while one that was refused may stand or not, but on both alike only what was ordered", () => {
    const refused = [{ ...drained, status: 503 }];
    assert.deepEqual(lostOrders(refused, saying("active", "active")), NOTHING);
    assert.deepEqual(lostOrders(refused, saying("drain-all", "drain-all")), NOTHING);
    assert.equal(lostOrders(refused, saying("down", "active")).length, 1);
  });
  it("in what is answered", () => {
    const taken = [{ ...drained, status: 200 }];
    const answered = [told(1_500, "x"), told(4_500, "x")];
    assert.equal(againstOrders(answered, taken, [], 1_000).length, 1);
    assert.deepEqual(againstOrders(answered, taken, [{ fromMs: 1_000, toMs: 4_000 }], 1_000), NOTHING);
    const undrained = [...taken, { region: "x", admin: "active", askedAtMs: 2_990, atMs: 3_000, status: 200 }] as const;
    assert.deepEqual(againstOrders(answered, undrained, [], 1_000), NOTHING);
  });
});

describe("the share of homes that were kept", () => {
  it("counts conversations whose home served all the time", () => {
    const moved = inTurns(["x", "x", "x", "y"]).map((one) => ({ ...one, conversation: "d" }));
    assert.equal(keptShare([...inTurns(["x", "x", "x", "x"]), ...moved], 1_200, []), 0.5);
    assert.equal(keptShare(moved, 1_200, [{ region: "x", fromMs: 1_300, toMs: null }]), null);
  });
});

describe("time outside of spans", () => {
  it("counts overlaps once and open ends to the end", () => {
    const spans = [
      { fromMs: 30, toMs: null },
      { fromMs: 10, toMs: 20 },
      { fromMs: 15, toMs: 18 },
    ];
    assert.equal(outsideOf(spans, 0, 100), 20);
    assert.equal(outsideOf([], 0, 100), 100);
  });
});
