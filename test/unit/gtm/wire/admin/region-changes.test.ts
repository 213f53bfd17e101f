/** What people on call hear of between two snapshots of the world. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { regionChanges } from "#gtm/wire/admin/region-changes.ts";
import { aRegion, aWorld } from "#test/support/builders.ts";

const before = aWorld([aRegion("frankfurt"), aRegion("paris")]);

describe("between two snapshots", () => {
  it("of which the second has newer numbers, nothing is told", () => {
    const after = aWorld([aRegion("frankfurt", { reportAgeMs: 20, placement: { backlogMs: 900 } }), aRegion("paris")]);
    assert.deepEqual(regionChanges(before, after), []);
  });
  it("admin state, health, a missing agent and placements are told, region by region", () => {
    const after = aWorld([
      aRegion("frankfurt", { admin: "drain-new", health: "degraded", isPartial: true }),
      aRegion("paris", { placement: null }),
    ]);
    assert.deepEqual(regionChanges(before, after), [
      {
        region: "frankfurt",
        changes: [
          { field: "admin", from: "active", to: "drain-new" },
          { field: "health", from: "healthy", to: "degraded" },
          { field: "isPartial", from: "false", to: "true" },
        ],
      },
      { region: "paris", changes: [{ field: "placement llama-70b", from: "loaded", to: null }] },
    ]);
  });
  it("a region that is configured anew is no change", () => {
    const after = aWorld([aRegion("frankfurt"), aRegion("paris"), aRegion("singapore")]);
    assert.deepEqual(regionChanges(before, after), []);
  });
});
