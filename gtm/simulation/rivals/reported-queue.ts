/**
 * A region's queue as its newest report has it, plus what was sent there since: work that waits, over all replicas alike.
 * It does not drain between reports, and does not tell a full replica from an idle one beside it.
 */
import { madeAtMs } from "#gtm/domain/heard-report.ts";
import { prefillMs } from "#gtm/domain/serving.ts";
import type { Arena } from "../rival.ts";
import type { QueueEstimate } from "./queue-estimate.ts";

export const createReportedQueue = ({ scenario, known }: Arena): QueueEstimate => {
  const sends = scenario.fleet.map((): { readonly arrivalAtMs: number; readonly workMs: number }[] => []);
  const queueMs = (region: number): number => {
    const heard = known.report(region);
    const reportedAtMs = heard === null ? Number.NEGATIVE_INFINITY : madeAtMs(heard);
    const list = sends[region] ?? [];
    // In the order of sending, which is nearly that of arrival.
    while ((list[0]?.arrivalAtMs ?? Number.POSITIVE_INFINITY) <= reportedAtMs) list.shift();
    const replicas = heard?.report.models.flatMap((model) => model.replicas) ?? [];
    const reportedMs = replicas.reduce((sum, { backlogMs }) => sum + (backlogMs ?? 0), 0);
    const sentMs = list.reduce((sum, { workMs }) => sum + workMs, 0);
    return (reportedMs + sentMs) / (scenario.fleet[region]?.replicas ?? 1);
  };
  return {
    serve: ({ promptTokens }, region, match) => {
      const speed = scenario.fleet[region]?.engine.speed;
      if (speed === undefined) throw new RangeError(`there is no region ${region}`);
      const workMs = prefillMs(speed, promptTokens - match.tokens, promptTokens);
      return { queueMs: queueMs(region), workMs, replica: null };
    },
    sent: (_turn, { region, arrivalAtMs, served }) => sends[region]?.push({ arrivalAtMs, workMs: served.workMs }),
    firstToken: () => {},
    ended: () => {},
  };
};
