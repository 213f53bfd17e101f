/** Of a stream of decisions the newest few, and how many came that nobody saw; bounded, however long it runs. */
import type { DecisionSchema } from "#gtm/wire/admin/decision-schema.ts";
import type { ServerEvent } from "../../server-events.ts";

/** What is kept to be shown. */
export const KEPT = 300;

/** Why somebody does not see decisions that were made. */
export type Unseen = {
  /** They came faster than the GTM tells. */
  readonly skipped: number;
  /** They came while somebody had paused. */
  readonly paused: number;
  /** How often what followed the last one seen was no longer kept, or another process answered. */
  readonly gaps: number;
  /** How many are made a second now, while they come faster than the GTM tells; null: all of them are told. */
  readonly perSecond: number | null;
};

export type LiveWindow = {
  /** @param isPaused then it is counted, and not kept */
  readonly add: (event: ServerEvent, isPaused: boolean) => void;
  /** Newest first, those that came since it was last taken; parsed now, since most of a flood is never shown. */
  readonly take: () => { readonly come: readonly DecisionSchema[]; readonly unseen: Unseen };
};

/** The GTM tells once a second how many it skipped: silent for so long, it skips none. */
const SKIPS_NONE_AFTER_MS = 3_000;

export const createLiveWindow = (nowMs: () => number): LiveWindow => {
  /** Oldest first. */
  let come: string[] = [];
  let unseen: Unseen = { skipped: 0, paused: 0, gaps: 0, perSecond: null };
  /** Since it was last told how many were skipped. */
  let told = 0;
  let toldAtMs = nowMs();
  const skip = (skipped: number): void => {
    const seconds = Math.max(1, (nowMs() - toldAtMs) / 1_000);
    unseen = { ...unseen, skipped: unseen.skipped + skipped, perSecond: Math.round((skipped + told) / seconds) };
    told = 0;
    toldAtMs = nowMs();
  };
  return {
    add: ({ event, data }, isPaused) => {
      if (event === "gap") unseen = { ...unseen, gaps: unseen.gaps + 1 };
      if (event === "skipped") skip(skippedIn(data));
      if (event !== "decision") return;
      told += 1;
      if (isPaused) {
        unseen = { ...unseen, paused: unseen.paused + 1 };
        return;
      }
      come.push(data);
      // Not one by one: moving all of them for each would cost more than the event.
      if (come.length >= KEPT * 2) come = come.slice(-KEPT);
    },
    take: () => {
      if (unseen.perSecond !== null && nowMs() - toldAtMs > SKIPS_NONE_AFTER_MS)
        unseen = { ...unseen, perSecond: null };
      const taken = come.slice(-KEPT).reverse();
      come = [];
      return { come: taken.map((data) => JSON.parse(data) as DecisionSchema), unseen };
    },
  };
};

const skippedIn = (data: string): number => {
  const { decisions } = JSON.parse(data) as { readonly decisions?: unknown };
  return typeof decisions === "number" ? decisions : 0;
};
