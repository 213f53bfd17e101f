/** How keys follow one another. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  currentFirst,
  faultOfRing,
  type KeyRing,
  newRing,
  type Turned,
  withNext,
  withNextActive,
  withoutOld,
} from "#shared/key-ring.ts";
import { keyOf, ringKey } from "#test/support/key-folder.ts";

const MADE = { madeAtMs: Date.UTC(2026, 11, 1, 4, 2, 11, 999), key: keyOf(1) };
const ringOf = (outcome: Turned): KeyRing => {
  assert.equal(outcome.kind, "turned", "why" in outcome ? outcome.why : "");
  return "ring" in outcome ? outcome.ring : [];
};
const states = (ring: KeyRing): readonly string[] => ring.map(({ id, state }) => `${id} ${state}`);
const whyOf = (outcome: Turned): string => ("why" in outcome ? outcome.why : "");

describe("a change of keys", () => {
  const first = newRing(9, MADE.madeAtMs, keyOf(9));
  const added = ringOf(withNext(first, MADE, 4));
  const active = ringOf(withNextActive(added));
  it("begins with one key that signs, made to the second", () => {
    assert.deepEqual(first, [{ id: 9, state: "current", madeAtMs: Date.UTC(2026, 11, 1, 4, 2, 11), key: keyOf(9) }]);
  });
  it("first adds a key that does not sign", () => {
    assert.deepEqual(states(added), ["10 next", "9 current"]);
    assert.deepEqual(
      currentFirst(added).map(({ id }) => id),
      [9, 10],
    );
  });
  it("then lets it sign, and still accepts the one before", () => {
    assert.deepEqual(states(active), ["10 current", "9 old"]);
    assert.deepEqual(
      currentFirst(active).map(({ id }) => id),
      [10, 9],
    );
  });
  it("ends when the old ones are dropped", () => {
    assert.deepEqual(states(ringOf(withoutOld(active))), ["10 current"]);
  });
  it("keeps every ring on the way sound", () => {
    for (const ring of [first, added, active]) assert.equal(faultOfRing(ring), null);
  });
  it("may begin again while old keys are accepted", () => {
    assert.deepEqual(states(ringOf(withNext(active, MADE, 4))), ["11 next", "10 current", "9 old"]);
  });
});

describe("a step that does not fit the ring", () => {
  it("is refused: a second next key", () => {
    assert.match(whyOf(withNext([ringKey(8, "next"), ringKey(7)], MADE, 4)), /^key 8 is waiting already/);
  });
  it("is refused: to use a key that was not made", () => {
    assert.match(whyOf(withNextActive([ringKey(7)])), /^no key is waiting/);
  });
  it("is refused: to drop where nothing is old", () => {
    assert.equal(whyOf(withoutOld([ringKey(8, "next"), ringKey(7)])), "there is no old key");
  });
  it("is refused: more keys than there may be", () => {
    assert.match(whyOf(withNext([ringKey(8), ringKey(7, "old")], MADE, 2)), /^there are 2 keys/);
  });
});

describe("the id of a next key", () => {
  it("follows the newest, so that a dropped key's labels name no key of ours", () => {
    assert.deepEqual(states(ringOf(withNext([ringKey(40), ringKey(39, "old")], MADE, 4))).at(0), "41 next");
  });
  it("begins at 0 again after 255, and leaves out what is taken", () => {
    const newest = { ...ringKey(255), madeAtMs: MADE.madeAtMs };
    assert.deepEqual(states(ringOf(withNext([newest, ringKey(0, "old")], MADE, 4))).at(0), "1 next");
  });
});

describe("a ring as a whole", () => {
  const cases: readonly (readonly [string, KeyRing, RegExp])[] = [
    ["no key signs", [ringKey(7, "old")], /one current key, found none/],
    ["two keys sign", [ringKey(7), ringKey(8)], /one current key, found 2/],
    ["two keys are next", [ringKey(7), ringKey(8, "next"), ringKey(9, "next")], /at most one next key, found 2/],
    ["an id stands twice", [ringKey(7), ringKey(7, "old")], /found 7 twice/],
    ["it is empty", [], /found none/],
  ];
  for (const [when, ring, says] of cases)
    it(`is faulty when ${when}`, () => assert.match(faultOfRing(ring) ?? "", says));
});
