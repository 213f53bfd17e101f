/** The last quarter of an hour at the admin API. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { MeasuredTurn } from "#shared/measured-turn.ts";
import { until } from "#test/support/until.ts";
import { type RunningAdmin, runningAdmin } from "#test/unit/gtm/wire/admin/running-admin.ts";

const turn = (wish: Partial<MeasuredTurn>): MeasuredTurn =>
  MeasuredTurn.parse({
    ...{
      v: 1,
      region: "frankfurt",
      replica: null,
      conversation: null,
      pool: "chat",
      tenantTag: null,
      model: "llama-70b",
    },
    ...{ promptTokens: 10, cachedTokens: 0, completionTokens: 5, ttftMs: 200, totalMs: 900, queuedMs: 0 },
    ...{ clientPrefix: null, rttMs: null, predictedTtftMs: null, predictedCachedTokens: null, decision: null },
    ...{ outcome: "served", atAgeMs: 0 },
    ...wish,
  });
const recent = async (admin: RunningAdmin) => (await admin.ask("GET", "/recent")).body;

describe("GET /recent", () => {
  it("counts what was decided, by verdict, in steps of ten seconds", async () => {
    await using admin = await runningAdmin();
    admin.gtm.decide();
    admin.gtm.decide();
    admin.gtm.clock.pass(10_000);
    admin.gtm.decide();
    const { buckets, bucketMs } = await recent(admin);
    assert.equal(bucketMs, 10_000);
    assert.deepEqual(
      buckets.map(({ at, verdicts }: { at: string; verdicts: object }) => [at, verdicts]),
      [
        ["2026-11-30T04:00:00.000Z", { placed: 2 }],
        ["2026-11-30T04:00:10.000Z", { placed: 1 }],
      ],
    );
  });
  it("counts measured turns, those over three seconds, and those that failed, by region", async () => {
    await using admin = await runningAdmin();
    admin.gtm.measure([turn({}), turn({ ttftMs: 3_001 }), turn({ ttftMs: null, outcome: "failed" })]);
    const { buckets } = await recent(admin);
    assert.deepEqual(buckets.at(-1).turns, [{ region: "frankfurt", turns: 3, overThreeSeconds: 1, failed: 1 }]);
  });
  it("says where each area of clients is sent", async () => {
    await using admin = await runningAdmin();
    admin.gtm.decide();
    const { areas } = await recent(admin);
    assert.deepEqual(
      areas.map(({ region, count }: { region: string; count: number }) => [region, count]),
      [["frankfurt", 1]],
    );
  });
  it("forgets what is older than a quarter of an hour", async () => {
    await using admin = await runningAdmin();
    admin.gtm.decide();
    admin.gtm.clock.pass(900_000);
    assert.equal((await recent(admin)).buckets.length, 1);
  });
  it("goes on counting when the clock is set back", async () => {
    await using admin = await runningAdmin();
    admin.gtm.decide();
    admin.gtm.clock.pass(-60_000);
    admin.gtm.decide();
    assert.deepEqual((await recent(admin)).buckets[0].verdicts, { placed: 2 });
  });
  it("tells what changed of a region, and since when", async () => {
    await using admin = await runningAdmin();
    admin.gtm.clock.pass(5_000);
    admin.gtm.setRegion("paris", { health: "degraded" });
    await until(async () => (await recent(admin)).changes.length > 0, "the change to be seen");
    const { changes, since } = await recent(admin);
    assert.deepEqual(changes, [
      {
        at: "2026-11-30T04:00:05.000Z",
        region: "paris",
        changes: [{ field: "health", from: "healthy", to: "degraded" }],
      },
    ]);
    const paris = since.find(({ region }: { region: string }) => region === "paris");
    assert.deepEqual([paris.healthSince, paris.adminSince], ["2026-11-30T04:00:05.000Z", "2026-11-30T04:00:00.000Z"]);
  });
});
