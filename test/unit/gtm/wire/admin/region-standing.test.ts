/** What follows from a region's states: the same as steering does with them. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { healthOf } from "#gtm/domain/health.ts";
import type { AdminState, Health, Region } from "#gtm/domain/region.ts";
import { DEFAULT_POLICY } from "#gtm/steering/policy.ts";
import { standingOf } from "#gtm/wire/admin/region-standing.ts";
import { aConversation, aRegion, decideIn, MODEL } from "#test/support/builders.ts";

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
    { region: aRegion("frankfurt", { health: "degraded" }), says: /though degraded: its last probe failed\.$/ },
    {
      region: aRegion("frankfurt", { health: "degraded", isPartial: true }),
      says: /though degraded: an agent is missing, so counts and capacity are lower bounds\.$/,
    },
    {
      region: aRegion("frankfurt", {
        ...{ health: "degraded", reportAgeMs: 7_200 },
        placement: { model: MODEL, kvCacheUsedFraction: 0.978 },
      }),
      says: new RegExp(`though degraded: last reported 7\\.2 s ago; the KV cache of ${MODEL} is 97 % full\\.$`),
    },
    {
      region: aRegion("frankfurt", { health: "degraded", admin: "drain-new", reportAgeMs: 7_200 }),
      says: /takes no new ones\. Degraded: last reported 7\.2 s ago\.$/,
    },
    {
      region: aRegion("frankfurt", { health: "degraded", admin: "forced-up", reportAgeMs: 7_200 }),
      says: /monitoring is ignored \(degraded: last reported 7\.2 s ago\)\.$/,
    },
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

describe("why a region is degraded", () => {
  const policy = { ...DEFAULT_POLICY, staleAfterMs: 5_000, expiredAfterMs: 30_000 };
  const probes = [null, { isDown: false, failedInARow: 1, goodInARow: 0 }];
  for (const probe of probes) {
    for (const reportAgeMs of [4_000, 6_000]) {
      for (const isPartial of [false, true]) {
        for (const kvCacheUsedFraction of [null, 0.94, 0.95]) {
          const facts = { probe, reportAgeMs, isPartial, kvCacheUsedFraction };
          it(`is what monitoring went by: ${JSON.stringify(facts)}`, () => {
            const health = healthOf(facts, policy);
            const region = aRegion("frankfurt", { health, reportAgeMs, isPartial, placement: { kvCacheUsedFraction } });
            const causes = {
              "last reported": reportAgeMs > 5_000,
              "agent is missing": isPartial,
              "% full": kvCacheUsedFraction === 0.95,
            };
            const { because } = standingOf(region, policy);
            for (const [words, isCause] of Object.entries(causes))
              assert.equal(because.includes(words), isCause, because);
            const isProbeAlone = probe !== null && !Object.values(causes).includes(true);
            assert.equal(because.includes("probe failed"), isProbeAlone, because);
            assert.equal(because === "In service.", health === "healthy");
          });
        }
      }
    }
  }
});
