/** The replicas of one model in one region, from all its agents' reports, their backlogs played forward to now. */
import type { ReplicaId } from "#shared/ids.ts";
import { type HeardReport, type ModelHeard, madeAtMs, type ReplicaHeard } from "./heard-report.ts";
import { bounded, meanOfKnown } from "./known.ts";
import type { PlacementState, Replica } from "./placement.ts";
import { playedBacklogs } from "./played-backlogs.ts";
import { reportedSpeed } from "./prefill-speeds.ts";
import { type PrefillSpeed, prefillMs, type Send } from "./serving.ts";

/** What one agent says of the model. */
export type PlacementPart = { readonly heard: HeardReport; readonly model: ModelHeard };

export type ReplicaContext = {
  /** The speed of replicas whose own is not known. */
  readonly borrowed: PrefillSpeed;
  /** To this model in this region, in any order. */
  readonly sends: readonly Send[];
  readonly nowMs: number;
  readonly holderPatienceMs: number;
};

export type Replicas = {
  /** By id. */
  readonly replicas: readonly Replica[];
  /**
   * Whether every one's backlog was reported; an unknown one is taken as the mean of the known ones, else by the requests
   * that wait.
   */
  readonly isBacklogKnown: boolean;
};

export const replicasOf = (
  parts: readonly PlacementPart[],
  state: PlacementState,
  context: ReplicaContext,
): Replicas => {
  const found = newestById(parts, state);
  const meanMs = meanOfKnown(found.map(({ replica }) => ({ value: bounded(replica.backlogMs), weight: 1 })));
  const reads = found.map(({ replica, part }) => ({
    replica: replica.id,
    backlogMs: bounded(replica.backlogMs) ?? meanMs ?? assumedBacklogMs(replica, part, context),
    readAtMs: madeAtMs(part.heard),
  }));
  const backlogs = playedBacklogs(reads, context.sends, context.nowMs, context.holderPatienceMs);
  return {
    isBacklogKnown: found.every(({ replica }) => bounded(replica.backlogMs) !== null),
    replicas: found.map(({ replica, part }, i) => ({
      id: replica.id,
      backlogMs: bounded(backlogs[i] ?? 0) ?? 0,
      speed: reportedSpeed(replica, part.model) ?? context.borrowed,
      kvCapacityTokens: bounded(replica.kvCapacityTokens),
      kvPinnedTokens: bounded(replica.kvPinnedTokens),
      startedAtMs: startedAtMs(replica, part.heard),
    })),
  };
};

/** A prompt of which nothing is known; the policy assumes the same of a cell's. */
const ASSUMED_PROMPT_TOKENS = 4_096;

/**
 * A queue in which nothing has moved for a minute has no tokens a request to count by: the agent calls it unknown. It is
 * not empty, and taking it so would send everybody there.
 */
const assumedBacklogMs = (replica: ReplicaHeard, { model }: PlacementPart, context: ReplicaContext): number => {
  const waiting = (bounded(model.requestsWaiting) ?? 0) / Math.max(1, model.replicas.length);
  const speed = reportedSpeed(replica, model) ?? context.borrowed;
  return bounded(waiting * prefillMs(speed, ASSUMED_PROMPT_TOKENS, ASSUMED_PROMPT_TOKENS)) ?? 0;
};

type Found = { readonly replica: ReplicaHeard; readonly part: PlacementPart };

/** Of a replica that two agents report, the newer word. */
const newestById = (parts: readonly PlacementPart[], state: PlacementState): readonly Found[] => {
  const byId = new Map<ReplicaId, Found>();
  for (const part of parts.toSorted((a, b) => madeAtMs(b.heard) - madeAtMs(a.heard))) {
    for (const replica of reportedReplicas(part, state)) {
      if (!byId.has(replica.id)) byId.set(replica.id, { replica, part });
    }
  }
  return [...byId.values()].sort((a, b) => (a.replica.id < b.replica.id ? -1 : 1));
};

/** What is loaded is served by something, also where the agent does not say by how many. */
const reportedReplicas = ({ heard, model }: PlacementPart, state: PlacementState): readonly ReplicaHeard[] =>
  model.replicas.length > 0 || state !== "loaded"
    ? model.replicas
    : [{ ...UNKNOWN, id: `${heard.report.agent}/0` as ReplicaId }];

const UNKNOWN = {
  startedAtMs: null,
  backlogMs: null,
  prefillLinMs: null,
  prefillAttnMs: null,
  kvCapacityTokens: null,
  kvPinnedTokens: null,
};

/** How long the process had run when the report was made is the same by every clock. */
const startedAtMs = (replica: ReplicaHeard, heard: HeardReport): number | null => {
  const ranMs = bounded(replica.startedAtMs === null ? null : heard.report.reportedAtMs - replica.startedAtMs);
  return ranMs === null ? null : madeAtMs(heard) - ranMs;
};
