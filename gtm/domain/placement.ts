/** One model in one region, as last reported and played forward to the moment the world was taken. */
import type { ModelId, ReplicaId } from "#shared/ids.ts";
import type { PrefillSpeed } from "./serving.ts";

export type PlacementState = "loaded" | "loading" | "asleep" | "on-disk" | "down";

export type Replica = {
  readonly id: ReplicaId;
  /** ms until a request that arrives at `world.takenAtMs` would start its prefill; 0 or more. */
  readonly backlogMs: number;
  readonly speed: PrefillSpeed;
  readonly kvCapacityTokens: number | null;
  readonly kvPinnedTokens: number | null;
  /** Monotonic ms of the engine process's start; a holding older than this is void. null: not known. */
  readonly startedAtMs: number | null;
};

export type Placement = {
  readonly model: ModelId;
  readonly state: PlacementState;
  readonly contextLimitTokens: number | null;
  /** At least one where the state is loaded. */
  readonly replicas: readonly Replica[];
  /** What a replica would do where none is reported, as on a region that would have to load the model first. */
  readonly speedWithoutReplicas: PrefillSpeed;
  /** Mean backlog of the replicas, averaged over 60 s: what a DNS answer, a commitment for its TTL, looks at. */
  readonly averageBacklogMs: number;
  /** The same over five minutes, from 0 on: what a move of a DNS answer looks at that stands for an hour. */
  readonly longAverageBacklogMs: number;
  /** Whether every replica's backlog was reported; an unknown one is taken as the mean of the known, else by what waits. */
  readonly isBacklogKnown: boolean;
  readonly requestsRunning: number | null;
  readonly requestsWaiting: number | null;
  readonly kvCapacityTokens: number | null;
  readonly kvCacheUsedFraction: number | null;
  readonly prefixHitFraction: number | null;
  /** Tokens written into the caches of all replicas per second. */
  readonly newTokensPerSecond: number | null;
  /** Per replica, over busy time. */
  readonly prefillTokensPerSecond: number | null;
  /** 0 to 1; below 0.25 the rate is a guess. */
  readonly prefillConfidence: number;
  readonly itlMs: number | null;
  readonly ttftP50Ms: number | null;
  readonly coldStartMs: number | null;
  readonly weightBytes: number | null;
  /** Σ contextTokens × pNext of conversations last served here within the pin's time, over all GTMs. */
  readonly liveTokens: number;
  /** The memory price takes its cache to be at least so full, live contexts over capacity; 0 but for a newcomer: see newcomers. */
  readonly leastOccupancy: number;
  /** c_r: how much of what the ledger says is held really is; 0 to 1. */
  readonly heldCorrection: number;
  /** Whether turns have taught it; else it is what is assumed of the region. */
  readonly isHeldCorrectionLearnt: boolean;
  /** Σ over replicas of prefill rate × max(0.05, share of it that is idle), tokens per second; more than 0. */
  readonly sparePrefillTokensPerSecond: number;
};
