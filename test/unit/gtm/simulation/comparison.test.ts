import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { compare, formatComparison } from "#gtm/simulation/comparison.ts";
import { MODERATE_LOAD } from "#gtm/simulation/moderate-load.ts";

/** The same load on a twelfth of the replicas, for two minutes. */
const SMALL = {
  ...MODERATE_LOAD,
  workload: { chats: 60, agents: 30, seed: 1 },
  replicasPerRegion: 1,
  warmUpMs: 30_000,
  measuredMs: 90_000,
};

describe("the comparison", () => {
  const rows = compare(SMALL);
  const [roundRobin, leastRequests, sticky, gtm] = rows;

  it("has a row for each policy, all of which served the same clients", () => {
    assert.deepEqual(
      rows.map(({ policy }) => policy),
      ["round robin", "least requests", "sticky", "gtm"],
    );
    for (const { turnsServed, noCacheUtilisationFraction } of rows) {
      assert.ok(turnsServed > 50, `${turnsServed}`);
      assert.ok(noCacheUtilisationFraction > 0.3 && noCacheUtilisationFraction < 1, `${noCacheUtilisationFraction}`);
    }
  });

  it("shows what is known whoever wins: what scatters turns finds fewer tokens cached and moves conversations", () => {
    for (const scattering of [roundRobin, leastRequests]) {
      assert.ok((scattering?.cachedFraction ?? 1) < (sticky?.cachedFraction ?? 0));
      assert.ok((scattering?.cachedFraction ?? 1) < (gtm?.cachedFraction ?? 0));
      assert.ok((scattering?.movesPerConversation ?? 0) > 0.2);
    }
    assert.equal(sticky?.movesPerConversation, 0);
  });

  it("yields the same rows from the same options, and others from another seed or other eyes", () => {
    assert.deepEqual(compare(SMALL), rows);
    const reseeded = compare({ ...SMALL, workload: { ...SMALL.workload, seed: 2 } });
    assert.notDeepEqual(reseeded, rows);
    const seen = compare({ ...SMALL, eyes: "gateway" });
    assert.deepEqual(seen.slice(0, 3), rows.slice(0, 3), "the others do not look");
    assert.notDeepEqual(seen[3], rows[3]);
  });

  it("prints lines of equal width and names the load", () => {
    const lines = formatComparison(rows).split("\n");
    assert.equal(new Set(lines.slice(0, 5).map((line) => line.length)).size, 1);
    assert.match(lines[4] ?? "", /^gtm +\d+ +\d+ % +\d\.\d\d s/);
    assert.match(lines[5] ?? "", /^Load: \d+ % to \d+ % of what the replicas could prefill without any cache\.$/);
  });
});
