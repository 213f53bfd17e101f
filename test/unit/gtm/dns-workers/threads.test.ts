import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ToThread } from "#gtm/dns-workers/messages.ts";
import type { Thread } from "#gtm/dns-workers/thread.ts";
import { createThreads } from "#gtm/dns-workers/threads.ts";
import type { Listen } from "#gtm/wire/dns/listen.ts";
import { systemClock } from "#shared/clock.ts";
import { createMetrics } from "#shared/metrics.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { recordingLog } from "#test/support/recording-log.ts";
import { until } from "#test/support/until.ts";

type Faked = Thread & {
  readonly opened: (readonly Listen[])[];
  readonly die: (why: string) => void;
  readonly wasStopped: () => boolean;
};

const aThread = (openFails: string | null): Faked => {
  const ended = Promise.withResolvers<string>();
  const opened: (readonly Listen[])[] = [];
  let isStopped = false;
  return {
    opened,
    tell: (_message: ToThread) => {},
    ready: Promise.resolve(),
    open: async (listen) => {
      opened.push(listen);
      if (openFails !== null) throw new Error(openFails);
      return listen.map((at) => ("port" in at && at.port === 0 ? { ...at, port: 5_353 } : (at as never)));
    },
    stop: async () => {
      isStopped = true;
      ended.resolve("stopped");
    },
    end: async () => ended.resolve("terminated"),
    ended: ended.promise,
    die: ended.resolve,
    wasStopped: () => isStopped,
  };
};

/** @param openFails of the threads in the order that they are spawned */
const setting = (openFails: readonly (string | null)[] = []) => {
  const metrics = createMetrics();
  const log = recordingLog();
  const spawned: Faked[] = [];
  const joined = new Set<unknown>();
  const away: (string | null)[] = [];
  const threads = createThreads({
    count: 2,
    spawn: () => {
      const made = aThread(openFails[spawned.length] ?? null);
      spawned.push(made);
      return made;
    },
    snapshots: {
      join: async (tell) => {
        joined.add(tell);
      },
      leave: (tell) => joined.delete(tell),
    },
    onEnded: () => {},
    onAway: (reason) => away.push(reason),
    ...{ clock: systemClock, metrics, log },
  });
  const events = (event: string) => log.lines.filter((line) => line.event === event).map(({ fields }) => fields);
  return { threads, spawned, joined, away, events, count: (name: string) => metricValue(metrics, name) };
};

const ANY_PORT = [{ address: "127.0.0.1", port: 0 }];
const FOUND_PORT = [{ address: "127.0.0.1", port: 5_353 }];

describe("threads that start", () => {
  it("all open the port that the first one found", async () => {
    const { threads, spawned, count } = setting();
    assert.deepEqual(await threads.start(ANY_PORT), FOUND_PORT);
    assert.deepEqual(
      spawned.map(({ opened }) => opened),
      [[ANY_PORT], [FOUND_PORT]],
    );
    assert.equal(await count("gtm_dns_workers"), 2);
    await threads.stop();
    assert.ok(spawned.every((one) => one.wasStopped()));
  });

  it("are all gone again where one of them cannot open its port", async () => {
    const { threads, spawned, joined } = setting([null, "taken"]);
    await assert.rejects(() => threads.start(ANY_PORT), /taken/);
    assert.deepEqual(await Promise.all(spawned.map(({ ended }) => ended)), ["terminated", "terminated"]);
    assert.equal(joined.size, 0);
  });
});

describe("a thread that ends by itself", () => {
  it("is started again, later with each failure, and what it died of is told", async () => {
    const { threads, spawned, away, events, count, joined } = setting([null, null, "taken", null]);
    await threads.start(ANY_PORT);
    spawned[1]?.die("Error: out of memory\n    at somewhere");
    await until(async () => (await count("gtm_dns_worker_restarts_total")) === 2);
    await until(async () => (await count("gtm_dns_workers")) === 2);
    assert.deepEqual(
      events("dns.worker-ended").map(({ worker, fault, restartInMs }) => [worker, fault, restartInMs]),
      [
        [1, "Error: out of memory\n    at somewhere", 100],
        [1, "taken", 200],
      ],
    );
    assert.deepEqual(away.at(-2), "1 of 2 DNS threads are away: Error: out of memory");
    assert.equal(away.at(-1), null);
    assert.deepEqual(spawned.at(-1)?.opened, [FOUND_PORT]);
    assert.equal(joined.size, 2);
    await threads.stop();
  });

  it("is not started again once all are being stopped", async () => {
    const { threads, spawned, events } = setting();
    await threads.start(ANY_PORT);
    spawned[0]?.die("gone");
    await until(() => events("dns.worker-ended").length > 0);
    await threads.stop();
    assert.equal(spawned.length, 2);
  });
});
