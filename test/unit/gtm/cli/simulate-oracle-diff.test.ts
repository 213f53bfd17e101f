/** `gtm simulate --oracle-diff` as it is printed. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { oracleDiffText } from "#gtm/cli/simulate-oracle-diff.ts";
import type { PlannedScenario } from "#gtm/cli/simulate-plan.ts";
import { createScenario, scenarioNamed } from "#gtm/simulation/scenarios/scenarios.ts";
import { generated } from "#gtm/simulation/scenarios/sources.ts";

const planned: PlannedScenario = {
  ...{ name: "half a minute", scenario: "steady", traffic: "chat", regions: 3, load: 0.4, users: null },
  ...{ warmUpMs: 10_000, measuredMs: 30_000, seeds: [1, 2], policies: [] },
};
const steady = scenarioNamed("steady");
assert.ok(steady);
const scenario = createScenario(steady, {
  regions: 3,
  source: generated("chat"),
  volume: { kind: "load", load: 0.4 },
  warmUpMs: planned.warmUpMs,
  measuredMs: planned.measuredMs,
});
const textFor = (one: PlannedScenario): string => oracleDiffText(one, { scenarioOf: () => ({ scenario }) }, false);

describe("the difference to the oracle, printed", () => {
  const text = textFor(planned);
  it("has a table a seed: first turns, later ones, and all, which are both together", () => {
    assert.deepEqual(
      text.split("\n").filter((line) => line.startsWith("half a minute")),
      ["half a minute, seed 1", "half a minute, seed 2"],
    );
    const decisions = (turns: string) =>
      [...text.matchAll(new RegExp(`^${turns} +(\\d+)`, "gm"))].map(([, count]) => Number(count));
    const [first, later, all] = [decisions("first"), decisions("later"), decisions("all")];
    assert.equal(all.length, 2);
    assert.deepEqual(
      all,
      first.map((count, seed) => count + (later[seed] ?? 0)),
    );
    assert.ok((all[0] ?? 0) > 10);
  });
  it("takes the parameters that the plan has for ours", () => {
    const policies = [{ name: "gtm", policy: "gtm", parameters: { roundTripsNew: 30 } }];
    assert.notEqual(textFor({ ...planned, seeds: [1], policies }), textFor({ ...planned, seeds: [1] }));
  });
});
