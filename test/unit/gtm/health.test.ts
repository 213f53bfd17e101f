/** What /readyz and the admin API are told: ready or not, what is degraded, and since when. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createDegradations } from "#gtm/datalayer/degradations.ts";
import { createHealthWatch } from "#gtm/health.ts";
import { createMetrics } from "#shared/metrics.ts";
import { createManualClock } from "#test/support/manual-clock.ts";
import { recordingLog } from "#test/support/recording-log.ts";

const setUp = (savedWorldAgeMs: number | null = null) => {
  const clock = createManualClock();
  const degradations = createDegradations({ clock, log: recordingLog(), metrics: createMetrics() });
  return { clock, degradations, watch: createHealthWatch({ degradations, savedWorldAgeMs: () => savedWorldAgeMs }) };
};

describe("a GTM's health", () => {
  it("is ready from the last part's start to the first word of stopping", () => {
    const { watch } = setUp();
    assert.equal(watch.health().isReady, false);
    watch.started();
    assert.deepEqual(watch.health(), {
      ...{ isReady: true, degradedSinceMs: null, reasons: [], degradations: [], savedWorldAgeMs: null },
    });
    watch.stopping();
    assert.equal(watch.health().isReady, false);
  });
  it("is still ready while degraded, since the first of what is degraded began", () => {
    const { watch, degradations, clock } = setUp(61_000);
    watch.started();
    const sinceMs = clock.epochMs();
    degradations.set("pins", "2 wait");
    clock.advance(5_000);
    degradations.set("store", "no answer");
    const { isReady, degradedSinceMs, reasons, savedWorldAgeMs } = watch.health();
    assert.deepEqual(
      [isReady, degradedSinceMs, reasons, savedWorldAgeMs],
      [true, sinceMs, ["no answer", "2 wait"], 61_000],
    );
    degradations.set("pins", null);
    assert.equal(watch.health().degradedSinceMs, sinceMs + 5_000);
  });
});
