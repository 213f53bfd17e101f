/**
 * Our own backlog estimate, for a rival: one number a replica, reported, drained with time, and everything that was sent
 * since added when it arrives; the replica that holds the prefix against the least loaded one.
 */
import { madeAtMs } from "#gtm/domain/heard-report.ts";
import { playedBacklogs } from "#gtm/domain/played-backlogs.ts";
import { leastLoaded, prefillMs, type Send } from "#gtm/domain/serving.ts";
import { replicaId } from "../region-reporter.ts";
import type { Arena } from "../rival.ts";
import type { QueueEstimate } from "./queue-estimate.ts";

/** @param patienceMs how much longer a holder may queue than the least loaded before a send is not booked on it */
export const createPlayedQueue = ({ scenario, known, agenda }: Arena, patienceMs: number): QueueEstimate => {
  const sends = scenario.fleet.map((): Send[] => []);
  const backlogsAt = (region: number, arrivalAtMs: number): readonly number[] => {
    const fleet = scenario.fleet[region];
    if (fleet === undefined) throw new RangeError(`there is no region ${region}`);
    const heard = known.report(region);
    const readAtMs = heard === null ? agenda.nowMs() : madeAtMs(heard);
    const kept = (sends[region] ?? []).filter((send) => send.arrivalAtMs > readAtMs);
    sends[region] = kept;
    const reported = new Map(
      heard?.report.models.flatMap((model) => model.replicas.map(({ id, backlogMs }) => [id, backlogMs])),
    );
    const reads = Array.from({ length: fleet.replicas }, (_, index) => {
      const replica = replicaId(fleet.site, index);
      return { replica, backlogMs: reported.get(replica) ?? 0, readAtMs };
    });
    return playedBacklogs(reads, kept, arrivalAtMs, patienceMs);
  };
  return {
    serve: ({ promptTokens }, region, match, arrivalAtMs) => {
      const fleet = scenario.fleet[region];
      if (fleet === undefined) throw new RangeError(`there is no region ${region}`);
      const backlogs = backlogsAt(region, arrivalAtMs);
      const fromZero = {
        queueMs: backlogs[leastLoaded(backlogs)] ?? 0,
        workMs: prefillMs(fleet.engine.speed, promptTokens, promptTokens),
        replica: null,
      };
      if (match.replica === null) return fromZero;
      const fromHeld = {
        queueMs: backlogs[match.replica] ?? 0,
        workMs: prefillMs(fleet.engine.speed, promptTokens - match.tokens, promptTokens),
        replica: replicaId(fleet.site, match.replica),
      };
      return fromHeld.queueMs + fromHeld.workMs <= fromZero.queueMs + fromZero.workMs ? fromHeld : fromZero;
    },
    sent: (_turn, { region, arrivalAtMs, served }) =>
      sends[region]?.push({ arrivalAtMs, workMs: served.workMs, replica: served.replica }),
    firstToken: () => {},
    ended: () => {},
  };
};
