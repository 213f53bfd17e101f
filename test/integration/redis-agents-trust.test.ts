/** Whom a GTM believes, over a real Redis: signatures, and clocks that are wrong. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { describe, it } from "node:test";
import { isNow, refusedAt, regionAt, runningAt, startRedisRegions } from "#test/support/redis-regions.ts";
import type { RunningProgram } from "#test/support/running-program.ts";
import { until } from "#test/support/until.ts";

const HOUR_MS = 3_600_000;
const newKey = (): string => randomBytes(32).toString("base64");

const ageAt = async (gtm: RunningProgram, region = "eu-central"): Promise<number> =>
  (await regionAt(gtm, region)).reportAgeMs ?? Number.NaN;

describe("agents and a GTM whose clocks are an hour off, either way", () => {
  it("agree on the age of every report, which is Redis's", async () => {
    await using regions = await startRedisRegions();
    await regions.startAgent({ region: "eu-central", running: 3, clockOffMs: -HOUR_MS });
    await regions.startAgent({ region: "us-east", running: 4, clockOffMs: HOUR_MS });
    const gtm = await regions.startGtm({ clockOffMs: HOUR_MS });
    await until(async () => (await runningAt(gtm)) === 3 && (await runningAt(gtm, "us-east")) === 4, "both reports");
    for (const region of ["eu-central", "us-east"]) {
      const { reportAgeMs, isPartial } = await regionAt(gtm, region);
      assert.ok(isNow(reportAgeMs ?? Number.NaN), `${region}: ${reportAgeMs} ms`);
      assert.equal(isPartial, false);
    }
    const scores = await Promise.all(
      ["eu-central", "us-east"].map((region) => regions.redis.cli("zscore", `gtm:v1:agents:{${region}}`, "a1")),
    );
    // They wrote what their clocks said.
    const apartMs = Number(scores[1]) - Number(scores[0]);
    assert.ok(Math.abs(apartMs - 2 * HOUR_MS) < 60_000, `${apartMs} ms`);
  });
});

describe("a GTM that has a report key for each region", () => {
  it("believes what is signed with it, refuses the rest by name, and lets the report before age", async () => {
    await using regions = await startRedisRegions();
    const [here, there] = [newKey(), newKey()];
    const gtm = await regions.startGtm({ keys: { "eu-central": here, "us-east": there } });
    const signed = await regions.startAgent({ key: here, running: 3 });
    const ofAnother = await regions.startAgent({ region: "us-east", key: here, running: 4 });
    await until(async () => (await runningAt(gtm)) === 3, "the signed report");
    await until(async () => (await refusedAt(gtm, "signature", "us-east")) > 0, "the refusal of another region's key");
    assert.equal((await regionAt(gtm, "us-east")).reportAgeMs, null);
    await ofAnother.program[Symbol.asyncDispose]();

    await signed.program[Symbol.asyncDispose]();
    await regions.startAgent({ running: 5 });
    await until(async () => (await refusedAt(gtm, "signature")) > 0, "the refusal of the unsigned report");
    // The signed agent reported each second; later than some seconds after its end its silence stops the ages, as everybody's does.
    await until(async () => (await ageAt(gtm)) > 1_500, "the age of the report before");
    assert.equal(await runningAt(gtm), 3);
    assert.deepEqual(
      gtm.said("report.refused").map(({ agent, reason, level }) => [agent, reason, level]),
      [
        ["us-east/a1", "signature", "warn"],
        ["eu-central/a1", "signature", "warn"],
      ],
    );
  });
});
