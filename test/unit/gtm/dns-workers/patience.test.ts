import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createPatience } from "#gtm/dns-workers/patience.ts";
import { createManualClock } from "#test/support/manual-clock.ts";

describe("patience", () => {
  it("doubles from 100 ms to 10 s while tries fail soon, and begins anew once one has lasted a minute", () => {
    const clock = createManualClock();
    const patience = createPatience(clock);
    const waits = Array.from({ length: 9 }, () => patience.nextMs());
    assert.deepEqual(waits, [100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000]);
    clock.advance(60_000);
    assert.equal(patience.nextMs(), 100);
  });

  it("gives up when it is told to", async () => {
    const patience = createPatience(createManualClock());
    assert.equal(await patience.wait(1, new AbortController().signal), true);
    assert.equal(await patience.wait(3_600_000, AbortSignal.abort()), false);
  });
});
