import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createRoundTrips } from "#edge-agent/gateway/round-trips.ts";
import { createManualClock } from "#test/support/manual-clock.ts";

const NETWORK = "192.0.2.0/24";

describe("the round trip of a network", () => {
  it("is the least of three samples or more, and unknown before", () => {
    const trips = createRoundTrips(createManualClock());
    trips.add(NETWORK, 90);
    trips.add(NETWORK, 40);
    assert.equal(trips.of(NETWORK), null);
    trips.add(NETWORK, 70);
    assert.equal(trips.of(NETWORK), 40);
    assert.equal(trips.of("198.51.100.0/24"), null);
  });

  it("forgets its least after ten minutes, and is unknown where fewer than three are younger", () => {
    const clock = createManualClock();
    const trips = createRoundTrips(clock);
    trips.add(NETWORK, 40);
    clock.advance(300_000);
    for (const tookMs of [60, 50, 80]) trips.add(NETWORK, tookMs);
    assert.equal(trips.of(NETWORK), 40);
    clock.advance(300_001);
    assert.equal(trips.of(NETWORK), 50);
    clock.advance(300_000);
    assert.equal(trips.of(NETWORK), null);
  });

  it("takes no sample that is none, nor one of more than ten seconds", () => {
    const trips = createRoundTrips(createManualClock());
    for (const tookMs of [0, -1, Number.NaN, 10_001]) trips.add(NETWORK, tookMs);
    assert.equal(trips.size(), 0);
  });

  it("is remembered of so many networks only, and forgotten of the one that was silent longest", () => {
    const trips = createRoundTrips(createManualClock(), 2);
    for (const network of ["a", "b", "a", "c"]) for (let at = 0; at < 3; at++) trips.add(network, 5);
    assert.deepEqual([trips.of("a"), trips.of("b"), trips.of("c")], [5, null, 5]);
  });
});
