import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { LabelAsk } from "#gtm/dns-workers/messages.ts";
import { createRemoteLabels } from "#gtm/dns-workers/remote-labels.ts";
import type { FoundLabel } from "#gtm/wire/dns/label-finder.ts";
import { PoolName } from "#shared/ids.ts";
import { createMetrics } from "#shared/metrics.ts";
import { createManualClock } from "#test/support/manual-clock.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { recordingLog } from "#test/support/recording-log.ts";
import { until } from "#test/support/until.ts";

const found = (pool: string): FoundLabel => ({
  finding: { kind: "stranger", pool: PoolName.parse(pool) },
  atMs: 0,
  candidacyVersion: 1,
});

const setting = (withinMs: number) => {
  const metrics = createMetrics();
  const log = recordingLog();
  const messages: (readonly LabelAsk[])[] = [];
  const clock = createManualClock();
  const remote = createRemoteLabels({
    ask: (asked) => messages.push(asked),
    findHere: async () => found("here"),
    ...{ withinMs, clock, metrics, log },
  });
  const alone = (reason: string) => metricValue(metrics, "gtm_dns_labels_alone_total", { reason });
  return { remote, messages, alone, log, clock };
};

describe("labels that the main thread is asked for", () => {
  it("go in one message, and each gets its own answer", async () => {
    const { remote, messages } = setting(60_000);
    const [a, b] = [remote.find("a", "192.0.2.0/24"), remote.find("b", "192.0.2.0/24")];
    await until(() => messages.length > 0);
    const [asked = []] = messages;
    assert.deepEqual(
      asked.map(({ label, clientSubnet }) => [label, clientSubnet]),
      [
        ["a", "192.0.2.0/24"],
        ["b", "192.0.2.0/24"],
      ],
    );
    remote.hear(asked.map(({ ask, label }) => ({ ask, found: found(`of-${label}`) })).toReversed());
    assert.deepEqual([await a, await b], [found("of-a"), found("of-b")]);
    assert.equal(messages.length, 1);
  });

  it("are answered here when it is late, counted each, told once in ten seconds; its late answer does no harm", async () => {
    const { remote, messages, alone, log, clock } = setting(1);
    for (const label of ["a", "b"]) assert.deepEqual(await remote.find(label, "192.0.2.0/24"), found("here"));
    assert.equal(await alone("late"), 2);
    assert.equal(log.lines.length, 1);
    remote.hear(messages.flat().map(({ ask }) => ({ ask, found: found("late") })));
    clock.advance(10_000);
    await remote.find("c", "192.0.2.0/24");
    assert.deepEqual(
      log.lines.map(({ level, event }) => [level, event]),
      [
        ["warn", "dns.label-alone"],
        ["warn", "dns.label-alone"],
      ],
    );
  });

  it("are answered here when it has too much to do", async () => {
    const { remote, messages, alone } = setting(60_000);
    const asked = remote.find("a", "192.0.2.0/24");
    await until(() => messages.length > 0);
    remote.hear([{ ask: messages[0]?.[0]?.ask ?? -1, found: null }]);
    assert.deepEqual(await asked, found("here"));
    assert.equal(await alone("overload"), 1);
  });
});
