/** What each override did in the last minute at this GTM: whom it kept out of a region, and whom a share had to let in. */
import type { Decision } from "#gtm/domain/decision.ts";
import type { Entry } from "#gtm/steering/ports.ts";
import type { Clock } from "#shared/clock.ts";

export type Touched = {
  /** Conversations whose turn or name it kept a region from. */
  readonly conversations: number;
  /** Cells of DNS. */
  readonly cells: number;
  /** Turns that name no conversation. */
  readonly others: number;
  /** Of all of these, whom a share let in because it would have left no region. */
  readonly yielded: number;
  /** False: there were more than are kept. */
  readonly isComplete: boolean;
};

export type OverrideTouches = {
  readonly decided: (entry: Pick<Entry, "decision">) => void;
  readonly of: (overrideId: string) => Touched;
};

const WITHIN_MS = 60_000;
/** Of one override. */
const MOST = 10_000;
const MOST_OVERRIDES = 256;

type Kind = "conversations" | "cells" | "others";
type Touch = { readonly atMs: number; readonly kind: Kind; readonly hasYielded: boolean };
/** Latest last. */
type Touches = { readonly byKey: Map<string, Touch>; lostAtMs: number };

export const createOverrideTouches = (clock: Pick<Clock, "epochMs">): OverrideTouches => {
  const byOverride = new Map<string, Touches>();

  const touchesOf = (id: string): Touches => {
    const known = byOverride.get(id) ?? { byKey: new Map(), lostAtMs: Number.NEGATIVE_INFINITY };
    byOverride.delete(id);
    byOverride.set(id, known);
    const [oldest] = byOverride.keys();
    if (byOverride.size > MOST_OVERRIDES && oldest !== undefined) byOverride.delete(oldest);
    return known;
  };
  const touch = (id: string, decision: Decision, hasYielded: boolean): void => {
    const touches = touchesOf(id);
    const { byKey } = touches;
    const { hashKey } = decision.turn;
    const atMs = clock.epochMs();
    byKey.delete(hashKey);
    byKey.set(hashKey, { atMs, kind: kindOf(decision), hasYielded });
    if (byKey.size <= MOST) return;
    const [first] = byKey;
    if (first === undefined) return;
    byKey.delete(first[0]);
    touches.lostAtMs = first[1].atMs;
  };

  return {
    decided: ({ decision }) => {
      for (const id of keptOutBy(decision)) touch(id, decision, false);
      for (const id of decision.yieldedOverrideIds) touch(id, decision, true);
    },
    of: (overrideId) => {
      const sinceMs = clock.epochMs() - WITHIN_MS;
      const touches = byOverride.get(overrideId);
      const lately = [...(touches?.byKey.values() ?? [])].filter(({ atMs }) => atMs > sinceMs);
      const count = (kind: Kind): number => lately.filter((one) => one.kind === kind).length;
      return {
        ...{ conversations: count("conversations"), cells: count("cells"), others: count("others") },
        yielded: lately.filter(({ hasYielded }) => hasYielded).length,
        isComplete: (touches?.lostAtMs ?? Number.NEGATIVE_INFINITY) <= sinceMs,
      };
    },
  };
};

const kindOf = ({ turn }: Decision): Kind =>
  turn.kind === "cell" ? "cells" : turn.conversationId === null ? "others" : "conversations";

const keptOutBy = ({ considered }: Decision): ReadonlySet<string> => {
  const ids = new Set<string>();
  for (const one of considered) {
    if (one.kind === "excluded" && "overrideId" in one.exclusion) ids.add(one.exclusion.overrideId);
  }
  return ids;
};
