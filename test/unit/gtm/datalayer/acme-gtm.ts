/** GTMs that answer challenges, as many as a test needs, on one store that it can take away. */
import { after } from "node:test";
import { createAcmeChallenges } from "#gtm/datalayer/acme.ts";
import { createDegradations } from "#gtm/datalayer/degradations.ts";
import { createStoreFailures } from "#gtm/datalayer/store-failures.ts";
import { createMetrics } from "#shared/metrics.ts";
import { createMemoryStore } from "#shared/store-memory.ts";
import { createFallibleStore, type FallibleStore } from "#test/support/fallible-store.ts";
import { createManualClock, type ManualClock } from "#test/support/manual-clock.ts";
import { recordingLog } from "#test/support/recording-log.ts";

export const WILD = "_acme-challenge.c.llm.test";
export const APEX = "_acme-challenge.llm.test";
const NAMES: ReadonlySet<string> = new Set([WILD, APEX, ...Array.from({ length: 1_100 }, (_, i) => `n${i}.llm.test`)]);

const running: { readonly stop: () => Promise<void> }[] = [];
after(() => Promise.all(running.map((one) => one.stop())));

export const startChallenges = async (store: FallibleStore, clock: ManualClock) => {
  const [log, metrics] = [recordingLog(), createMetrics()];
  const degradations = createDegradations({ clock, log: recordingLog(), metrics });
  const failures = createStoreFailures({ log, clock, metrics });
  const challenges = createAcmeChallenges({
    ...{ store, clock, log, metrics, failures, degradations },
    names: NAMES,
  });
  running.push(challenges);
  await challenges.start();
  return { ...challenges, log, degradations, metrics };
};

export const setUpChallenges = async () => {
  const clock = createManualClock();
  const inner = createMemoryStore(clock);
  const store = createFallibleStore(inner);
  return { clock, store, a: await startChallenges(store, clock), b: await startChallenges(store, clock) };
};

export const wish = (change: { name?: string; value?: string; actor?: string; forMs?: number } = {}) => ({
  ...{ name: WILD, value: "digest-1", actor: "lego", forMs: 600_000 },
  ...change,
});
