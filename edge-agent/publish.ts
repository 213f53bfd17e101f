/** Puts the report where the GTMs read it. Only the newest matters: none is queued, none is tried twice. */
import type { Clock } from "#shared/clock.ts";
import { OperationalError } from "#shared/errors.ts";
import { agentsKey, KEYS, reportedChannel, reportKey } from "#shared/keys.ts";
import { LONGEST_REPORT, type RegionReport } from "#shared/report.ts";
import type { Store } from "#shared/store.ts";
import type { AgentPorts } from "./ports.ts";
import type { AgentSignals } from "./signals.ts";

export const createPublish =
  (by: { readonly store: Store; readonly clock: Clock; readonly signals: AgentSignals }): AgentPorts["publish"] =>
  async (report) => {
    try {
      await put(by.store, report, by.clock.epochMs());
      by.signals.reportPut();
    } catch (error) {
      by.signals.reportFailed(error instanceof Error ? error.message : String(error));
    }
  };

const put = async (store: Store, report: RegionReport, nowEpochMs: number): Promise<void> => {
  const { region, agent } = report;
  const text = reportText(report);
  if (text.length > LONGEST_REPORT) {
    const message = `the GTMs take reports of ${LONGEST_REPORT} characters at most, this one has ${text.length}`;
    throw new OperationalError("AGENT_PAYLOAD_INVALID", message);
  }
  await store.put(reportKey(region, agent), text, KEYS.report.ttlMs);
  await store.indexAdd(agentsKey(region), agent, nowEpochMs);
  await store.announce(reportedChannel(), `${region}/${agent}`);
};

/** The value of the report's key. */
export const reportText = (report: RegionReport): string => JSON.stringify(report);
