/** Agents that sign with the files of `gtm keys`, and a GTM that verifies with the others, while a region's key changes. */
import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { AgentConfig } from "#edge-agent/config.ts";
import { type RunningAgent, startAgent } from "#edge-agent/start-agent.ts";
import { createReports, type Reports } from "#gtm/datalayer/reports.ts";
import { createStandingKeys, type StandingKeys } from "#gtm/keys/standing-keys.ts";
import { systemClock } from "#shared/clock.ts";
import { silentLogger } from "#shared/logger.ts";
import { createMetrics } from "#shared/metrics.ts";
import { createMemoryStore } from "#shared/store-memory.ts";
import { regionId } from "#test/support/builders.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { until } from "#test/support/until.ts";
import { runCli } from "#test/unit/gtm/cli/fake-io.ts";

const dir = mkdtempSync(join(tmpdir(), "gtm-report-keys-"));
after(() => rmSync(dir, { recursive: true }));

describe("a region's report key", () => {
  const store = createMemoryStore(systemClock);
  const metrics = createMetrics();
  const agents: RunningAgent[] = [];
  let keys: StandingKeys;
  let reports: Reports;

  const gtmKeys = async (...words: readonly string[]): Promise<void> => {
    const { exitCode, err } = await runCli(["keys", ...words, "--dir", dir]);
    assert.equal(exitCode, 0, err);
    keys?.reload();
  };
  /** With the key that the region's file holds now, as a restarted agent reads it. */
  const start = async (agent: string): Promise<RunningAgent> => {
    const key_file = join(dir, `${agent}.key`);
    copyFileSync(join(dir, "report-eu-central.key"), key_file);
    const config = AgentConfig.parse({
      ...{ version: 1, region: "eu-central", agent, store: { url: "memory:" } },
      ...{ report: { interval: "200ms", key_file }, engines: [{ url: "http://127.0.0.1:1", engine: "vllm" }] },
    });
    const running = await startAgent(config, store, {
      clock: systemClock,
      log: silentLogger,
      metrics: createMetrics(),
    });
    agents.push(running);
    return running;
  };
  const heardSeq = (agent: string): number =>
    reports.heard().find(({ report }) => report.agent === agent)?.report.seq ?? 0;
  const isHeardAnew = async (agent: string): Promise<void> => {
    const from = heardSeq(agent);
    await until(() => heardSeq(agent) > from, `a newer report of ${agent}`);
  };
  const refused = (): Promise<number> =>
    metricValue(metrics, "gtm_reports_refused_total", { region: "eu-central", reason: "signature" });

  before(async () => {
    await gtmKeys("init", "--region", "eu-central");
    const regions = [regionId("eu-central")];
    const parts = { log: silentLogger, metrics };
    keys = createStandingKeys({
      ...{ ...parts, regions },
      files: { identity: null, signing: null, ticket: null, reports: join(dir, "reports.keys"), cookie: null },
    });
    reports = createReports({
      ...{ ...parts, regions, store, clock: systemClock, reportKeys: keys.reportKeys, expiredAfterMs: 30_000 },
      onHeard: () => {},
      onFailed: (cause) => assert.fail(String(cause)),
    });
    await reports.resync();
  });
  after(async () => {
    for (const agent of agents) await agent.stop();
    await reports.stop();
  });

  it("changes without one report refused, and then the old key is refused", async () => {
    const first = await start("one");
    await isHeardAnew("one");
    await gtmKeys("rotate", "reports", "eu-central");
    await isHeardAnew("one");
    await gtmKeys("rotate", "reports", "eu-central", "--activate");
    await isHeardAnew("one");
    await start("two");
    await isHeardAnew("two");
    assert.equal(await refused(), 0);
    await gtmKeys("drop", "reports", "eu-central");
    await until(async () => (await refused()) > 0, "the old key being refused");
    await isHeardAnew("two");
    await first.stop();
  });
});
