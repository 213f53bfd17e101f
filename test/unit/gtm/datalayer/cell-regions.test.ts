/** Where DNS cells were sent, and how the other GTMs come to know. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createCellRegions } from "#gtm/datalayer/cell-regions.ts";
import type { Entry } from "#gtm/steering/ports.ts";
import { aRegion, regionId } from "#test/support/builders.ts";
import { anEntry } from "#test/support/entry-builders.ts";
import { createManualClock } from "#test/support/manual-clock.ts";

const inRegion = (region: string): Entry =>
  anEntry({ regions: [aRegion(region)], query: { kind: "cell", channel: "dns" } });
const TEMPLATES = { frankfurt: inRegion("frankfurt"), paris: inRegion("paris") };
const cell = (name: string, region: keyof typeof TEMPLATES = "frankfurt"): Entry => {
  const { query, decision, ...rest } = TEMPLATES[region];
  return { ...rest, query, decision: { ...decision, turn: { ...decision.turn, hashKey: name } } };
};

describe("50 000 cells that are decided at once", () => {
  it("are all told to the others within half a minute, 1 000 at a time", () => {
    const clock = createManualClock();
    const [here, there] = [createCellRegions(clock), createCellRegions(clock)];
    for (let at = 0; at < 50_000; at++) here.note(cell(`cell ${at}`));
    for (let syncs = 0; syncs < 150; syncs++) {
      clock.advance(200);
      const told = here.own();
      assert.ok(told.length <= 1_000);
      there.hear(told);
    }
    for (let at = 0; at < 50_000; at++) assert.equal(there.regionOf(`cell ${at}`), "frankfurt");
  });
});

describe("a cell", () => {
  it("that another GTM moved is followed, unless it was decided here", () => {
    const clock = createManualClock();
    const cells = createCellRegions(clock);
    cells.hear([{ cell: "heard", region: regionId("frankfurt") }]);
    cells.hear([{ cell: "heard", region: regionId("paris") }]);
    assert.equal(cells.regionOf("heard"), "paris");
    cells.note(cell("heard"));
    cells.hear([{ cell: "heard", region: regionId("paris") }]);
    assert.equal(cells.regionOf("heard"), "frankfurt");
  });
  it("that moved is told three times, and then as long as it is asked for", () => {
    const clock = createManualClock();
    const cells = createCellRegions(clock);
    cells.note(cell("one"));
    const tell = (): string => {
      clock.advance(2_001);
      return String(cells.own().map((told) => told.region));
    };
    assert.deepEqual([tell(), tell(), tell(), tell()], ["frankfurt", "frankfurt", "frankfurt", ""]);
    cells.note(cell("one"));
    assert.deepEqual(cells.own().length, 1);
    assert.equal(tell(), "");
    cells.note(cell("one", "paris"));
    assert.deepEqual([tell(), tell(), tell(), tell()], ["paris", "paris", "paris", ""]);
  });
});
