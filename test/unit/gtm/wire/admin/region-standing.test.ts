/** What follows from a region's states: the same as steering does with them. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AdminState, Health, Region } from "#gtm/domain/region.ts";
import { DEFAULT_POLICY } from "#gtm/steering/policy.ts";
import { standingOf } from "#gtm/wire/admin/region-standing.ts";
import { aConversation, aRegion, decideIn } from "#test/support/builders.ts";

const ADMINS: readonly AdminState[] = ["active", "drain-new", "drain-all", "down", "forced-up"];
const HEALTHS: readonly Health[] = ["healthy", "degraded", "unhealthy", "silent"];
const AGES: readonly (number | null)[] = [500, 40_000, null];

/** Whether the decision code lets the region serve; another region knows of itself, so nothing is decided blindly. */
const serves = (region: Region, conversation: Parameters<typeof decideIn>[0]["conversation"]): boolean => {
  const decision = decideIn({ regions: [region, aRegion("paris")], conversation: conversation ?? null });
  return decision.considered.some((one) => one.region === region.id && one.kind === "candidate");
};

describe("what the API says of a region is what the decision code does", () => {
  for (const admin of ADMINS) {
    for (const health of HEALTHS) {
      for (const reportAgeMs of AGES) {
        it(`${admin}, ${health}, report age ${reportAgeMs ?? "none"}`, () => {
          const region = aRegion("frankfurt", { admin, health, reportAgeMs });
          const { takesNew, keepsHeld, because } = standingOf(region, DEFAULT_POLICY);
          assert.equal(takesNew, serves(region, null), because);
          assert.equal(keepsHeld, serves(region, aConversation({ home: "frankfurt", contextTokens: 1_000 })), because);
        });
      }
    }
  }
});

describe("the sentence that says why", () => {
  const cases: readonly { region: Region; says: RegExp }[] = [
    { region: aRegion("frankfurt"), says: /^In service\.$/ },
    { region: aRegion("frankfurt", { health: "degraded" }), says: /though degraded/ },
    { region: aRegion("frankfurt", { isPartial: true }), says: /an agent is missing/ },
    { region: aRegion("frankfurt", { placement: null }), says: /No model is placed/ },
    { region: aRegion("frankfurt", { placement: { state: "down" } }), says: /No model is placed/ },
    { region: aRegion("frankfurt", { reportAgeMs: 45_000 }), says: /Last reported 45\.00 s ago/ },
    {
      region: aRegion("frankfurt", { admin: "forced-up", health: "unhealthy" }),
      says: /monitoring is ignored \(unhealthy\)/,
    },
    { region: aRegion("frankfurt", { admin: "down", health: "unhealthy" }), says: /Ordered down/ },
  ];
  for (const { region, says } of cases) {
    it(`matches ${says}`, () => {
      assert.match(standingOf(region, DEFAULT_POLICY).because, says);
    });
  }
});
