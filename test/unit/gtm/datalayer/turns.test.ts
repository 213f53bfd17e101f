/** Batches of measured turns on their channel: which are believed, which are refused by name, and what they say of predictions. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createPredictions } from "#gtm/datalayer/predictions.ts";
import { createStoreFailures } from "#gtm/datalayer/store-failures.ts";
import { LONGEST_BATCH } from "#gtm/datalayer/turn-check.ts";
import { createTurns } from "#gtm/datalayer/turns.ts";
import { turnsChannel } from "#shared/keys.ts";
import type { MeasuredTurn } from "#shared/measured-turn.ts";
import { createMetrics } from "#shared/metrics.ts";
import { signedWith } from "#shared/region-signature.ts";
import { createMemoryStore } from "#shared/store-memory.ts";
import { aRegion, MODEL, regionId } from "#test/support/builders.ts";
import { anEntry } from "#test/support/entry-builders.ts";
import { createFallibleStore } from "#test/support/fallible-store.ts";
import { createManualClock } from "#test/support/manual-clock.ts";
import { aMeasuredTurn } from "#test/support/measured-turns.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { recordingLog } from "#test/support/recording-log.ts";
import { until } from "#test/support/until.ts";

const KEY = new Uint8Array(32).fill(5);

/** @param keys the report keys that the GTM has of Paris */
const setUp = async (keys: readonly Uint8Array[] = []) => {
  const clock = createManualClock();
  const store = createFallibleStore(createMemoryStore(clock));
  const [log, metrics] = [recordingLog(), createMetrics()];
  const heard: MeasuredTurn[] = [];
  const turns = createTurns({
    ...{ store, clock, log, metrics, failures: createStoreFailures({ log, metrics, clock }) },
    regions: ["frankfurt", "paris"].map(regionId),
    reportKeys: new Map([[regionId("paris"), keys]]),
    onTurns: (some) => heard.push(...some),
  });
  await turns.start();
  /** Told, and whatever was told before it heard. */
  const announce = (message: string) => store.announce(turnsChannel(), message);
  const refused = (reason: string) => metricValue(metrics, "gtm_turn_batches_refused_total", { reason });
  return { clock, store, log, metrics, heard, turns, announce, refused };
};

const aBatch = (change: object = {}) => ({
  ...{ v: 1, region: "paris", gateway: "gw-1", boot: "b1", seq: 1, turns: [aMeasuredTurn({})], mac: null },
  ...change,
});
const batch = (change: object = {}): string => JSON.stringify(aBatch(change));
const signed = (change: object = {}, key = KEY): string => JSON.stringify(signedWith(aBatch(change), key));

describe("a batch of measured turns", () => {
  it("is heard, and counted by how its turns ended", async () => {
    const { announce, heard, metrics, turns } = await setUp();
    await announce(batch({ turns: [aMeasuredTurn({}), aMeasuredTurn({ outcome: "aborted" })] }));
    await until(() => heard.length === 2);
    assert.equal(await metricValue(metrics, "gtm_turns_heard_total", { region: "paris", outcome: "aborted" }), 1);
    await turns.stop();
    await announce(batch({ seq: 2 }));
    assert.equal(heard.length, 2);
  });
  it("is heard once, and those that never came are counted", async () => {
    const { announce, heard, metrics, refused, turns } = await setUp();
    for (const seq of [1, 2, 2, 5, 4]) await announce(batch({ seq }));
    // Another process of the same gateway counts from 1 again.
    await announce(batch({ boot: "b2" }));
    await until(() => heard.length === 4);
    assert.equal(await refused("repeated"), 2);
    assert.equal(await metricValue(metrics, "gtm_turn_batches_lost_total", { region: "paris" }), 2);
    await turns.stop();
  });

  const hostile: readonly { readonly what: string; readonly message: string; readonly reason: string }[] = [
    { what: "no JSON", message: "{", reason: "no-json" },
    { what: "of another version", message: batch({ v: 2 }), reason: "schema" },
    { what: "without a number", message: batch({ seq: 0 }), reason: "schema" },
    { what: "of 501 turns", message: batch({ turns: Array(501).fill(aMeasuredTurn({})) }), reason: "schema" },
    { what: "endless", message: batch({ gateway: "x".repeat(LONGEST_BATCH) }), reason: "too-long" },
    { what: "of a region that is not configured", message: batch({ region: "atlantis" }), reason: "unknown-region" },
    {
      what: "of one region about another",
      message: batch({ turns: [aMeasuredTurn({ region: "frankfurt" })] }),
      reason: "another-region",
    },
    { what: "with 1e9 tokens", message: batch({ turns: [aMeasuredTurn({ promptTokens: 1e9 })] }), reason: "absurd" },
    {
      what: "with a round trip of a week",
      message: batch({ turns: [aMeasuredTurn({ rttMs: 6e8 })] }),
      reason: "absurd",
    },
    {
      what: "with more cached than asked",
      message: batch({ turns: [aMeasuredTurn({ cachedTokens: 5_001 })] }),
      reason: "absurd",
    },
    { what: "of last week", message: batch({ turns: [aMeasuredTurn({ atAgeMs: 6e8 })] }), reason: "absurd" },
  ];
  for (const { what, message, reason } of hostile) {
    it(`is refused as ${reason} where it is ${what}, whole, and told once a minute`, async () => {
      const { announce, heard, refused, log, turns, clock } = await setUp();
      for (let nth = 0; nth < 3; nth++) await announce(message);
      await until(async () => (await refused(reason)) === 3);
      const told = () => log.lines.filter(({ event }) => event === "turns.refused").length;
      assert.deepEqual([heard.length, told()], [0, 1]);
      clock.advance(60_000);
      await announce(message);
      await until(() => told() === 2);
      await turns.stop();
    });
  }
});

describe("a batch of a region whose report key the GTM has", () => {
  const other = new Uint8Array(32).fill(6);
  it("is heard where that key signed it, or the one that follows it, with fields of a later version too", async () => {
    const { announce, heard, refused, turns } = await setUp([other, KEY]);
    await announce(signed({ later: { z: 1 } }));
    await announce(signed({ seq: 2 }, other));
    await until(() => heard.length === 2);
    assert.equal(await refused("signature"), 0);
    await turns.stop();
  });

  const forged: readonly { readonly what: string; readonly message: string }[] = [
    { what: "unsigned", message: batch() },
    { what: "signed with another key", message: signed({}, other) },
    { what: "changed since", message: signed().replace('"promptTokens":5000', '"promptTokens":5001') },
    { what: "given one field more", message: signed().replace('"seq":1', '"seq":1,"more":null') },
    { what: "signed for another seq", message: signed().replace('"seq":1', '"seq":9') },
  ];
  for (const { what, message } of forged) {
    it(`is refused as signature where it is ${what}, told, and hides no batch that is signed`, async () => {
      const { announce, heard, refused, log, turns } = await setUp([KEY]);
      await announce(message);
      await until(async () => (await refused("signature")) === 1);
      const told = log.lines.filter(({ event }) => event === "turns.refused");
      assert.deepEqual([heard.length, told.map(({ fields }) => fields?.["detail"])], [0, ["paris/gw-1"]]);
      await announce(signed());
      await until(() => heard.length === 1);
      await turns.stop();
    });
  }
});

describe("a measured turn of this instance's decision", () => {
  const entry = anEntry({ regions: [aRegion("frankfurt"), aRegion("paris")] });
  const setUpPredictions = () => {
    const metrics = createMetrics();
    const hear = createPredictions(metrics, (id) => (id === entry.decision.id ? entry : null));
    const value = (name: string, labels: Readonly<Record<string, string>>) => metricValue(metrics, name, labels);
    return { hear, value };
  };
  const turn = (change: Parameters<typeof aMeasuredTurn>[0]) =>
    aMeasuredTurn({ region: "frankfurt", decision: entry.decision.id, ...change });

  it("says how wrong the prediction was without the network, with its sign", async () => {
    const { hear, value } = setUpPredictions();
    const chosen = entry.decision.considered.find(({ region }) => region === "frankfurt");
    assert.ok(chosen?.kind === "candidate");
    const predictedMs = chosen.cost.predictedTtftMs - chosen.cost.networkMs;
    hear([turn({ ttftMs: predictedMs + 300 }), turn({ ttftMs: predictedMs - 100 }), turn({ ttftMs: null })]);
    const of = { region: "frankfurt", model: MODEL };
    assert.ok(Math.abs((await value("gtm_prediction_error_seconds_sum", of)) - 0.2) < 1e-9);
    assert.equal(await value("gtm_prediction_error_seconds_count", of), 2);
  });
  it("says nothing of another instance's decision, nor of a turn that was refused", async () => {
    const { hear, value } = setUpPredictions();
    hear([turn({ decision: "01JDXV3Z000000000000000009" }), turn({ decision: "?" }), turn({ outcome: "refused" })]);
    assert.equal(await value("gtm_prediction_error_seconds_count", { region: "frankfurt", model: MODEL }), 0);
  });
  it("keeps the ledger's promise from 0.8 of the promised tokens on", async () => {
    const { hear, value } = setUpPredictions();
    const promised = (cachedTokens: number | null, predictedCachedTokens: number | null) =>
      turn({ cachedTokens, predictedCachedTokens });
    hear([promised(800, 1_000), promised(799, 1_000), promised(0, 0), promised(5, null), promised(null, 7)]);
    const of = (outcome: string) => value("gtm_held_promises_total", { region: "frankfurt", outcome });
    assert.deepEqual([await of("kept"), await of("broken")], [1, 1]);
  });
});
