import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { greatCircleRttMs } from "#gtm/domain/topology.ts";
import { CITIES } from "#gtm/simulation/cities.ts";
import { createDice } from "#gtm/simulation/dice.ts";
import { lastMileMs, routeRttMs, tripsFor } from "#gtm/simulation/network.ts";

const FRANKFURT = { latitude: 50.11, longitude: 8.68 };

describe("the simulated network", () => {
  it("has routes that are 0.8 to 1.4 times what distance alone says, always the same, and not all alike", () => {
    const factors = CITIES.map((city) => {
      const rttMs = routeRttMs(city, "eu-central", FRANKFURT);
      assert.equal(rttMs, routeRttMs(city, "eu-central", FRANKFURT));
      return rttMs / greatCircleRttMs(city.location, FRANKFURT);
    });
    for (const factor of factors) assert.ok(factor >= 0.8 && factor < 1.4, `${factor}`);
    assert.ok(Math.max(...factors) - Math.min(...factors) > 0.2);
  });

  it("puts 8 to 30 ms before everything", () => {
    const dice = createDice(1);
    for (let i = 0; i < 100; i++) {
      const ms = lastMileMs(dice);
      assert.ok(ms >= 8 && ms < 30);
    }
  });

  it("takes one round trip on an open connection and three on a new one", () => {
    assert.deepEqual([tripsFor(true, 1_000), tripsFor(true, 120_000), tripsFor(false, 1_000)], [1, 3, 3]);
  });
});
