import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createStoreFailures } from "#gtm/datalayer/store-failures.ts";
import { createStoredResponses } from "#gtm/datalayer/stored-responses.ts";
import { ConversationId } from "#shared/ids.ts";
import { KEYS, responseKey } from "#shared/keys.ts";
import { createMetrics } from "#shared/metrics.ts";
import { createMemoryStore } from "#shared/store-memory.ts";
import { CONVERSATION, regionId } from "#test/support/builders.ts";
import { createFallibleStore } from "#test/support/fallible-store.ts";
import { createManualClock } from "#test/support/manual-clock.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { recordingLog } from "#test/support/recording-log.ts";

const RESPONSE = ConversationId.parse("0123456789abc");
const SOON_MS = 10;

const setUp = async (record: unknown) => {
  const clock = createManualClock();
  const log = recordingLog();
  const metrics = createMetrics();
  const store = createFallibleStore(createMemoryStore(clock));
  if (record !== undefined) await store.put(responseKey(RESPONSE), JSON.stringify(record), KEYS.response.ttlMs);
  const responses = createStoredResponses({
    ...{ store, metrics, regions: [regionId("frankfurt"), regionId("virginia")] },
    failures: createStoreFailures({ log, metrics, clock }),
  });
  const counted = (outcome: string) => metricValue(metrics, "gtm_stored_response_lookups_total", { outcome });
  return { store, log, counted, find: () => responses.find(RESPONSE, SOON_MS) };
};
const warnings = (log: ReturnType<typeof recordingLog>): readonly unknown[] =>
  log.lines.filter(({ level }) => level === "warn").map(({ fields }) => fields["operation"]);

describe("a stored response", () => {
  it("lies in the region whose gateway told of it, and is a turn of its conversation", async () => {
    const { find } = await setUp({ v: 1, region: "virginia", conversation: CONVERSATION });
    assert.deepEqual(await find(), { region: "virginia", conversation: CONVERSATION });
  });
  it("may be of a conversation that the gateway did not know", async () => {
    const { find } = await setUp({ v: 1, region: "virginia" });
    assert.deepEqual(await find(), { region: "virginia", conversation: null });
  });
  it("is asked for once: it never moves, also while the store is away", async () => {
    const { find, store, counted } = await setUp({ v: 1, region: "virginia" });
    await find();
    store.isAway = true;
    assert.equal((await find())?.region, "virginia");
    assert.deepEqual([store.calls["get"], await counted("found"), await counted("cached")], [1, 1, 1]);
  });
  it("is not found where no gateway told of it, and is asked for again", async () => {
    const { find, store, counted, log } = await setUp(undefined);
    assert.equal(await find(), null);
    await store.put(responseKey(RESPONSE), JSON.stringify({ v: 1, region: "virginia" }), KEYS.response.ttlMs);
    assert.equal((await find())?.region, "virginia");
    assert.deepEqual([await counted("absent"), warnings(log)], [1, []]);
  });
  it("lies nowhere when its region is not configured any more", async () => {
    const { find, counted } = await setUp({ v: 1, region: "paris" });
    assert.equal(await find(), null);
    assert.equal(await counted("absent"), 1);
  });
});

describe("a look-up of a stored response that fails costs the hint alone, is counted and warned of", () => {
  const record = { v: 1, region: "virginia" };
  it("while the store is away", async () => {
    const { find, store, counted, log } = await setUp(record);
    store.isAway = true;
    assert.equal(await find(), null);
    assert.deepEqual([await counted("failed"), warnings(log)], [1, ["response.find"]]);
  });
  it("when the store refuses", async () => {
    const { find, store, counted, log } = await setUp(record);
    store.fault = () => "refused";
    assert.equal(await find(), null);
    assert.deepEqual([await counted("failed"), warnings(log)], [1, ["response.find"]]);
  });
  it("when the store is slower than it is worth", async () => {
    const { find, store, counted, log } = await setUp(record);
    const { promise, resolve } = Promise.withResolvers<void>();
    store.before = () => promise;
    assert.equal(await find(), null);
    assert.deepEqual([await counted("late"), warnings(log)], [1, ["response.find"]]);
    resolve();
  });
  for (const wrong of [{ v: 2, region: "virginia" }, "virginia", { v: 1, region: "No Region" }]) {
    it(`when what stands there is ${JSON.stringify(wrong)}`, async () => {
      const { find, counted, log } = await setUp(wrong);
      assert.equal(await find(), null);
      assert.deepEqual([await counted("failed"), warnings(log)], [1, ["response.find"]]);
    });
  }
});
