/** The register of what is degraded: since when, told of once, seen on a gauge. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createDegradations } from "#gtm/datalayer/degradations.ts";
import { createMetrics } from "#shared/metrics.ts";
import { createManualClock } from "#test/support/manual-clock.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { recordingLog } from "#test/support/recording-log.ts";

const setUp = () => {
  const [clock, log, metrics] = [createManualClock(), recordingLog(), createMetrics()];
  const degradations = createDegradations({ clock, log, metrics });
  const gauge = (what: string) => metricValue(metrics, "gtm_degraded", { what });
  return { clock, log, metrics, degradations, gauge };
};

describe("nothing degraded", () => {
  it("is an empty list, and every gauge is there and 0", async () => {
    const { degradations, metrics } = setUp();
    assert.deepEqual(degradations.current(), []);
    const series = (await metrics.text()).split("\n").filter((line) => line.startsWith("gtm_degraded{"));
    assert.ok(series.length >= 6);
    for (const line of series) assert.match(line, / 0$/);
  });
  it("ends nothing and is not told of", () => {
    const { degradations, log } = setUp();
    degradations.set("store", null);
    assert.deepEqual(log.lines, []);
  });
});

describe("a degradation", () => {
  it("is told of when it begins and when it ends with how long it lasted, however often it is said in between", async () => {
    const { degradations, clock, log, gauge } = setUp();
    const sinceMs = clock.epochMs();
    degradations.set("store", "no answer");
    assert.equal(await gauge("store"), 1);
    for (let i = 0; i < 5; i++) {
      clock.advance(1_000);
      degradations.set("store", "no answer");
    }
    assert.deepEqual(degradations.current(), [{ what: "store", reason: "no answer", sinceMs }]);
    degradations.set("store", null);
    assert.equal(await gauge("store"), 0);
    assert.deepEqual(degradations.current(), []);
    assert.deepEqual(
      log.lines.map(({ level, event, fields }) => [level, event, fields["what"], fields["lastedMs"]]),
      [
        ["warn", "degraded.began", "store", undefined],
        ["info", "degraded.ended", "store", 5_000],
      ],
    );
  });
  it("keeps its since when the reason changes, without being told of again", () => {
    const { degradations, clock, log } = setUp();
    const sinceMs = clock.epochMs();
    degradations.set("reports", "paris cannot be read");
    clock.advance(2_000);
    degradations.set("reports", "paris and frankfurt cannot be read");
    assert.deepEqual(degradations.current(), [
      { what: "reports", reason: "paris and frankfurt cannot be read", sinceMs },
    ]);
    assert.equal(log.lines.length, 1);
  });
  it("stands beside others, each with a since of its own, in one order", () => {
    const { degradations, clock } = setUp();
    degradations.set("pins", "refused");
    clock.advance(500);
    degradations.set("store", "no answer");
    assert.deepEqual(
      degradations.current().map(({ what, sinceMs }) => [what, clock.epochMs() - sinceMs]),
      [
        ["store", 0],
        ["pins", 500],
      ],
    );
  });
  for (const jumpMs of [3_600_000, -3_600_000]) {
    it(`is as old as it is after the clock was set by ${jumpMs / 60_000} min`, () => {
      const { degradations, clock } = setUp();
      degradations.set("store", "no answer");
      clock.advance(7_000);
      clock.setEpochMs(clock.epochMs() + jumpMs);
      assert.equal(clock.epochMs() - (degradations.current()[0]?.sinceMs ?? 0), 7_000);
    });
  }
});
