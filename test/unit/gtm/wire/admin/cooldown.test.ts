/** Who changed the same thing lately: the safety rule against two operators who take back each other's orders. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type ChangeTarget, lateChangeOf } from "#gtm/wire/admin/cooldown.ts";
import type { Override, RegionOrder } from "#shared/records.ts";
import { regionId } from "#test/support/builders.ts";

const NOW_MS = 1_000_000_000;
const frankfurt: ChangeTarget = { regions: ["frankfurt"], pool: "*", model: "*", tenant: "*" };
const order = (agoMs: number, wish: Partial<RegionOrder> = {}): RegionOrder => ({
  ...{ region: regionId("frankfurt"), admin: "drain-all", comment: "drivers", actor: "bob" },
  ...{ orderedAtMs: NOW_MS - agoMs, expiresAtMs: null },
  ...wish,
});
const override = (agoMs: number, wish: Partial<Override> = {}): Override => ({
  ...{
    id: "o1",
    kind: "deny",
    region: "frank*",
    pool: "*",
    model: "*",
    tenant: "*",
    comment: "contract",
    actor: "bob",
  },
  ...{ orderedAtMs: NOW_MS - agoMs, expiresAtMs: NOW_MS + 3_600_000 },
  ...wish,
});
type Known = { readonly regions?: readonly RegionOrder[]; readonly overrides?: readonly Override[] };
const late = ({ regions = [], overrides = [] }: Known, target = frankfurt, cooldownMs = 60_000) => {
  const record = { regions: [...regions], overrides: [...overrides] };
  const found = lateChangeOf(record, { target, actor: "alice" }, { nowMs: NOW_MS, cooldownMs });
  return found === null ? null : `${found.actor} ${found.did}`;
};

describe("within a cooldown of 60 s", () => {
  const cases: readonly { what: string; known: Known; target?: ChangeTarget; expected: string | null }[] = [
    {
      what: "a drain by somebody else 59 s ago",
      known: { regions: [order(59_000)] },
      expected: "bob drained it (drain-all)",
    },
    { what: "a drain by somebody else 60 s ago", known: { regions: [order(60_000)] }, expected: null },
    { what: "one's own drain", known: { regions: [order(1_000, { actor: "alice" })] }, expected: null },
    {
      what: "a down by a clock that is ahead",
      known: { regions: [order(-5_000, { admin: "down" })] },
      expected: "bob ordered it down",
    },
    {
      what: "a return by somebody else",
      known: { regions: [order(5_000, { admin: "active", expiresAtMs: NOW_MS - 5_000 })] },
      expected: "bob returned it to service",
    },
    {
      what: "a drain of another region",
      known: { regions: [order(5_000, { region: regionId("paris") })] },
      expected: null,
    },
    {
      what: "an order that has ended by itself",
      known: { regions: [order(7_200_000, { expiresAtMs: NOW_MS - 1_000 })] },
      expected: null,
    },
    {
      what: "an override for all of its traffic",
      known: { overrides: [override(5_000)] },
      expected: "bob gave override o1 (deny)",
    },
    {
      what: "an override that was cancelled",
      known: { overrides: [override(5_000, { expiresAtMs: NOW_MS - 5_000 })] },
      expected: "bob cancelled override o1",
    },
    {
      what: "an override that forces another region",
      known: { overrides: [override(5_000, { kind: "force", region: "paris" })] },
      expected: "bob gave override o1 (force)",
    },
    {
      what: "an override that forces this region",
      known: { overrides: [override(5_000, { kind: "force" })] },
      expected: null,
    },
    {
      what: "an override of one tenant's",
      known: { overrides: [override(5_000, { tenant: "acme" })] },
      expected: null,
    },
    {
      what: "the same tenant's, for an override about that tenant",
      known: { overrides: [override(5_000, { tenant: "acme" })] },
      ...{ target: { ...frankfurt, tenant: "acme" }, expected: "bob gave override o1 (deny)" },
    },
    {
      what: "a drain of the region, for an override about one tenant",
      known: { regions: [order(5_000)] },
      ...{ target: { ...frankfurt, tenant: "acme" }, expected: null },
    },
    {
      what: "one's own newer change after somebody else's",
      known: { regions: [order(1_000, { actor: "alice" })], overrides: [override(5_000)] },
      expected: null,
    },
    {
      what: "somebody else's newer change after one's own",
      known: { regions: [order(5_000, { actor: "alice" })], overrides: [override(1_000)] },
      expected: "bob gave override o1 (deny)",
    },
  ];
  for (const { what, known, target, expected } of cases) {
    it(`${what} ${expected === null ? "does not count" : "counts"}`, () => {
      assert.equal(late(known, target), expected);
    });
  }
});

describe("without a cooldown", () => {
  it("nothing is too soon", () => assert.equal(late({ regions: [order(0)] }, frankfurt, 0), null));
});
