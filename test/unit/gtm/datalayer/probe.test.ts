/** What probes say of a region, and when. */
import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { createProbes, type ProbeTarget } from "#gtm/datalayer/probe.ts";
import { type ProbeOutcome, timedOut } from "#gtm/datalayer/probe-request.ts";
import { createMetrics } from "#shared/metrics.ts";
import { regionId } from "#test/support/builders.ts";
import { createManualClock } from "#test/support/manual-clock.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { recordingLog } from "#test/support/recording-log.ts";
import { until } from "#test/support/until.ts";

const target = (name: string): ProbeTarget => ({
  region: regionId(name),
  url: `https://192.0.2.10/healthz?of=${name}`,
  host: null,
  intervalMs: 1_000,
  timeoutMs: 800,
  fall: 3,
  rise: 2,
});
const good: ProbeOutcome = { kind: "good" };
const bad: ProbeOutcome = { kind: "status", detail: "503" };

/** Every probe takes the next outcome; `run` lets so many intervals pass. */
const setUp = async (
  test: TestContext,
  outcomes: readonly ProbeOutcome[],
  names: readonly string[] = ["frankfurt"],
) => {
  test.mock.timers.enable({ apis: ["setTimeout"] });
  const [log, metrics] = [recordingLog(), createMetrics()];
  const asked: string[] = [];
  let changes = 0;
  const probes = createProbes({
    ...{ log, metrics, targets: names.map(target), clock: createManualClock() },
    onChanged: () => {
      changes += 1;
    },
    request: {
      request: async ({ url }) => {
        asked.push(url.slice(url.indexOf("=") + 1));
        return outcomes[asked.length - 1] ?? good;
      },
      close: async () => {},
    },
  });
  await probes.start();
  const run = async (intervals: number): Promise<void> => {
    for (let i = 0; i < intervals; i++) {
      const before = asked.length;
      test.mock.timers.tick(1_000);
      // The outcome and the next timer come with the promises that the timer started.
      for (let turn = 0; turn < 10; turn++) await Promise.resolve();
      assert.ok(asked.length > before, "a probe was due");
    }
  };
  return {
    probes,
    run,
    log,
    metrics,
    asked,
    changes: () => changes,
    fact: () => probes.facts().get(regionId("frankfurt")),
  };
};

describe("a region that is probed each second, with fall 3 and rise 2", () => {
  it("is unknown before the first result", async (test) => {
    const { fact } = await setUp(test, []);
    assert.equal(fact(), undefined);
  });
  it("is not down after two failures, down after three, and told of once", async (test) => {
    const { fact, run, log } = await setUp(test, [bad, bad, bad, bad]);
    await run(2);
    assert.deepEqual(fact(), { isDown: false, failedInARow: 2, goodInARow: 0 });
    await run(2);
    assert.equal(fact()?.isDown, true);
    assert.deepEqual(
      log.lines.map(({ level, event, fields }) => [level, event, fields["region"], fields["detail"]]),
      [["warn", "probe.down", "frankfurt", "503"]],
    );
  });
  it("is back after two good ones", async (test) => {
    const { fact, run, log } = await setUp(test, [bad, bad, bad, good, good]);
    await run(4);
    assert.equal(fact()?.isDown, true);
    await run(1);
    assert.deepEqual(fact(), { isDown: false, failedInARow: 0, goodInARow: 2 });
    assert.equal(log.lines.at(-1)?.event, "probe.up");
  });
  it("changes the world when something is new, not with every good result", async (test) => {
    const { run, changes } = await setUp(test, [good, good, good, bad, good]);
    await run(3);
    assert.equal(changes(), 1);
    await run(2);
    assert.equal(changes(), 3);
  });
  it("is counted by outcome", async (test) => {
    const { run, metrics } = await setUp(test, [
      good,
      bad,
      { kind: "timeout", detail: "" },
      { kind: "error", detail: "" },
    ]);
    await run(4);
    for (const outcome of ["good", "status", "timeout", "error"]) {
      assert.equal(await metricValue(metrics, "gtm_probes_total", { region: "frankfurt", outcome }), 1);
    }
  });
});

describe("a process that was not there when a probe's time was up", () => {
  it("learns nothing from it: an answer may lie unread", async (test) => {
    const late = timedOut(800, 2_600);
    assert.equal(late.kind, "late");
    const { run, fact, log, changes } = await setUp(test, [good, late, late, late, late]);
    await run(5);
    assert.deepEqual(fact(), { isDown: false, failedInARow: 0, goodInARow: 1 });
    assert.equal(changes(), 1);
    assert.deepEqual([...new Set(log.lines.map(({ event }) => event))], ["probe.late"]);
  });
  it("knows a time-out that it noticed in time", () => {
    assert.deepEqual(timedOut(800, 805), { kind: "timeout", detail: "timed out after 800 ms" });
    assert.equal(timedOut(800, 1_200).kind, "timeout");
  });
});

describe("several regions", () => {
  it("are probed apart from each other within the interval", async (test) => {
    const { asked } = await setUp(test, [], ["frankfurt", "paris", "virginia"]);
    test.mock.timers.tick(0);
    assert.deepEqual(asked, ["frankfurt"]);
    test.mock.timers.tick(334);
    assert.deepEqual(asked, ["frankfurt", "paris"]);
    test.mock.timers.tick(334);
    assert.deepEqual(asked, ["frankfurt", "paris", "virginia"]);
  });
});

describe("a stopped probe", () => {
  it("asks nobody any more", async (test) => {
    const { probes, asked, run } = await setUp(test, []);
    await run(1);
    await probes.stop();
    const before = asked.length;
    test.mock.timers.tick(60_000);
    await until(() => true);
    assert.equal(asked.length, before);
  });
});
