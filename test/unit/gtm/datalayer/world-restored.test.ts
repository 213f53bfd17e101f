/** A GTM that starts with what an earlier one saved. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { agentsKey, reportKey } from "#shared/keys.ts";
import { regionId } from "#test/support/builders.ts";
import { aReport, regionIn } from "#test/support/report-builders.ts";
import { until } from "#test/support/until.ts";
import { aWorldGtm, NAMES } from "./world-gtm.ts";

const HOUR_MS = 3_600_000;
const saved = (savedForMs: number, ...names: readonly string[]) =>
  names.map((name) => ({ report: aReport(name, { seq: 7 }), ageMs: 700, savedForMs }));

describe("a GTM that starts while the store is away, with a world saved an hour ago", () => {
  it("knows the regions as they were, for as long as it takes, and says how old that is", async () => {
    await using gtm = aWorldGtm();
    gtm.store.isAway = true;
    assert.equal(gtm.source.restore(saved(HOUR_MS, ...NAMES)), 3);
    assert.equal(gtm.region("paris").health, "healthy", "also before it has started");
    await gtm.source.start();
    gtm.clock.advance(2 * HOUR_MS);
    await until(() => gtm.source.world().takenAtMs === gtm.clock.monotonicMs());
    assert.deepEqual(
      gtm.source.world().regions.map(({ health, reportAgeMs }) => [health, reportAgeMs]),
      NAMES.map(() => ["healthy", 700]),
    );
    assert.equal(gtm.source.savedAgeMs(), 3 * HOUR_MS);
    await until(() => /decisions rest on what was saved 10800 s ago$/.test(gtm.reasonOf("store")));
    assert.equal(gtm.source.world().isStoreUp, false);
  });
  it("goes on from live reports when the store is back; an agent that is gone is as old as it is", async () => {
    await using gtm = aWorldGtm();
    gtm.store.isAway = true;
    gtm.source.restore(saved(HOUR_MS, ...NAMES));
    await gtm.source.start();
    gtm.store.isAway = false;
    await gtm.store.indexAdd(agentsKey(regionId("virginia")), aReport("virginia").agent, gtm.clock.epochMs());
    await gtm.publish("frankfurt", "paris");
    await until(() => gtm.source.savedAgeMs() === null && gtm.region("virginia").health === "silent");
    assert.equal(gtm.region("frankfurt").health, "healthy");
    assert.ok((gtm.region("virginia").reportAgeMs ?? 0) >= HOUR_MS);
  });
  it("expires an agent of which the store knows nothing at all within half a minute", async () => {
    await using gtm = aWorldGtm();
    gtm.store.isAway = true;
    gtm.source.restore(saved(HOUR_MS, ...NAMES));
    await gtm.source.start();
    gtm.store.isAway = false;
    await gtm.publish("frankfurt", "paris");
    await until(() => gtm.source.world().isStoreUp && !gtm.source.world().areAgesFrozen);
    await gtm.live(31, "frankfurt", "paris");
    assert.deepEqual(
      NAMES.map((name) => gtm.region(name).health),
      ["healthy", "healthy", "silent"],
    );
  });
  it("keeps what was saved while the store is there and empty, until regions report again", async () => {
    await using gtm = aWorldGtm();
    gtm.store.isAway = true;
    gtm.source.restore(saved(HOUR_MS, ...NAMES));
    await gtm.source.start();
    gtm.store.isAway = false;
    await until(() => gtm.source.world().isStoreUp);
    gtm.clock.advance(2_000);
    await until(() => gtm.source.world().takenAtMs === gtm.clock.monotonicMs());
    assert.deepEqual(
      NAMES.map((name) => gtm.region(name).health),
      NAMES.map(() => "healthy"),
    );
  });
});

describe("a GTM that starts while the store is there", () => {
  it("takes what the store says for what was saved, also the very same report", async () => {
    await using gtm = aWorldGtm();
    const key = reportKey(regionId("paris"), aReport("paris").agent);
    await gtm.store.put(key, JSON.stringify(aReport("paris", { seq: 7 })), 30_000);
    await gtm.store.indexAdd(agentsKey(regionId("paris")), aReport("paris").agent, gtm.clock.epochMs());
    gtm.clock.advance(9_000);
    gtm.source.restore(saved(8_000, "paris"));
    await gtm.source.start();
    assert.equal(gtm.region("paris").reportAgeMs, 9_000);
    assert.equal(gtm.source.savedAgeMs(), null);
  });
});

describe("what was saved", () => {
  it("of a region that is no more, or that is no report, is not believed", async () => {
    await using gtm = aWorldGtm();
    const odd = [{ report: { region: "paris", agent: "a1", v: 1 }, ageMs: 1, savedForMs: 1 }];
    assert.equal(gtm.source.restore([...saved(1_000, "atlantis"), ...odd, { report: 7, ageMs: 1, savedForMs: 1 }]), 0);
    assert.equal(gtm.source.savedAgeMs(), null);
    assert.equal(gtm.region("paris").reportAgeMs, null);
  });
  it("is each agent's newest report, as old as it is, and makes the same world in the next process", async () => {
    await using gtm = aWorldGtm();
    await gtm.publish(...NAMES);
    await gtm.source.start();
    gtm.clock.advance(1_500);
    const kept = gtm.source.saved();
    assert.deepEqual(
      kept.map(({ ageMs }) => ageMs),
      [1_500, 1_500, 1_500],
    );
    gtm.store.isAway = true;
    const next = gtm.made();
    next.restore(kept.map((one) => ({ ...JSON.parse(JSON.stringify(one)), savedForMs: 60_000 })));
    for (const name of NAMES) {
      const [then, now] = [gtm.region(name), regionIn(next.world(), name)];
      assert.equal(now.reportAgeMs, 1_500);
      assert.deepEqual([...now.placements.keys()], [...then.placements.keys()]);
    }
  });
});
