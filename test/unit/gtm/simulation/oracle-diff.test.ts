/** Our decisions against the oracle's. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { diffAgainstOracle, type Regret } from "#gtm/simulation/oracle-diff.ts";
import { createScenario, scenarioNamed } from "#gtm/simulation/scenarios/scenarios.ts";
import { generated } from "#gtm/simulation/scenarios/sources.ts";
import { DEFAULT_POLICY } from "#gtm/steering/policy.ts";

const steady = scenarioNamed("steady");
assert.ok(steady);
const scenario = createScenario(steady, {
  regions: 3,
  source: generated("chat"),
  volume: { kind: "load", load: 0.4 },
  warmUpMs: 20_000,
  measuredMs: 60_000,
});

describe("a minute of chat, decision by decision", () => {
  const diff = diffAgainstOracle(scenario, { seed: 1 });

  it("finds no decision that beats the oracle's, and some that differ", () => {
    assert.ok(diff.all.decisions > 50, `${diff.all.decisions} decisions`);
    assert.equal(diff.all.decisions, diff.first.decisions + diff.later.decisions);
    for (const { regretMs, differing, decisions } of [diff.all, diff.first, diff.later]) {
      assert.ok(regretMs >= 0 && differing <= decisions);
    }
  });
  it("explains all of the regret: the terms add up to it", () => {
    const explained = ({ misled }: Regret): number => Object.values(misled).reduce((sum, ms) => sum + ms, 0);
    for (const regret of [diff.all, diff.first, diff.later]) {
      assert.ok(Math.abs(explained(regret) - regret.regretMs) < 1e-6, JSON.stringify(regret));
    }
  });
  it("is the same with the same seed", () => {
    assert.deepEqual(diffAgainstOracle(scenario, { seed: 1 }), diff);
  });
  it("finds more regret in a policy that never counts what moving saves", () => {
    const policy = { ...DEFAULT_POLICY, marginMs: 1e8 };
    const stuck = diffAgainstOracle(scenario, { seed: 1, policy });
    assert.ok(stuck.later.regretMs >= diff.later.regretMs);
    assert.ok(stuck.later.misled.believedMs >= diff.later.misled.believedMs);
  });
});
