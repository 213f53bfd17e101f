import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { createOldest } from "#gtm/domain/oldest.ts";

const act = fc.record({ key: fc.nat(6), kind: fc.constantFrom("renew", "renew", "delete", "pop", "ask") });
type Act = typeof act extends fc.Arbitrary<infer A> ? A : never;

/** @returns what was said to be the oldest, and what is met first, each time that somebody asked */
const played = (acts: readonly Act[]) => {
  const entries = new Map<number, number>();
  const oldest = createOldest(entries, (atMs) => atMs);
  return acts.flatMap(({ key, kind }, atMs) => {
    if (kind === "pop" || kind === "ask") {
      const [first = null] = entries;
      const found = oldest();
      if (kind === "pop") entries.delete(found?.[0] ?? -1);
      return [{ found, first }];
    }
    entries.delete(key);
    if (kind === "renew") entries.set(key, atMs);
    return [];
  });
};

describe("the oldest of a map that is kept in the order of time", () => {
  it("is the one that an iteration from the beginning meets first, whatever was renewed, deleted or asked before", () => {
    fc.assert(
      fc.property(fc.array(act, { maxLength: 60 }), (acts) => {
        for (const { found, first } of played(acts)) assert.deepEqual(found, first);
      }),
    );
  });
});
