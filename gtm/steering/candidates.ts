/** Which regions may serve a turn at all, and for each that may not, the one reason why. */
import { holdingIn } from "#gtm/domain/conversation.ts";
import type { Exclusion } from "#gtm/domain/decision.ts";
import type { Placement } from "#gtm/domain/placement.ts";
import type { Pool } from "#gtm/domain/pool.ts";
import type { Region } from "#gtm/domain/region.ts";
import type { Turn } from "#gtm/domain/turn.ts";
import type { OverrideRule } from "#gtm/domain/world.ts";
import { type DrainsAt, leavesRegionAtMs, overridesInForce } from "./leaving.ts";
import { overriddenBy, overShareOf } from "./overrides.ts";
import type { Policy } from "./policy.ts";

export type Want = {
  readonly turn: Turn;
  readonly policy: Policy;
  readonly overrides: readonly OverrideRule[];
  /** Whether a region that must load the model first may serve: only when no region is warm. */
  readonly isColdAllowed: boolean;
  readonly draining: DrainsAt;
};

/** The first reason in the order of `Exclusion`; null when the region is a candidate, and then its placement is there. */
export const whyExcluded = (region: Region, placement: Placement | null, want: Want): Exclusion | null =>
  whyOutOfService(region, want) ??
  whyNotPlaced(region, placement, want) ??
  whyExpired(region, want.policy) ??
  whyNotForThisTurn(region, placement, want);

const whyOutOfService = (region: Region, { turn, draining }: Want): Exclusion | null => {
  if (!turn.pool.regions.includes(region.id)) return { reason: "not-a-member" };
  if (region.admin === "down") return { reason: "down", cause: "ordered" };
  if (region.health === "unhealthy" && region.admin !== "forced-up") return { reason: "down", cause: "probe" };
  if (region.admin === "drain-all") {
    const why = whyDrained(leavesRegionAtMs(region.id, turn, draining), draining.epochMs);
    if (why !== null) return why;
  }
  // A region that drains softly finishes the conversations it holds and takes no new ones.
  if (region.admin === "drain-new" && !holds(region, turn)) return { reason: "draining", admin: "drain-new" };
  return null;
};

/** By and by, the cheapest first, where the order says so; else every conversation leaves at its next turn. */
const whyDrained = (dueAtMs: number | null, epochMs: number): Exclusion | null => {
  if (dueAtMs === null) return { reason: "draining", admin: "drain-all" };
  return dueAtMs > epochMs ? null : { reason: "draining", admin: "drain-all", dueAtMs };
};

/**
 * A cell's previous region holds nothing: pool names cannot tell old clients from new. What a parent left behind makes no
 * old conversation of a new one.
 */
const holds = (region: Region, turn: Turn): boolean =>
  turn.kind !== "cell" &&
  (turn.home === region.id || (turn.parentId === null && holdingIn(turn.conversation, region.id) !== null));

const whyNotPlaced = (region: Region, placement: Placement | null, want: Want): Exclusion | null => {
  // What never reported may place anything: the reason is that we have not heard, not that the model is missing.
  if (region.reportAgeMs === null) return { reason: "report-expired", ageMs: null };
  if (placement?.state === "loaded") return null;
  if (placement === null || placement.state === "down" || !want.isColdAllowed) {
    return { reason: "model-not-placed", model: want.turn.model };
  }
  return placement.state === "on-disk" ? whyNoRoom(region, placement) : null;
};

/** A model that sleeps or is being loaded has its room; one on disk needs as much free memory as its weights. */
const whyNoRoom = (region: Region, placement: Placement): Exclusion | null => {
  const { weightBytes } = placement;
  if (weightBytes !== null && region.gpuMemoryFreeBytes !== null && region.gpuMemoryFreeBytes >= weightBytes)
    return null;
  return { reason: "no-room", needBytes: weightBytes ?? 0, freeBytes: region.gpuMemoryFreeBytes };
};

const whyExpired = (region: Region, policy: Policy): Exclusion | null =>
  region.admin !== "forced-up" && (region.reportAgeMs ?? 0) > policy.expiredAfterMs
    ? { reason: "report-expired", ageMs: region.reportAgeMs }
    : null;

const whyNotForThisTurn = (region: Region, placement: Placement | null, want: Want): Exclusion | null => {
  const { turn } = want;
  const tokens = turn.contextTokens + turn.newTokens;
  const limitTokens = placement?.contextLimitTokens ?? null;
  if (limitTokens !== null && tokens > limitTokens) return { reason: "context-too-long", tokens, limitTokens };
  if (!isAllowed(region, turn.pool)) return { reason: "not-allowed", jurisdiction: region.jurisdiction };
  const isHeld = holds(region, turn);
  const inForce = overridesInForce(want.overrides, region.id, turn, want.draining);
  const overrideId = overriddenBy(inForce, region.id, isHeld);
  if (overrideId !== null) return { reason: "overridden", overrideId };
  const over = isHeld ? null : overShareOf(want.overrides, region.id, turn.hashKey);
  if (over !== null) return { reason: "over-share", overrideId: over.id, share: over.share };
  if (turn.refusedBy.includes(region.id)) return { reason: "refused" };
  if (turn.stateRegion !== null && turn.stateRegion !== region.id) {
    return { reason: "state-elsewhere", region: turn.stateRegion };
  }
  return null;
};

/** Residency of data: where a pool names jurisdictions, a region that states none is outside them. */
export const isAllowed = (region: { readonly jurisdiction: string | null }, pool: Pool): boolean =>
  pool.jurisdictions === null || (region.jurisdiction !== null && pool.jurisdictions.includes(region.jurisdiction));
