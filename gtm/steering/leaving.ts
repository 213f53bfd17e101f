/** Whether a conversation may stay for a while in a region that is being drained, and until when. */
import { holdingIn } from "#gtm/domain/conversation.ts";
import { type DrainSchedule, type Drains, leavesAtMs, leavingKey } from "#gtm/domain/drain-schedule.ts";
import type { Turn } from "#gtm/domain/turn.ts";
import type { OverrideRule } from "#gtm/domain/world.ts";
import type { RegionId } from "#shared/ids.ts";
import { matchesGlob } from "./overrides.ts";

/** A moment, and what is drained by a schedule then. */
export type DrainsAt = {
  readonly drains: Drains;
  /** By the wall clock, which all GTMs share: Unix epoch ms. */
  readonly epochMs: number;
};

/**
 * When the turn's conversation leaves a region by its schedule: only what is at home there may wait; everything else leaves,
 * or never enters.
 *
 * @returns Unix epoch ms; null: it does not wait
 */
export const leavesRegionAtMs = (region: RegionId, turn: Turn, { drains }: DrainsAt): number | null =>
  dueAtMs(drains.byRegion.get(region), region, turn);

/** The overrides that keep a turn out of a region now: without those by which it may still stay there. */
export const overridesInForce = (
  rules: readonly OverrideRule[],
  region: RegionId,
  turn: Turn,
  at: DrainsAt,
): readonly OverrideRule[] =>
  at.drains.byOverride.size === 0
    ? rules
    : rules.filter((rule) => {
        const dueMs = matchesGlob(rule.region, region)
          ? dueAtMs(at.drains.byOverride.get(rule.id), region, turn)
          : null;
        return dueMs === null || dueMs <= at.epochMs;
      });

/** When a candidate must be left at the latest, by the region's schedule or an override's; null: nothing drains it. */
export const mustLeaveAtMs = (
  rules: readonly OverrideRule[],
  region: RegionId,
  turn: Turn,
  at: DrainsAt,
): number | null => {
  let earliest = leavesRegionAtMs(region, turn, at);
  if (at.drains.byOverride.size === 0) return earliest;
  for (const rule of rules) {
    const dueMs = matchesGlob(rule.region, region) ? dueAtMs(at.drains.byOverride.get(rule.id), region, turn) : null;
    if (dueMs !== null && (earliest === null || dueMs < earliest)) earliest = dueMs;
  }
  return earliest;
};

const dueAtMs = (schedule: DrainSchedule | undefined, region: RegionId, turn: Turn): number | null => {
  // A cell holds nothing: pool names cannot tell old clients from new.
  if (schedule === undefined || turn.kind === "cell" || turn.home !== region) return null;
  const heldTokens = holdingIn(turn.conversation, region)?.tokens ?? turn.contextTokens;
  return leavesAtMs(schedule, leavingKey(heldTokens, turn.hashKey));
};
