/** The operation that begins with a drain. */
import type { OperationRecord } from "#shared/operation-record.ts";
import { heldAtHome } from "./drain-pacing.ts";
import type { Scope } from "./drain-scope.ts";
import type { HomeConversations } from "./home-conversations.ts";

export type Start = {
  readonly id: string;
  readonly mode: OperationRecord["mode"];
  /** The override that drains; null: it is an order about one region. */
  readonly override: string | null;
  readonly scope: Scope;
  readonly comment: string;
  readonly actor: string;
  /** Unix epoch ms. */
  readonly startedAtMs: number;
  readonly overMs: number | null;
};

/** @param nowMs on the monotonic clock, as the conversations' turns are */
export const operationOf = (
  { scope, overMs, startedAtMs, ...start }: Start,
  { known, isComplete }: HomeConversations,
  { nowMs, pinMs }: { readonly nowMs: number; readonly pinMs: number },
): OperationRecord => {
  const pinned = known.filter(({ conversation }) => nowMs - conversation.lastTurnAtMs <= pinMs);
  const startsAtMs = Math.floor(startedAtMs);
  return {
    ...start,
    ...scope,
    startedAtMs: startsAtMs,
    deadlineAtMs: overMs === null ? null : startsAtMs + overMs,
    atStart: {
      conversations: known.length,
      pinned: pinned.length,
      tokens: pinned.reduce((sum, one) => sum + heldAtHome(one), 0),
      isComplete,
    },
    end: null,
    changedAtMs: startsAtMs,
  };
};
