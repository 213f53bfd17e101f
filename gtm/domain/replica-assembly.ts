/** The replicas of one model in one region, from all its agents' reports, their backlogs played forward to now. */
import { bounded } from "./known.ts";
import type { Replica } from "./placement.ts";
import type { PlacementSays, ReplicaSaid } from "./placement-says.ts";
import { playedBacklogs } from "./played-backlogs.ts";
import { type PrefillSpeed, prefillMs, type Send } from "./serving.ts";

export type ReplicaContext = {
  /** The speed of replicas whose own is not known. */
  readonly borrowed: () => PrefillSpeed;
  /** To this model in this region, in any order. */
  readonly sends: readonly Send[];
  readonly nowMs: number;
  readonly holderPatienceMs: number;
};

/**
 * A backlog that is not reported is taken as the mean of the known ones, else by the requests that wait.
 *
 * @returns by id
 */
export const replicasOf = ({ replicas, meanBacklogMs }: PlacementSays, context: ReplicaContext): readonly Replica[] => {
  const reads = replicas.map((said) => ({
    replica: said.id,
    backlogMs: said.backlogMs ?? meanBacklogMs ?? assumedBacklogMs(said, context),
    readAtMs: said.readAtMs,
  }));
  const backlogs = playedBacklogs(reads, context.sends, context.nowMs, context.holderPatienceMs);
  return replicas.map((said, i) => ({
    id: said.id,
    backlogMs: bounded(backlogs[i] ?? 0) ?? 0,
    speed: said.speed ?? context.borrowed(),
    kvCapacityTokens: said.kvCapacityTokens,
    kvPinnedTokens: said.kvPinnedTokens,
    startedAtMs: said.startedAtMs,
  }));
};

/** A prompt of which nothing is known; the policy assumes the same of a cell's. */
const ASSUMED_PROMPT_TOKENS = 4_096;

/**
 * A queue in which nothing has moved for a minute has no tokens a request to count by: the agent calls it unknown. It is
 * not empty, and taking it so would send everybody there.
 */
const assumedBacklogMs = ({ speed, waitingEach }: ReplicaSaid, context: ReplicaContext): number =>
  bounded(waitingEach * prefillMs(speed ?? context.borrowed(), ASSUMED_PROMPT_TOKENS, ASSUMED_PROMPT_TOKENS)) ?? 0;
