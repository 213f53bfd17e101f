/** The safety rules one by one: what breaks each, and what does not. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AdminState, Region } from "#gtm/domain/region.ts";
import { DEFAULT_SAFETY, type SafetyLimits } from "#gtm/domain/safety-limits.ts";
import { DEFAULT_POLICY } from "#gtm/steering/policy.ts";
import { modelChanges, tenantsOf } from "#gtm/wire/admin/model-changes.ts";
import { withAdmin } from "#gtm/wire/admin/order-plan.ts";
import { ProblemError } from "#gtm/wire/admin/problem.ts";
import { type Evidence, passRules, violationsOf } from "#gtm/wire/admin/safety-rules.ts";
import type { RegionUse } from "#gtm/wire/admin/use-after.ts";
import { aPool, aRegion, aWorld, NOW_MS, regionId } from "#test/support/builders.ts";
import { decisionId } from "./fake-ports.ts";

const at = { nowMs: NOW_MS, id: decisionId(0) };
const nothing: Evidence = { models: { served: [] }, uses: [], late: null };
/** What the rules say of an order about Frankfurt, as "rule found/limit". */
const broken = (regions: readonly Region[], to: AdminState, limits: Partial<SafetyLimits>): readonly string[] => {
  const now = aWorld(regions);
  const models = modelChanges(
    now,
    withAdmin(now, regionId("frankfurt"), to),
    {
      ...{ pools: [aPool(regions)], policy: DEFAULT_POLICY },
    },
    at,
  );
  return violationsOf({ ...nothing, models }, { ...DEFAULT_SAFETY, ...limits }).map(
    ({ rule, found, limit }) => `${rule} ${found}/${limit}`,
  );
};
const two = [aRegion("frankfurt"), aRegion("paris")];
const three = [...two, aRegion("virginia")];

describe("minActiveRegions", () => {
  const cases: readonly { when: string; regions: readonly Region[]; limit: number; expected: readonly string[] }[] = [
    { when: "two of three are left, and two must be", regions: three, limit: 2, expected: [] },
    { when: "one of two is left, and two must be", regions: two, limit: 2, expected: ["minActiveRegions 1/2"] },
    {
      when: "another one drains already",
      regions: [...two, aRegion("virginia", { admin: "drain-new" })],
      ...{ limit: 2, expected: ["minActiveRegions 1/2"] },
    },
    {
      when: "another one has no model",
      regions: [...two, aRegion("virginia", { placement: null })],
      ...{ limit: 2, expected: ["minActiveRegions 1/2"] },
    },
    {
      when: "the region served nothing before",
      regions: [aRegion("frankfurt", { health: "unhealthy" }), aRegion("paris")],
      ...{ limit: 2, expected: [] },
    },
    { when: "any number may be left", regions: two, limit: 0, expected: [] },
  ];
  for (const { when, regions, limit, expected } of cases) {
    for (const to of ["drain-new", "drain-all", "down"] as const) {
      it(`${expected.length === 0 ? "lets" : "refuses"} ${to} where ${when}`, () => {
        assert.deepEqual(broken(regions, to, { minActiveRegions: limit }), expected);
      });
    }
  }
  it("says which regions are left", () => {
    const now = aWorld(two);
    const ordered = withAdmin(now, regionId("frankfurt"), "down");
    const models = modelChanges(now, ordered, { pools: [aPool(two)], policy: DEFAULT_POLICY }, at);
    assert.deepEqual(
      violationsOf({ ...nothing, models }, { ...DEFAULT_SAFETY, minActiveRegions: 2 }).map(({ detail }) => detail),
      ["1 region (paris) would take new conversations, where at least 2 must"],
    );
  });
});

describe("minRegionsPerModel", () => {
  const cold = aRegion("paris", { placement: { state: "on-disk" }, gpuMemoryFreeBytes: 200e9 });
  const cases: readonly { when: string; regions: readonly Region[]; limit: number; expected: readonly string[] }[] = [
    { when: "one of two is left, and one must be", regions: two, limit: 1, expected: [] },
    { when: "one of two is left, and two must be", regions: two, limit: 2, expected: ["minRegionsPerModel 1/2"] },
    {
      when: "none is left",
      regions: [aRegion("frankfurt"), aRegion("paris", { placement: null })],
      ...{ limit: 1, expected: ["minRegionsPerModel 0/1"] },
    },
    { when: "one is left that would have to load it", regions: [aRegion("frankfurt"), cold], limit: 1, expected: [] },
    { when: "no model matters", regions: [aRegion("frankfurt")], limit: 0, expected: [] },
  ];
  for (const { when, regions, limit, expected } of cases) {
    it(`${expected.length === 0 ? "lets" : "refuses"} a region go where ${when}`, () => {
      assert.deepEqual(broken(regions, "down", { minRegionsPerModel: limit }), expected);
    });
  }
  it("looks at everybody, and at a tenant that an override names", () => {
    assert.deepEqual([tenantsOf("*"), tenantsOf("default")], [["default"], ["default"]]);
    assert.deepEqual(
      [tenantsOf("acme"), tenantsOf("ac*")],
      [
        ["default", "acme"],
        ["default", "ac"],
      ],
    );
    const now = aWorld(two);
    const deny = { id: "o1", kind: "deny", region: "*", pool: "*", model: "*", tenant: "acme" } as const;
    const models = modelChanges(
      now,
      { ...now, overrides: [deny] },
      { pools: [aPool(two)], policy: DEFAULT_POLICY },
      { ...at, tenants: tenantsOf("acme") },
    );
    assert.deepEqual(
      violationsOf({ ...nothing, models }, DEFAULT_SAFETY).map(({ detail }) => detail),
      ["llama-70b of pool chat would have no region that takes new conversations of tenant acme"],
    );
  });
});

describe("maxUsedAfterDrainFraction of 0.95", () => {
  const use = (wish: Partial<RegionUse>): RegionUse => ({
    ...{ region: "paris", model: "llama-70b", arriving: 10, kvUsedFraction: null, prefillUsedFraction: null },
    ...wish,
  });
  const said = (uses: readonly RegionUse[], limit: number | null = 0.95) =>
    violationsOf({ ...nothing, uses }, { ...DEFAULT_SAFETY, maxUsedAfterDrainFraction: limit }).map(
      ({ detail, found }) => [found, detail],
    );
  it("refuses what would fill a region's KV memory, or its prefill rate, and says both", () => {
    const full = use({ kvUsedFraction: { now: 0.5, after: 0.97 }, prefillUsedFraction: { now: 0.6, after: 1.2 } });
    assert.deepEqual(said([full]), [
      [
        0.97,
        "paris would use 0.97 of its KV memory for llama-70b once they have arrived (now 0.5), where at most 0.95 may",
      ],
      [
        1.2,
        "paris would use 1.2 of its prefill rate for llama-70b once they have arrived (now 0.6), where at most 0.95 may",
      ],
    ]);
  });
  it("lets go what stays under it, what was over it before, and what nobody knows", () => {
    assert.deepEqual(said([use({ kvUsedFraction: { now: 0.4, after: 0.95 } })]), []);
    assert.deepEqual(said([use({ kvUsedFraction: { now: 0.99, after: 0.99 } })]), []);
    assert.deepEqual(said([use({})]), []);
  });
  it("of null does not look", () => {
    assert.deepEqual(said([use({ kvUsedFraction: { now: 0.5, after: 2 } })], null), []);
  });
});

describe("several rules that are broken at once", () => {
  const counted = { refused: [] as string[], overridden: [] as string[] };
  const safety = {
    refused: (rule: string) => void counted.refused.push(rule),
    overridden: (rule: string) => void counted.overridden.push(rule),
  };
  const both = violationsOf(
    {
      ...nothing,
      late: { region: "frankfurt", actor: "bob", did: "drained it (drain-all)", comment: "x", agoMs: 12_000 },
    },
    DEFAULT_SAFETY,
  ).concat({ rule: "minRegionsPerModel", detail: "llama of chat would have none", found: 0, limit: 1 });

  it("are all told, with what was found, the limit, and how all are passed", () => {
    assert.throws(
      () => passRules(both, [], safety),
      (error) => {
        assert.ok(error instanceof ProblemError);
        const { status, code, detail, violations, ...problem } = error.problem;
        assert.deepEqual([status, code], [409, "safety-rule"]);
        assert.equal(
          detail,
          "frankfurt was changed 12 s ago (bob drained it (drain-all): x); talk to bob, or wait 48 s; llama of chat would have none. override_rule=cooldown,minRegionsPerModel does it all the same.",
        );
        assert.deepEqual([problem["rule"], problem["found"], problem["limit"]], ["cooldown", 12_000, 60_000]);
        assert.equal(problem["pass"], "override_rule=cooldown,minRegionsPerModel");
        assert.deepEqual(violations, both);
        return true;
      },
    );
    assert.deepEqual(counted.refused, ["cooldown", "minRegionsPerModel"]);
  });
  it("are not passed by the name of one", () => {
    assert.throws(() => passRules(both, ["cooldown"], safety), { message: /^llama of chat would have none\. / });
    assert.deepEqual(counted.overridden, []);
  });
  it("are passed by the names of all, and a name too many does no harm", () => {
    assert.deepEqual(passRules(both, ["minRegionsPerModel", "cooldown", "minActiveRegions"], safety), [
      ...["cooldown", "minRegionsPerModel"],
    ]);
    assert.deepEqual(counted.overridden, ["cooldown", "minRegionsPerModel"]);
  });
});
