import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createAgentSignals } from "#edge-agent/signals.ts";
import { createMetrics } from "#shared/metrics.ts";
import { answers, heard, reportOf } from "#test/support/edge-agent.ts";
import { createManualClock } from "#test/support/manual-clock.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { recordingLog } from "#test/support/recording-log.ts";

const SOURCE = "10.0.0.5:8000";
const WELL = reportOf([heard([answers(0)])]);
const faulty = (...codes: readonly string[]) => ({
  ...WELL,
  faults: codes.map((code) => ({ source: SOURCE, field: "page", code })),
});

const signalled = () => {
  const clock = createManualClock();
  const log = recordingLog();
  const metrics = createMetrics();
  return { clock, log, metrics, signals: createAgentSignals("eu-central", { clock, log, metrics }) };
};

describe("a source that is faulty round after round", () => {
  it("is counted each time and told once a minute", async () => {
    const { clock, log, metrics, signals } = signalled();
    for (let second = 0; second < 61; second++) {
      signals.roundEnded(faulty("timed-out"), 5);
      clock.advance(1_000);
    }
    const labels = { region: "eu-central", source: SOURCE, code: "timed-out" };
    assert.equal(await metricValue(metrics, "edge_agent_faults_total", labels), 61);
    assert.deepEqual(
      log.lines.map(({ level, event, fields }) => [level, event, fields["source"], fields["faults"]]),
      [
        ["warn", "source.faulty", SOURCE, "page: timed-out"],
        ["warn", "source.faulty", SOURCE, "page: timed-out"],
      ],
    );
  });
  it("is told again when the trouble is another one, but not each time it trembles", () => {
    const { log, signals } = signalled();
    for (const code of ["timed-out", "refused", "timed-out", "refused"]) signals.roundEnded(faulty(code), 5);
    assert.deepEqual(
      log.lines.map(({ fields }) => fields["faults"]),
      ["page: timed-out", "page: refused"],
    );
  });
  it("is told to have recovered, once", () => {
    const { log, signals } = signalled();
    for (const report of [faulty("timed-out"), WELL, WELL]) signals.roundEnded(report, 5);
    assert.deepEqual(
      log.lines.map(({ level, event }) => [level, event]),
      [
        ["warn", "source.faulty"],
        ["info", "source.recovered"],
      ],
    );
  });
});

describe("the code of a warning", () => {
  const codes: readonly (readonly [field: string, code: string])[] = [
    ["page", "AGENT_SCRAPE_FAILED"],
    ["models", "AGENT_SCRAPE_FAILED"],
    ["requestsWaiting", "AGENT_PAYLOAD_INVALID"],
  ];
  for (const [field, code] of codes) {
    it(`is ${code} for a fault of ${field}`, () => {
      const { log, signals } = signalled();
      signals.roundEnded({ ...WELL, faults: [{ source: SOURCE, field, code: "x" }] }, 5);
      assert.deepEqual(
        log.lines.map(({ fields }) => fields["code"]),
        [code],
      );
    });
  }
});

describe("rounds", () => {
  it("are counted, and so are those left out", async () => {
    const { metrics, signals } = signalled();
    signals.roundEnded(WELL, 12);
    signals.roundsSkipped(2);
    assert.equal(await metricValue(metrics, "edge_agent_rounds_total", { region: "eu-central" }), 1);
    assert.equal(await metricValue(metrics, "edge_agent_rounds_skipped_total", { region: "eu-central" }), 2);
    assert.equal(await metricValue(metrics, "edge_agent_round_duration_seconds_sum", { region: "eu-central" }), 0.012);
  });
});

describe("several agents in one process", () => {
  it("share one set of metrics, apart by region", async () => {
    const { clock, log, metrics, signals } = signalled();
    const other = createAgentSignals("us-east", { clock, log, metrics });
    signals.reportPut();
    other.reportPut();
    other.reportPut();
    assert.equal(await metricValue(metrics, "edge_agent_reports_put_total", { region: "eu-central" }), 1);
    assert.equal(await metricValue(metrics, "edge_agent_reports_put_total", { region: "us-east" }), 2);
  });
});
