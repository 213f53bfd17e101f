import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { reportText } from "#gtm/cli/simulate-text.ts";
import { recoveryTables } from "#gtm/simulation/report/recovery-table.ts";
import { type ScenarioReport, scenarioReport } from "#gtm/simulation/report/report.ts";
import { aTally, aTurn, FLEET } from "./records.ts";

/** The region dies at 200 s; who was there waits 6 s at first, 3 s for a promise of 2 s, and is soon as quick as before. */
const aDeath = (): ScenarioReport => {
  const displaced = (askedAtMs: number, ttftMs: number) => aTurn({ askedAtMs, ttftMs, previous: 0, region: 1 });
  const turns = [
    aTurn({ askedAtMs: 150_000, ttftMs: 1_000 }),
    aTurn({ askedAtMs: 151_000, ttftMs: 1_000, region: 1 }),
    displaced(201_000, 6_000),
    displaced(212_000, 3_000),
    displaced(223_000, 1_000),
  ];
  const tally = aTally(turns, FLEET, [{ kind: "fails", region: 0, atMs: 200_000 }]);
  return scenarioReport(
    {
      ...{
        name: "lost",
        says: "A region dies.",
        setting: {},
        isOpenLoop: true,
        warmUpMs: 100_000,
        measuredMs: 300_000,
      },
      regions: FLEET.map(({ site, replicas }) => ({ id: site.id, replicas })),
      happenings: [{ atMs: 200_000, says: "it fails" }],
    },
    [{ policy: "gtm", kind: "ours", parameters: {}, runs: [{ seed: 1, tally, unfinished: 0 }] }],
  );
};

describe("the table of a region's death", () => {
  it("has the wait over the promise by ten seconds, when it is as before, and the promise of the others", () => {
    const [table] = recoveryTables(aDeath());
    assert.deepEqual(table?.rows[0]?.cells, [
      "0.5×",
      "3.0×",
      "1.5×",
      "0.5×",
      "–",
      "–",
      "–",
      "20 s",
      "100%",
      "33%",
      "–",
    ]);
    assert.match(table?.says ?? "", new RegExp(`^${FLEET[0]?.site.id} dies after 200 s`));
  });
  it("is told on a terminal within 120 columns", () => {
    const text = reportText({ format: "gtm-simulation", version: 1, isComplete: true, scenarios: [aDeath()] }, false);
    assert.match(text, /^gtm +0\.5× +3\.0×.*20 s/m);
    for (const line of text.split("\n")) assert.ok(line.length <= 120, line);
  });
});
