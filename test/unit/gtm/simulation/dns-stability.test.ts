/** DNS steering under steady load, on a small stage; `npm run bench dns-stability` plays the large one. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { playStability } from "#gtm/simulation/dns-stability.ts";
import { createCellSteer } from "#gtm/steering/cell.ts";
import { marginAlone } from "#test/bench/dns-stability.bench.ts";

const STAGE = {
  workload: { chats: 200, agents: 33, seed: 1 },
  ...{ replicasPerRegion: 1, warmUpMs: 600_000, measuredMs: 1_200_000 },
};

describe("twenty minutes steered by DNS alone, at 0.87 of what replicas can do without a cache", () => {
  const steered = playStability({ ...STAGE, cellSteer: createCellSteer });
  it("change no cell's answer more than once, and few at all", () => {
    assert.ok(steered.mostChanges <= 1, `${steered.mostChanges} changes of one cell`);
    assert.ok(steered.changes <= 7, `${steered.changes} changes of 14 cells`);
  });
  it("give every region its part", () => {
    for (const [at, share] of steered.shares.entries())
      assert.ok((share.at(-1) ?? 0) > 0.1, `${steered.regions[at]} has ${share.at(-1)}`);
  });
  it("would change some over and over, could cells follow every report", () => {
    const unbridled = playStability({ ...STAGE, cellSteer: marginAlone });
    assert.ok(unbridled.mostChanges >= 3 && unbridled.changes > 2 * steered.changes, `${unbridled.changes} changes`);
    assert.ok(unbridled.ttftMeanMs > 0.9 * steered.ttftMeanMs, "and gain nothing by it");
  });
});
