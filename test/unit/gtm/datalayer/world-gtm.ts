/** One GTM's world on a store that fails as the test wishes, with its clock in the test's hand. */
import { createCellRegions } from "#gtm/datalayer/cell-regions.ts";
import { createDegradations } from "#gtm/datalayer/degradations.ts";
import { createStoreFailures } from "#gtm/datalayer/store-failures.ts";
import { createWorldSource, type WorldSource } from "#gtm/datalayer/world-source.ts";
import { NO_DRAINS } from "#gtm/domain/drain-schedule.ts";
import type { Region } from "#gtm/domain/region.ts";
import { DEFAULT_POLICY } from "#gtm/steering/policy.ts";
import { InstanceId } from "#shared/ids.ts";
import { createMetrics } from "#shared/metrics.ts";
import { createMemoryStore } from "#shared/store-memory.ts";
import { createFallibleStore } from "#test/support/fallible-store.ts";
import { createManualClock } from "#test/support/manual-clock.ts";
import { publishReport } from "#test/support/publish-report.ts";
import { recordingLog } from "#test/support/recording-log.ts";
import { aModel, aReport, aSite, regionIn, UNTAUGHT } from "#test/support/report-builders.ts";
import { until } from "#test/support/until.ts";

export const NAMES = ["frankfurt", "paris", "virginia"];

const SILENT = {
  look: () => {},
  said: () => ({ boot: "", version: "", says: null }),
  hear: () => {},
  sawDouble: () => {},
};

export const aWorldGtm = () => {
  const clock = createManualClock();
  const store = createFallibleStore(createMemoryStore(clock));
  const [log, metrics] = [recordingLog(), createMetrics()];
  const degradations = createDegradations({ clock, log: recordingLog(), metrics });
  const wiped = { count: 0 };
  const made = (): WorldSource =>
    createWorldSource({
      ...{
        store,
        clock,
        log,
        metrics,
        instance: InstanceId.parse("gtm-1"),
        policy: DEFAULT_POLICY,
        models: [aModel()],
      },
      ...{ degradations, failures: createStoreFailures({ log, metrics, clock }), agreement: SILENT },
      sites: NAMES.map((name) => aSite(name)),
      reportKeys: new Map(),
      probes: () => new Map(),
      admin: () => new Map(),
      overrides: () => [],
      drains: () => NO_DRAINS,
      live: () => [],
      learning: UNTAUGHT,
      cells: createCellRegions(clock),
      onWiped: () => {
        wiped.count += 1;
      },
    });
  const source = made();
  let seq = 0;
  const publish = (...names: readonly string[]) => {
    seq += 1;
    return Promise.all(names.map((name) => publishReport(store, clock, aReport(name, { seq }))));
  };
  const region = (name: string): Region => regionIn(source.world(), name);
  return {
    ...{ clock, store, log, metrics, degradations, wiped, made, source, publish, region },
    /** What is degraded, and nothing of why. */
    whats: () => degradations.current().map(({ what }) => what),
    reasonOf: (what: string) => degradations.current().find((one) => one.what === what)?.reason ?? "",
    /** Lets time pass while regions report each second, as they do. */
    live: async (seconds: number, ...names: readonly string[]) => {
      for (let second = 0; second < seconds; second++) {
        clock.advance(1_000);
        await publish(...names);
        await until(() => source.world().takenAtMs === clock.monotonicMs());
      }
    },
    [Symbol.asyncDispose]: () => source.stop(),
  };
};
