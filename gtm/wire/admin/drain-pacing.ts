/** How fast a drain is asked to go, and the schedule that follows for the conversations it moves. */
import { z } from "@hono/zod-openapi";
import { holdingIn, homeOf } from "#gtm/domain/conversation.ts";
import { type Leaver, pacedDrain } from "#gtm/domain/drain-pace.ts";
import { type DrainSchedule, leavesAtMs, leavingKey } from "#gtm/domain/drain-schedule.ts";
import type { World } from "#gtm/domain/world.ts";
import type { Policy } from "#gtm/steering/policy.ts";
import type { DrainScheduleRecord } from "#shared/operation-record.ts";
import type { KnownConversation } from "./known-conversation.ts";
import type { NextTurn } from "./next-turns.ts";
import { Lasting } from "./order-wish.ts";
import { standingOf } from "./region-standing.ts";

export const PACES = ["immediately", "spare", "even"] as const;

/** Parts of every body that may order a drain. */
export const PACING = {
  /** By when all conversations have left, such as "10m": the cheapest leave first. Absent: each at its next turn. */
  over: Lasting.optional(),
  /** `spare`: as fast as the other regions' spare prefill allows; `even`: over the whole time. With `over` it is `spare`. */
  pace: z.enum(PACES).optional(),
};

/** null: each conversation leaves at its next turn. */
export type Pacing = { readonly overMs: number; readonly pace: "spare" | "even" } | null;

type Wished = {
  readonly over?: number | undefined;
  readonly pace?: (typeof PACES)[number] | undefined;
  readonly for?: number | undefined;
};

export const pacingOf = ({ over, pace }: Wished): Pacing =>
  over === undefined || pace === "immediately" ? null : { overMs: over, pace: pace ?? "spare" };

/** What is wrong with it, told of the field; null: nothing. @param isAll whether it is a `drain-all` */
export const whyNotPaced = ({ over, pace, for: forMs }: Wished, isAll: boolean): string | null => {
  if (over === undefined) return pace === undefined || pace === "immediately" ? null : `${pace} needs over: by when?`;
  if (!isAll) return "over is for drain-all only: otherwise conversations stay";
  if (pace === "immediately") return "immediately takes no over: each conversation leaves at its next turn";
  return forMs !== undefined && over > forMs ? "over must not be longer than for: the order would end before" : null;
};

export const PacedPlan = z
  .looseObject({
    pace: z.string(),
    /** By what was asked, ms after the order. */
    deadlineInMs: z.number(),
    /** When the last one may leave; sooner than the deadline where the others have enough to spare. */
    endsInMs: z.number(),
    /** How long it takes at the pace of the others' spare prefill; null: nobody has any. */
    wantedMs: z.number().nullable(),
    /** It has to go faster than the others' spare prefill allows. */
    isHurried: z.boolean(),
    /** When so large a part of the conversations is free to leave, and of which size at most. */
    quarters: z.array(z.looseObject({ fraction: z.number(), afterMs: z.number(), upToTokens: z.number() })),
  })
  .openapi("PacedPlan");
export type PacedPlan = z.infer<typeof PacedPlan>;

export type Leaving = { readonly known: KnownConversation; readonly next: NextTurn };
export type PacedDrain = { readonly schedule: DrainSchedule; readonly plan: PacedPlan };

/**
 * @param leaving the conversations that the drain moves, each with its next turn under it
 * @param drained the regions that they leave
 */
export const pacedDrainOf = (
  pacing: Exclude<Pacing, null>,
  leaving: readonly Leaving[],
  drained: ReadonlySet<string>,
  { ordered, policy, startsAtMs }: { readonly ordered: World; readonly policy: Policy; readonly startsAtMs: number },
): PacedDrain => {
  const leavers = leaving.map(leaverOf);
  const others = ordered.regions.filter((one) => !drained.has(one.id) && standingOf(one, policy).takesNew);
  const spareOf = (model: string): number =>
    others.reduce((sum, { placements }) => {
      for (const one of placements.values())
        if (one.model === model && one.state === "loaded") return sum + one.sparePrefillTokensPerSecond;
      return sum;
    }, 0);
  const { schedule, wantedMs } = pacedDrain({ ...pacing, startsAtMs, leavers, spareOf });
  return {
    schedule,
    plan: {
      pace: pacing.pace,
      deadlineInMs: pacing.overMs,
      endsInMs: schedule.endsAtMs - startsAtMs,
      wantedMs,
      isHurried: leavers.length > 0 && (wantedMs === null || wantedMs > pacing.overMs),
      quarters: quartersOf(leavers, schedule),
    },
  };
};

/** As the record of orders has it. */
export const storedSchedule = ({ startsAtMs, endsAtMs, steps }: DrainSchedule): DrainScheduleRecord => ({
  startsAtMs,
  endsAtMs,
  steps: steps.map(([afterMs, key]) => [afterMs, key]),
});

export const heldAtHome = ({ conversation }: KnownConversation): number =>
  holdingIn(conversation, homeOf(conversation))?.tokens ?? 0;

const leaverOf = ({ known, next }: Leaving): Leaver => ({
  key: leavingKey(heldAtHome(known), known.conversation.id),
  recomputeTokens: next.recomputeTokens,
  model: known.conversation.model,
});

const quartersOf = (leavers: readonly Leaver[], schedule: DrainSchedule): PacedPlan["quarters"] => {
  const keys = leavers.map(({ key }) => key).sort((a, b) => a - b);
  if (keys.length === 0) return [];
  return [0.25, 0.5, 0.75, 1].map((fraction) => {
    const key = keys[Math.max(0, Math.ceil(fraction * keys.length) - 1)] ?? 0;
    const afterMs = Math.ceil(leavesAtMs(schedule, key) - schedule.startsAtMs);
    return { fraction, afterMs, upToTokens: Math.floor(key) };
  });
};
