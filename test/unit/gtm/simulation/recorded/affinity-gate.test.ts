/** Whether affinity helps a traffic: reuse, think time against the life of caches, how many regions, and how loaded. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CITIES } from "#gtm/simulation/cities.ts";
import { affinityGate, type GateFleet } from "#gtm/simulation/recorded/affinity-gate.ts";
import { clientsOf } from "#gtm/simulation/traces/timed-turns.ts";
import { TRACE_OPTIONS } from "#gtm/simulation/traces/trace-options.ts";
import { traceTraffic } from "#gtm/simulation/traces/trace-traffic.ts";
import { VISIT } from "#gtm/simulation/traffic-in-order.ts";

const FLEET: GateFleet = { regions: 3, replicas: 12, speed: { linMs: 0.1, attnMs: 0 }, kvTokens: 1_000_000 };

/** A hundred conversations, one begun a second, each with a second turn that adds a tenth to its 10 240 tokens. */
const chats = (thinkMs: number, turns: 1 | 2) => {
  const asked = Array.from({ length: 100 }, (_, conversation) => {
    const own = { conversation, outputTokens: 1, promptTokens: 10_240, atMs: 1_000 * conversation };
    const first = { ...own, blocks: [1_000 * conversation + 1, 160] };
    return [
      first,
      { ...first, atMs: own.atMs + thinkMs, promptTokens: 11_264, blocks: [1_000 * conversation + 1, 176] },
    ].slice(0, turns);
  })
    .flat()
    .sort((a, b) => a.atMs - b.atMs);
  const trace = { blockTokens: 64, loop: "open", idsOf: "trace", timeStepMs: 0, ...clientsOf(asked) } as const;
  return traceTraffic(trace, { ...TRACE_OPTIONS, seed: 1, cities: CITIES });
};

describe("the gate", () => {
  it("says that affinity helps where contexts come back while caches keep them, and how much", () => {
    const { helps, reasons, figures } = affinityGate(chats(30_000, 2), FLEET, VISIT);
    assert.equal(helps, true);
    assert.equal(figures.turns, 200);
    assert.equal(figures.reusedFraction, 10_240 / 21_504);
    assert.equal(figures.inTimeFraction, 1);
    assert.equal(figures.thinkP50Ms, 30_000);
    // 1 024 ms of the second turn's prefill, two thirds of it where one region of three had been right by chance, over both turns.
    assert.ok(Math.abs(figures.savedMs - (1_024 * (2 / 3)) / 2) < 1e-6);
    assert.ok(Math.abs(figures.noCacheUtilisation - (100 * 2_150.4) / (129_000 * 12)) < 1e-9);
    assert.match(reasons[0] ?? "", /saves 341 ms of prefill a turn, 32 % of the work/);
  });

  it("says that it does not where nobody comes back", () => {
    const { helps, reasons, figures } = affinityGate(chats(30_000, 1), FLEET, VISIT);
    assert.deepEqual([helps, figures.reusedFraction, figures.savedMs, figures.thinkP50Ms], [false, 0, 0, null]);
    assert.match(reasons.join("\n"), /0 ms .*less than anybody feels[\s\S]*No context is ever asked for again/);
  });

  it("says that it does not where caches have forgotten", () => {
    const { helps, reasons, figures } = affinityGate(chats(300_000, 2), { ...FLEET, kvTokens: 100_000 }, VISIT);
    assert.ok(figures.cacheLifeMs < 300_000);
    assert.deepEqual([helps, figures.inTimeFraction], [false, 0]);
    assert.match(reasons[0] ?? "", /gone before they are asked for again/);
  });

  it("says that there is nothing to choose in one region", () => {
    const { helps, reasons } = affinityGate(chats(30_000, 2), { ...FLEET, regions: 1 }, VISIT);
    assert.equal(helps, false);
    assert.match(reasons[0] ?? "", /one region: nothing/);
  });
});
