/** Puts a report into the store the way an edge agent does. */
import type { Clock } from "#shared/clock.ts";
import { agentsKey, KEYS, reportedChannel, reportKey } from "#shared/keys.ts";
import type { RegionReport } from "#shared/report.ts";
import type { Store } from "#shared/store.ts";

/** @param announced false: the message is lost on the way */
export const publishReport = async (
  store: Store,
  clock: Clock,
  report: RegionReport,
  announced = true,
): Promise<void> => {
  const member = `${report.region}/${report.agent}`;
  await store.put(reportKey(report.region, report.agent), JSON.stringify(report), KEYS.report.ttlMs);
  await store.indexAdd(agentsKey(report.region), report.agent, clock.epochMs());
  if (announced) await store.announce(reportedChannel(), member);
};
