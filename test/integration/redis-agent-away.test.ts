/** An agent whose Redis is away: it scrapes on, says what is wrong, and reports as soon as there is somebody to report to. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { startRedisRegions } from "#test/support/redis-regions.ts";
import { until } from "#test/support/until.ts";

const KEY = "gtm:v1:report:{eu-central}:a1";

describe("an agent whose Redis goes away", () => {
  it("keeps scraping, says so, warns once, and reports again as soon as it is back", async () => {
    await using regions = await startRedisRegions();
    const { redis } = regions;
    const { program, engine } = await regions.startAgent();
    const metric = (name: string) => program.metric(name, { region: "eu-central" });
    await until(async () => (await metric("edge_agent_store_up")) === 1, "that the store is up");
    assert.deepEqual(await program.get("metrics", "/readyz"), { status: 200, text: "ok\n" });

    redis.kill("SIGKILL");
    await until(async () => (await metric("edge_agent_store_up")) === 0, "that the store is down");
    const [rounds, asked] = [await metric("edge_agent_rounds_total"), engine.requests.length];
    const isNotReady = async (): Promise<boolean> => (await program.get("metrics", "/readyz")).status === 503;
    await until(isNotReady, "that it is not ready");
    assert.match((await program.get("metrics", "/readyz")).text, /^the last report was put \d+ s ago\n$/);
    assert.ok((await metric("edge_agent_rounds_total")) > rounds);
    assert.ok(engine.requests.length > asked);
    const warnings = program.said("report.not-put");
    assert.deepEqual(
      warnings.map(({ level, code }) => [level, code]),
      [["warn", "AGENT_PUBLISH_FAILED"]],
    );

    await redis.restart();
    await until(async () => (await metric("edge_agent_store_up")) === 1, "that the store is up");
    await until(async () => (await redis.cli("exists", KEY)) === "1", "the report");
    assert.equal((await program.get("metrics", "/readyz")).status, 200);
    assert.equal(await redis.cli("zrange", "gtm:v1:agents:{eu-central}", "0", "-1"), "a1");
    assert.equal(program.said("store.recovered").length, 1);
  });

  it("hangs on no Redis that hangs", async () => {
    await using regions = await startRedisRegions();
    const { redis } = regions;
    const { program } = await regions.startAgent();
    const metric = (name: string) => program.metric(name, { region: "eu-central" });
    redis.kill("SIGSTOP");
    await until(async () => (await metric("edge_agent_reports_failed_total")) >= 3, "reports that failed");
    redis.kill("SIGCONT");
    const put = await metric("edge_agent_reports_put_total");
    await until(async () => (await metric("edge_agent_reports_put_total")) > put, "a report that was put");
  });
});

describe("an agent that starts while Redis is away", () => {
  it("lives, is not ready, and reports when Redis comes", async () => {
    await using regions = await startRedisRegions();
    regions.redis.kill("SIGKILL");
    const { program } = await regions.startAgent();
    assert.equal((await program.get("metrics", "/livez")).status, 200);
    assert.deepEqual(await program.get("metrics", "/readyz"), { status: 503, text: "no report has been put yet\n" });
    await regions.redis.restart();
    await until(async () => (await program.get("metrics", "/readyz")).status === 200, "that it is ready");
    assert.equal(await regions.redis.cli("exists", KEY), "1");
  });
});
