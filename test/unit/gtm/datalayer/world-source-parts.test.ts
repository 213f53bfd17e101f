/** A store that fails in parts: what fails is named, and the rest goes on. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { DegradedWhat } from "#gtm/datalayer/degradations.ts";
import { agentsKey, instancesKey, reportKey } from "#shared/keys.ts";
import { regionId } from "#test/support/builders.ts";
import { WRITES } from "#test/support/fallible-store.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { aReport } from "#test/support/report-builders.ts";
import { until } from "#test/support/until.ts";
import { aWorldGtm, NAMES } from "./world-gtm.ts";

const PARIS = regionId("paris");
const isOfParis = (key: string): boolean => key === reportKey(PARIS, aReport("paris").agent);

describe("a Cluster that lost the slot of one region's reports", () => {
  it("freezes that region's age and no other; the store is not away", async () => {
    await using gtm = aWorldGtm();
    await gtm.publish(...NAMES);
    await gtm.source.start();
    await until(() => gtm.whats().length === 0);
    gtm.store.fault = (_, key) => (isOfParis(key) ? "lost" : null);
    gtm.clock.advance(2_000);
    await isKnown(gtm, "reports");
    assert.match(gtm.reasonOf("reports"), /^what paris reports cannot be read: its age stands still/);
    const ageMs = gtm.region("paris").reportAgeMs ?? Number.NaN;
    for (let minute = 0; minute < 3; minute++) {
      gtm.clock.advance(20_000);
      await publishWithoutParis(gtm);
    }
    assert.deepEqual([gtm.region("paris").reportAgeMs, gtm.region("paris").health], [ageMs, "healthy"]);
    assert.ok((gtm.region("frankfurt").reportAgeMs ?? Number.NaN) < 1_000);
    assert.equal(gtm.source.world().isStoreUp, true);
    assert.equal(gtm.source.world().areAgesFrozen, false);
    assert.deepEqual(gtm.whats(), ["reports"]);
  });
  it("goes on from the age where it stood once the slot is served again", async () => {
    await using gtm = aWorldGtm();
    await gtm.publish(...NAMES);
    await gtm.source.start();
    gtm.store.fault = (_, key) => (isOfParis(key) ? "lost" : null);
    gtm.clock.advance(2_000);
    await isKnown(gtm, "reports");
    gtm.clock.advance(60_000);
    await publishWithoutParis(gtm);
    gtm.store.fault = () => null;
    gtm.clock.advance(2_000);
    await until(() => !gtm.whats().includes("reports"));
    const ageMs = gtm.region("paris").reportAgeMs ?? Number.NaN;
    assert.ok(ageMs < 5_000, `${ageMs} ms`);
    await gtm.live(31, "frankfurt", "virginia");
    assert.equal(gtm.region("paris").health, "silent");
    await gtm.live(1, ...NAMES);
    await until(() => gtm.region("paris").health === "healthy");
  });
});

/** That it is degraded, and that a world has been made since: time may go on then. */
const isKnown = async (gtm: ReturnType<typeof aWorldGtm>, what: DegradedWhat): Promise<void> => {
  await until(() => gtm.whats().includes(what));
  const { version } = gtm.source.world();
  await until(() => gtm.source.world().version > version);
};

const publishWithoutParis = async (gtm: ReturnType<typeof aWorldGtm>): Promise<void> => {
  await gtm.publish("frankfurt", "virginia");
  await until(() => gtm.source.world().takenAtMs === gtm.clock.monotonicMs());
  await until(() => (gtm.region("virginia").reportAgeMs ?? Number.NaN) === 0);
};

describe("a store that lists a region's agents no more", () => {
  it("is read by the agents that are known, and says that new ones go unheard", async () => {
    await using gtm = aWorldGtm();
    await gtm.publish(...NAMES);
    await gtm.source.start();
    gtm.store.fault = (operation, key) => (operation.startsWith("index") && key === agentsKey(PARIS) ? "lost" : null);
    gtm.clock.advance(2_000);
    await until(() => gtm.whats().includes("reports"));
    assert.match(gtm.reasonOf("reports"), /who reports in paris is not listed/);
    await gtm.live(40, "frankfurt", "virginia");
    assert.equal(gtm.region("paris").health, "silent", "a region that does not report is silent all the same");
    assert.equal(gtm.source.world().isStoreUp, true);
  });
});

describe("a store that is full", () => {
  it("refuses what is written, and is read as before", async () => {
    await using gtm = aWorldGtm();
    await gtm.publish(...NAMES);
    await gtm.source.start();
    gtm.store.fault = (operation) => (WRITES.includes(operation) ? "refused" : null);
    gtm.clock.advance(2_000);
    await until(() => gtm.whats().includes("sent"));
    assert.deepEqual(gtm.whats(), ["sent"]);
    gtm.store.fault = () => null;
    await gtm.publish(...NAMES);
    gtm.store.fault = (operation) => (WRITES.includes(operation) ? "refused" : null);
    await until(() => gtm.region("paris").reportAgeMs === 0);
    assert.deepEqual([gtm.source.world().isStoreUp, gtm.source.world().areAgesFrozen], [true, false]);
    assert.equal(await metricValue(gtm.metrics, "gtm_degraded", { what: "sent" }), 1);
    assert.equal(await metricValue(gtm.metrics, "gtm_degraded", { what: "store" }), 0);
    gtm.store.fault = () => null;
    await until(() => gtm.whats().length === 0);
  });
});

describe("a store of which one key may not be touched", () => {
  it("degrades the sharing of turns alone", async () => {
    await using gtm = aWorldGtm();
    await gtm.publish(...NAMES);
    await gtm.source.start();
    gtm.store.fault = (_, key) => (key === instancesKey() ? "refused" : null);
    gtm.clock.advance(2_000);
    await until(() => gtm.whats().includes("sent"));
    assert.deepEqual(gtm.whats(), ["sent"]);
    assert.equal(gtm.source.world().isStoreUp, true);
  });
});

describe("a store of which nothing works", () => {
  it("is away: every part of it says so, each since its own moment, and none any more when it is back", async () => {
    await using gtm = aWorldGtm();
    await gtm.publish(...NAMES);
    await gtm.source.start();
    gtm.store.fault = () => "lost";
    await until(() => gtm.whats().includes("store"));
    assert.match(gtm.reasonOf("store"), /decisions rest on what was known before$/);
    assert.ok(gtm.whats().includes("reports") && gtm.whats().includes("sent"));
    await until(() => gtm.source.world().areAgesFrozen);
    gtm.store.fault = () => null;
    await gtm.publish(...NAMES);
    await until(() => gtm.whats().length === 0);
  });
});

describe("a store that was wiped", () => {
  it("is noticed by its having forgotten this instance, once", async () => {
    await using gtm = aWorldGtm();
    await gtm.source.start();
    assert.equal(gtm.wiped.count, 0);
    await gtm.store.remove(instancesKey());
    gtm.clock.advance(2_000);
    await until(() => gtm.wiped.count === 1);
    gtm.clock.advance(2_000);
    await until(async () => (await gtm.store.indexRange(instancesKey(), 0, Number.MAX_SAFE_INTEGER)).length === 1);
    assert.equal(gtm.wiped.count, 1);
  });
});
