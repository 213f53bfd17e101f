/** The load of a traffic, as no policy can change it. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { prefillMs } from "#gtm/domain/serving.ts";
import { CITIES } from "#gtm/simulation/cities.ts";
import { noCachePrefillMs, turnsPerSecondAt } from "#gtm/simulation/prefill-work.ts";
import type { Traffic } from "#gtm/simulation/traffic.ts";

const SPEED = { linMs: 0.1, attnMs: 0.000_001 };
const city = CITIES[0];
if (city === undefined) throw new Error("there are no cities");

/** One client with a prompt of each length, a second apart. */
const asking = (lengths: readonly number[]): Traffic => ({
  blockTokens: 512,
  clients: () =>
    [
      {
        ...{ city, lastMileMs: 8, startsAtMs: 0 },
        next: (
          (turns) => () =>
            turns.next().value ?? null
        )(
          lengths
            .map((promptTokens, at) => ({
              ...{ conversation: 1, parent: null, turn: at + 1, promptTokens, outputTokens: 10, blocks: [] },
              asks: { kind: "at" as const, ms: 1_000 * at },
            }))
            .values(),
        ),
      },
    ].values(),
});

describe("the prefill work of a turn without any cache", () => {
  it("is the mean over the turns, not the work of the mean turn", () => {
    const found = noCachePrefillMs(asking([1_000, 50_000]), SPEED);
    assert.equal(found, (prefillMs(SPEED, 1_000, 1_000) + prefillMs(SPEED, 50_000, 50_000)) / 2);
    assert.ok(found > prefillMs(SPEED, 25_500, 25_500));
  });
  it("is 0 for nobody, and that of the first turns where only those are looked at", () => {
    assert.equal(noCachePrefillMs(asking([]), SPEED), 0);
    assert.equal(noCachePrefillMs(asking([1_000, 50_000]), SPEED, 1), prefillMs(SPEED, 1_000, 1_000));
  });
  it("says how many turns a second are a share of what replicas can do", () => {
    // Twelve replicas do six such turns a second.
    assert.equal(turnsPerSecondAt(1, 12, 2_000), 6);
    assert.equal(turnsPerSecondAt(0.5, 12, 2_000), 3);
  });
});
