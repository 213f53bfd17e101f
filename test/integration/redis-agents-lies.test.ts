/** Reports of a version to come, and an agent that lies in every way that its user of Redis allows. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { MOST_AGENTS } from "#gtm/datalayer/agent-index.ts";
import { systemClock } from "#shared/clock.ts";
import { AgentId, RegionId } from "#shared/ids.ts";
import { agentsKey, reportedChannel, reportKey } from "#shared/keys.ts";
import { silentLogger } from "#shared/logger.ts";
import type { RegionReport } from "#shared/report.ts";
import { openStore } from "#shared/store-open.ts";
import { StoreSettings } from "#shared/store-settings.ts";
import { SIMULATED_ALIAS } from "#test/support/engine-simulators.ts";
import { isNow, refusedAt, regionAt, runningAt, startRedisRegions } from "#test/support/redis-regions.ts";
import { until } from "#test/support/until.ts";

const HERE = RegionId.parse("eu-central");
const THERE = RegionId.parse("us-east");

/** Every number of a report made absurd, its version and counters left alone. */
const absurd = (value: unknown, name = ""): unknown => {
  if (typeof value === "number")
    return ["v", "seq", "reportedAtMs"].includes(name) || /Bytes$/.test(name) ? value : 1e308;
  if (Array.isArray(value)) return value.map((one) => absurd(one));
  if (typeof value !== "object" || value === null) return name.endsWith("Fraction") ? 1 : value;
  return Object.fromEntries(Object.entries(value).map(([field, one]) => [field, absurd(one, field)]));
};

describe("an agent of a version to come, and one that lies", () => {
  it("are refused by name, and harm neither the regions that are honest nor the GTM's memory", async () => {
    await using regions = await startRedisRegions();
    const { redis } = regions;
    await regions.startAgent({ running: 3 });
    const gtm = await regions.startGtm();
    await until(async () => (await runningAt(gtm)) === 3, "the honest report");
    const model = JSON.parse(await redis.cli("get", reportKey(HERE, AgentId.parse("a1")))) as RegionReport;
    const bytesBefore = await gtm.metric("process_resident_memory_bytes");
    const store = openStore(StoreSettings.parse({ url: redis.url, deadline: "10s" }), {
      ...{ clock: systemClock, log: silentLogger, name: "liar" },
    });
    /** As the user of its region can: any value under its region's keys, its list, and any announcement. */
    const say = async (agent: string, value: string): Promise<void> => {
      await store.put(reportKey(THERE, AgentId.parse(agent)), value, 30_000);
      await store.indexAdd(agentsKey(THERE), agent, 1e300);
      await store.announce(reportedChannel(), `${THERE}/${agent}`);
    };
    const honest = (agent: string) => ({ ...model, region: THERE, agent });
    const refused = (reason: string) => refusedAt(gtm, reason, THERE);

    await say("a1", JSON.stringify(honest("a1")));
    await until(async () => (await runningAt(gtm, THERE)) === 3, "the report of this version");
    await say("a1", JSON.stringify({ ...honest("a1"), v: 2, seq: model.seq + 1, models: {} }));
    await until(async () => (await refused("version")) > 0, "the refusal of a version to come");
    const ageMs = (await regionAt(gtm, THERE)).reportAgeMs ?? 0;
    await until(
      async () => ((await regionAt(gtm, THERE)).reportAgeMs ?? 0) > ageMs + 200,
      "the age of the report before",
    );
    assert.match(String(gtm.said("report.refused", { reason: "version" })[0]?.["detail"]), /version 1.* of 2/);

    await say("absurd", JSON.stringify(absurd(honest("absurd"))));
    await say("thief", JSON.stringify({ ...model, seq: model.seq + 1_000 }));
    await until(async () => (await refused("other-region")) > 0, "the refusal of another region's report");
    for (let time = 0; time < 3; time++) await say("long", "x".repeat(10_000_000));
    await until(async () => (await refused("too-large")) > 0, "the refusal of 10 MB");
    for (let at = 0; at < 2 * MOST_AGENTS; at++) {
      await say(`ghost-${at}`, JSON.stringify(honest(`ghost-${at}`)));
      await store.announce(reportedChannel(), `nowhere-${at}/ghost`);
    }
    await until(async () => (await refused("too-many")) > 0, "that there are too many of them");
    await until(async () => (await refusedAt(gtm, "unknown-region", "unknown")) > 0, "regions that do not exist");
    await store.close();

    const answer = async (): Promise<number> => {
      const { status } = await fetch(`${gtm.url("http")}/v1/chat/completions`, {
        ...{ method: "POST", redirect: "manual", body: JSON.stringify({ model: SIMULATED_ALIAS, messages: [] }) },
        headers: { "content-type": "application/json", "x-forwarded-for": "192.0.2.7" },
      });
      return status;
    };
    // A probe or a scrape that this busy process answered late is made good by the next one.
    await until(async () => (await answer()) === 307, "a redirect");
    await until(async () => (await runningAt(gtm, HERE)) === 3, "the honest region's report");
    const { reportAgeMs, isPartial } = await regionAt(gtm, HERE);
    assert.equal(isPartial, false);
    assert.ok(isNow(reportAgeMs ?? Number.NaN), `${reportAgeMs} ms`);
    const grownBytes = (await gtm.metric("process_resident_memory_bytes")) - bytesBefore;
    assert.ok(grownBytes < 256 * 1_048_576, `${grownBytes} bytes`);
    assert.ok(gtm.said("report.refused").length < 60, "its log stays readable");
    assert.deepEqual(gtm.said("process.bug"), []);
  });
});
