/** Limits as globs: which text or glob lies within, and which of two limits lies within the other. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { matchesGlob } from "#gtm/steering/overrides.ts";
import { beyond, covers, isWithin, meet, scopeOf, scopeText } from "#gtm/wire/admin/scope.ts";

describe("what globs cover", () => {
  const cases: readonly { globs: readonly string[] | null; asked: string; covered: boolean }[] = [
    { globs: null, asked: "*", covered: true },
    { globs: ["eu-*"], asked: "eu-central", covered: true },
    { globs: ["eu-*"], asked: "eu-*", covered: true },
    { globs: ["eu-*"], asked: "eu-c*", covered: true },
    { globs: ["eu-*"], asked: "e*", covered: false },
    { globs: ["eu-*"], asked: "*", covered: false },
    { globs: ["eu-*"], asked: "us-east", covered: false },
    { globs: ["eu-*", "us-east"], asked: "us-east", covered: true },
    { globs: ["eu-*", "us-east"], asked: "us-*", covered: false },
    { globs: ["*-1"], asked: "eu-*-1", covered: true },
    { globs: ["*-1"], asked: "*1", covered: false },
  ];
  for (const { globs, asked, covered } of cases) {
    it(`${globs?.join(", ") ?? "any"} covers ${asked}: ${covered}`, () => assert.equal(covers(globs, asked), covered));
  }
});

const letters = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 5 });
const glob = fc.string({ unit: fc.constantFrom("a", "b", "*"), maxLength: 6 });
/** A text that a glob matches. */
const expanded = (text: string, runs: readonly string[]): string => {
  let at = 0;
  return text.replaceAll("*", () => runs[at++ % runs.length] ?? "");
};

describe("for any globs", () => {
  it("whatever a covered glob matches is covered", () => {
    fc.assert(
      fc.property(glob, glob, fc.array(letters, { minLength: 1, maxLength: 4 }), (outer, inner, runs) => {
        if (covers([outer], inner)) assert.ok(covers([outer], expanded(inner, runs)));
      }),
    );
  });
  it("two meet if some text is matched by both, and only then", () => {
    const texts = ["", "a", "b", "aa", "ab", "ba", "bb", "aab", "aba", "abb", "baa", "bab", "bba", "abab", "baba"];
    fc.assert(
      fc.property(glob, glob, fc.array(letters, { minLength: 1, maxLength: 4 }), (one, other, runs) => {
        assert.equal(meet(one, other), meet(other, one));
        const candidates = [...texts, expanded(one, runs), expanded(other, runs)];
        if (candidates.some((text) => matchesGlob(one, text) && matchesGlob(other, text))) assert.ok(meet(one, other));
        if (!one.includes("*")) assert.equal(meet(one, other), matchesGlob(other, one));
      }),
    );
  });
  it("those that share nothing do not meet", () => {
    for (const [one, other] of [
      ["a*", "b*"],
      ["*a", "*b"],
      ["a", "aa"],
      ["", "a"],
      ["a*b", "a*a"],
    ] as const) {
      assert.equal(meet(one, other), false, `${one} ${other}`);
    }
  });
});

describe("a scope", () => {
  it("with a lone star is not limited there, and says what it is limited to", () => {
    assert.deepEqual(scopeOf({ regions: ["*", "eu-*"], pools: ["chat"] }), {
      regions: null,
      pools: ["chat"],
      tenants: null,
    });
    assert.equal(
      scopeText(scopeOf({ regions: ["eu-*", "us-1"], tenants: ["acme"] })),
      "regions eu-*, us-1; tenants acme",
    );
    assert.equal(scopeText(scopeOf({})), "");
  });
  it("lies within another where each of its limits does", () => {
    const eu = scopeOf({ regions: ["eu-*"] });
    assert.ok(isWithin(eu, scopeOf({})));
    assert.ok(isWithin(scopeOf({ regions: ["eu-central"], pools: ["chat"] }), eu));
    assert.ok(!isWithin(scopeOf({}), eu));
    assert.deepEqual(beyond(scopeOf({ regions: ["eu-1", "us-1"], pools: ["chat"] }), eu), ["regions"]);
    assert.deepEqual(beyond(scopeOf({}), scopeOf({ pools: ["a"], tenants: ["b"] })), ["pools", "tenants"]);
  });
});
