/** A steering decision together with everything needed to explain it later. */
import type { DecisionId, ModelId, RegionId, ReplicaId } from "#shared/ids.ts";
import type { LastResort } from "./pool.ts";
import type { Turn } from "./turn.ts";

/** Why a region may not serve; the first that applies, in this order. */
export type Exclusion =
  | { readonly reason: "not-a-member" }
  | { readonly reason: "down"; readonly cause: "ordered" | "probe" }
  | { readonly reason: "draining"; readonly admin: "drain-new" | "drain-all" }
  /** By a schedule, which let this conversation stay until then (Unix epoch ms). */
  | { readonly reason: "draining"; readonly admin: "drain-all"; readonly dueAtMs: number }
  | { readonly reason: "model-not-placed"; readonly model: ModelId }
  | { readonly reason: "no-room"; readonly needBytes: number; readonly freeBytes: number | null }
  | { readonly reason: "report-expired"; readonly ageMs: number | null }
  | { readonly reason: "context-too-long"; readonly tokens: number; readonly limitTokens: number }
  | { readonly reason: "not-allowed"; readonly jurisdiction: string | null }
  | { readonly reason: "overridden"; readonly overrideId: string }
  /** Others of its traffic are the share that this region gets. */
  | { readonly reason: "over-share"; readonly overrideId: string; readonly share: number }
  | { readonly reason: "refused" }
  | { readonly reason: "state-elsewhere"; readonly region: RegionId };

/** What serving the turn in one region costs; every part is milliseconds, 0 or more. */
export type Cost = {
  readonly networkMs: number;
  readonly queueMs: number;
  readonly prefillMs: number;
  readonly migrationMs: number;
  readonly coldStartMs: number;
  readonly memoryMs: number;
  readonly decodeMs: number;
  readonly moneyMs: number;
  readonly stalenessMs: number;
  /** network + queue + prefill + migration + cold start: what the client waits for its first token. */
  readonly predictedTtftMs: number;
  /** predictedTtftMs + memory + decode + money + staleness: what regions are compared by. */
  readonly totalMs: number;
};

/** What would happen in the region if the turn went there. */
export type Plan = {
  /** The replica that serves, where it is known. */
  readonly replica: ReplicaId | null;
  /** The replica that holds the context and is chosen to serve; null: the least loaded serves, from zero. */
  readonly holder: ReplicaId | null;
  readonly rttMs: number;
  readonly rttSource: RttSource;
  readonly arrivalAtMs: number;
  /** Prefill work the turn brings: prefillMs + migrationMs. */
  readonly workMs: number;
  /** Expected tokens of the context still held here: ledger × chance that they survived. */
  readonly heldTokens: number;
  /** p_r: `survivalFraction` × `heldCorrection`. */
  readonly heldProbability: number;
  /** Chance that the cache has not written itself over since, nor the engine restarted. */
  readonly survivalFraction: number;
  /** c_r: what turns have taught of this placement, or what is assumed of it. */
  readonly heldCorrection: number;
  readonly isHeldCorrectionLearnt: boolean;
  /** Writing the whole answer here, at the region's usual gap between tokens; null: that is not known. */
  readonly writingMs: number | null;
};

/** `measured` at a gateway, for the client's network; `geo` by distance; `unknown`: a place is not known. */
export type RttSource = "measured" | "geo" | "unknown";

export type Candidate = {
  readonly kind: "candidate";
  readonly region: RegionId;
  readonly cost: Cost;
  readonly plan: Plan;
  /** Weight among equals, tokens per second; more than 0. */
  readonly sparePrefillTokensPerSecond: number;
  /** Whether the prefill rate behind the cost is known well enough to move or place by it. */
  readonly isTrusted: boolean;
  readonly reportAgeMs: number | null;
  /** It is being drained by a schedule, and this conversation may stay until then (Unix epoch ms); null: it is not. */
  readonly leavesAtMs: number | null;
};
export type Excluded = {
  readonly kind: "excluded";
  readonly region: RegionId;
  readonly exclusion: Exclusion;
  readonly reportAgeMs: number | null;
};
export type Considered = Candidate | Excluded;

type Chosen = {
  readonly region: RegionId;
  /** The cheapest of the other candidates; null: there is none. */
  readonly runnerUp: RegionId | null;
  /** How much cheaper the chosen region is than the runner-up; negative where only the margin keeps a conversation. */
  readonly leadMs: number | null;
};
export type Verdict =
  | (Chosen & { readonly kind: "pinned" })
  | (Chosen & { readonly kind: "placed" })
  | (Chosen & { readonly kind: "migrated"; readonly from: RegionId; readonly savedMs: number })
  | (Chosen & { readonly kind: "displaced"; readonly from: RegionId })
  | { readonly kind: "unserved" };

export type Decision = {
  readonly id: DecisionId;
  readonly turn: Turn;
  readonly verdict: Verdict;
  /** In the order of the configuration; the order decides nothing. */
  readonly considered: readonly Considered[];
  readonly mode: "enforce" | "shadow";
  /** In shadow what steering would have answered, beside the verdict that was; null: the verdict is steering's. */
  readonly withheld: Verdict | null;
  readonly overrideId: string | null;
  /** Overrides of kind `share` that would have left no region, and so did not hold. */
  readonly yieldedOverrideIds: readonly string[];
  /** What the answer holds: the verdict's region, the pool's last resort, or nothing. */
  readonly answeredWith: "regions" | "last-resort" | "nothing";
  /** What is left of the pool's last resort after data residency; null where a region serves. */
  readonly lastResort: LastResort | null;
  readonly ttlSeconds: number;
  /** Milliseconds a move must save before it is made; from the policy and the cost of home. */
  readonly marginMs: number;
  readonly worldVersion: number;
  readonly worldAgeMs: number;
  /** On the instance's monotonic clock. */
  readonly decidedAtMs: number;
};

/** The region a decision sends to; null when no region serves. */
export const regionOf = (verdict: Verdict): RegionId | null => (verdict.kind === "unserved" ? null : verdict.region);
