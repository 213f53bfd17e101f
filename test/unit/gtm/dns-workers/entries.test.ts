import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createMergedEntries } from "#gtm/dns-workers/merged-entries.ts";
import { createRelayedEntries } from "#gtm/dns-workers/relayed-entries.ts";
import type { Entry } from "#gtm/steering/ports.ts";
import type { DecisionId } from "#shared/ids.ts";
import { createMetrics } from "#shared/metrics.ts";
import { anEntry } from "#test/support/entry-builders.ts";
import { createManualClock } from "#test/support/manual-clock.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { recordingLog } from "#test/support/recording-log.ts";

const setting = () => {
  const clock = createManualClock();
  const metrics = createMetrics();
  const log = recordingLog();
  const recorded: { entry: Entry; atMs: number }[] = [];
  const merged = createMergedEntries({
    ...{ clock, metrics, log },
    recorderAt: (at) => (entry) => recorded.push({ entry, atMs: at.monotonicMs() }),
  });
  let dropped = 0;
  const threads = [0, 1].map(() =>
    createRelayedEntries(clock, () => {
      dropped += 1;
    }),
  );
  const bookAll = (): void => {
    // As they travel: copies.
    for (const thread of threads) merged.book(structuredClone(thread.take()));
  };
  return { clock, metrics, log, recorded, threads, bookAll, dropped: () => dropped };
};

const decided = (id: string, answered: { value: number }, region = "frankfurt"): Entry => {
  const entry = anEntry({});
  const verdict = { kind: "placed", region, runnerUp: null, leadMs: null } as Entry["decision"]["verdict"];
  return { ...entry, answered, decision: { ...entry.decision, id: id as DecisionId, verdict } };
};

describe("what two threads decided alike", () => {
  it("is one record, answered as often as both answered it, for as long as it stands", () => {
    const { recorded, threads, bookAll } = setting();
    const counts = threads.map((thread) => {
      const answered = { value: 0 };
      thread.record(decided("same", answered));
      return answered;
    });
    for (const count of counts) count.value += 2;
    bookAll();
    for (const count of counts) count.value += 1;
    bookAll();
    assert.equal(recorded.length, 1);
    assert.equal(recorded[0]?.entry.answered.value, 6);
  });

  it("counts what was answered before an epoch ended, and nothing after", () => {
    const { recorded, threads, bookAll } = setting();
    const answered = { value: 0 };
    threads[0]?.record(decided("one", answered));
    bookAll();
    answered.value += 5;
    threads[0]?.turnEpoch();
    bookAll();
    assert.equal(recorded[0]?.entry.answered.value, 5);
    answered.value += 1;
    bookAll();
    assert.equal(recorded[0]?.entry.answered.value, 5);
  });

  it("is recorded as of when it was made, not of when it is heard of", () => {
    const { clock, recorded, threads, bookAll } = setting();
    const madeAtMs = clock.monotonicMs();
    threads[1]?.record(decided("late", { value: 1 }));
    clock.advance(90);
    bookAll();
    assert.equal(recorded[0]?.atMs, madeAtMs);
  });

  it("is known for five seconds and more", () => {
    const { clock, recorded, threads, bookAll } = setting();
    threads[0]?.record(decided("same", { value: 1 }));
    bookAll();
    clock.advance(5_000);
    threads[1]?.record(decided("same", { value: 1 }));
    bookAll();
    assert.equal(recorded.length, 1);
    assert.equal(recorded[0]?.entry.answered.value, 2);
  });
});

describe("two threads that decide the same differently", () => {
  it("are a bug that is counted and told", async () => {
    const { metrics, log, threads, bookAll } = setting();
    threads[0]?.record(decided("same", { value: 1 }, "frankfurt"));
    threads[1]?.record(decided("same", { value: 1 }, "virginia"));
    bookAll();
    assert.equal(await metricValue(metrics, "gtm_dns_worker_disagreements_total"), 1);
    assert.deepEqual(
      log.lines.map(({ level, event, fields }) => [level, event, fields["region"], fields["other"]]),
      [["error", "dns.workers-disagree", "frankfurt", "virginia"]],
    );
  });
});

describe("more decisions than the main thread can record", () => {
  it("are dropped beyond three thousand an epoch, and counted", () => {
    const { recorded, threads, bookAll, dropped } = setting();
    for (let i = 0; i < 3_010; i++) threads[0]?.record(decided(`id-${i}`, { value: 1 }));
    assert.equal(dropped(), 10);
    bookAll();
    assert.equal(recorded.length, 3_000);
    threads[0]?.record(decided("one-more", { value: 1 }));
    assert.equal(dropped(), 11);
    threads[0]?.turnEpoch();
    threads[0]?.record(decided("next", { value: 1 }));
    bookAll();
    assert.equal(recorded.length, 3_001);
  });
});
