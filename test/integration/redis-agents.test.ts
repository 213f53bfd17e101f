/** Agents as processes report into a real Redis, and a GTM in another process hears them, sums them and misses them. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { RegionReport } from "#shared/report.ts";
import { regionAt, runningAt, startRedisRegions } from "#test/support/redis-regions.ts";
import { until } from "#test/support/until.ts";

const KEY = "gtm:v1:report:{eu-central}:a1";

describe("an agent and a GTM that have nothing in common but Redis", () => {
  it("understand each other: the report is there for 30 s, listed, and as old as Redis says", async () => {
    await using regions = await startRedisRegions();
    const { redis } = regions;
    const { engine } = await regions.startAgent({ running: 3 });
    const remainingMs = Number(await redis.cli("pttl", KEY));
    assert.ok(remainingMs > 0 && remainingMs <= 30_000, `${remainingMs} ms`);
    const report = RegionReport.parse(JSON.parse(await redis.cli("get", KEY)));
    assert.deepEqual([report.region, report.agent, report.models[0]?.requestsRunning], ["eu-central", "a1", 3]);
    assert.equal(await redis.cli("zrange", "gtm:v1:agents:{eu-central}", "0", "-1"), "a1");

    const gtm = await regions.startGtm();
    await until(async () => (await runningAt(gtm)) === 3, "the report at the GTM");
    const { reportAgeMs, isPartial } = await regionAt(gtm);
    assert.ok((reportAgeMs ?? 99_999) < 5_000, `${reportAgeMs} ms`);
    assert.equal(isPartial, false);
    assert.equal((await regionAt(gtm, "us-east")).reportAgeMs, null);

    // News are announced, or this would be the next look at everything.
    const [, listeners] = (await redis.cli("pubsub", "numsub", "gtm:v1:reported")).split("\n");
    assert.equal(listeners, "1");
    await engine[Symbol.asyncDispose]();
    await until(async () => (await runningAt(gtm)) === null, "the report that nothing is known");
  });
});

describe("two agents of one region", () => {
  it("are summed, and the region is partial while one is missing", async () => {
    await using regions = await startRedisRegions();
    const [, second] = await Promise.all([
      regions.startAgent({ agent: "a1", running: 3 }),
      regions.startAgent({ agent: "a2", running: 4 }),
    ]);
    const gtm = await regions.startGtm({ policy: { stale_after: "2s", expired_after: "3s" } });
    await until(async () => (await runningAt(gtm)) === 7, "the sum of both");
    assert.equal((await regionAt(gtm)).isPartial, false);

    await second.program[Symbol.asyncDispose]();
    await until(async () => (await runningAt(gtm)) === 3, "the one that is left");
    const { isPartial, health } = await regionAt(gtm);
    assert.deepEqual([isPartial, health], [true, "degraded"]);

    await regions.redis.cli("del", "gtm:v1:report:{eu-central}:a2");
    const late = await regions.startGtm();
    await until(async () => (await runningAt(late)) === 3, "the report at a GTM that starts now");
    await until(async () => (await regionAt(late)).isPartial, "that it misses whom it never heard");

    await regions.startAgent({ agent: "a2", running: 4 });
    for (const one of [gtm, late]) {
      await until(async () => (await runningAt(one)) === 7, "the sum of both again");
      assert.equal((await regionAt(one)).isPartial, false);
    }
  });
});
