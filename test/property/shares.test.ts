/** Laws of shares, for every world and conversation. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { type Decision, regionOf } from "#gtm/domain/decision.ts";
import type { OverrideRule } from "#gtm/domain/world.ts";
import { overShareOf } from "#gtm/steering/overrides.ts";
import { situation } from "#test/support/arbitraries.ts";
import { decideIn, type Situation } from "#test/support/builders.ts";

const runs = { numRuns: Number(process.env["PROPERTY_RUNS"] ?? 1_000) };
const shareOf = (share: number, region = "frankfurt", id = "o1"): OverrideRule => ({
  ...{ id, region, pool: "*", model: "*", tenant: "*" },
  kind: "share",
  share,
});
const under = (one: Situation, overrides: readonly OverrideRule[]): Decision =>
  decideIn({ ...one, world: { ...one.world, overrides } });
const fraction = fc.double({ min: 0, max: 1, noNaN: true });
const mayServe = (decision: Decision, region: string): boolean =>
  decision.considered.some((one) => one.kind === "candidate" && one.region === region);

describe("a share, for every world, conversation and region", () => {
  it("that is raised keeps no region out that the smaller one let in, whatever override says it", () => {
    fc.assert(
      fc.property(situation, fraction, fraction, (one, a, b) => {
        const [low, high] = a <= b ? [a, b] : [b, a];
        const before = under(one, [shareOf(low)]);
        if (before.yieldedOverrideIds.length > 0 || !mayServe(before, "frankfurt")) return;
        assert.ok(mayServe(under(one, [shareOf(high, "frankfurt", "o2")]), "frankfurt"));
      }),
      runs,
    );
  });

  it("never leaves a conversation without a region that had one", () => {
    fc.assert(
      fc.property(situation, fraction, fraction, (one, a, b) => {
        const free = regionOf(under(one, []).verdict);
        const held = regionOf(under(one, [shareOf(a, "*"), shareOf(b, "f*", "o2")]).verdict);
        assert.equal(held === null, free === null);
      }),
      runs,
    );
  });

  it("of 1 changes nothing but the record's override", () => {
    fc.assert(
      fc.property(situation, (one) => {
        const free = under(one, []);
        const all = under(one, [shareOf(1, "*")]);
        assert.deepEqual([all.verdict, all.considered], [free.verdict, free.considered]);
      }),
      runs,
    );
  });

  it("lets in what it says, within five standard deviations of 20 000 conversations, and of several the smaller", () => {
    const count = 20_000;
    for (const share of [0.01, 0.2, 0.5, 0.9]) {
      const rules = [shareOf(share), shareOf(Math.sqrt(share), "frankfurt", "o2")];
      let inside = 0;
      for (let at = 0; at < count; at++)
        if (overShareOf(rules, "frankfurt", `conversation ${at}`) === null) inside += 1;
      const deviation = Math.sqrt((share * (1 - share)) / count);
      assert.ok(Math.abs(inside / count - share) < 5 * deviation, `${share}: ${inside} of ${count}`);
    }
  });

  it("of two regions are drawn apart: a quarter is in both halves", () => {
    const [a, b] = [[shareOf(0.5, "frankfurt")], [shareOf(0.5, "paris")]];
    const keys = Array.from({ length: 10_000 }, (_, at) => `conversation ${at}`);
    const both = keys.filter(
      (key) => overShareOf(a, "frankfurt", key) === null && overShareOf(b, "paris", key) === null,
    );
    assert.ok(Math.abs(both.length / keys.length - 0.25) < 0.022, `${both.length} of ${keys.length}`);
  });
});
