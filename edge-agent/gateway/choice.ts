/**
 * Which replica of the region takes a turn: the one that holds its context, unless waiting there plus what is missing costs
 * more than the least loaded replica from zero. The choice outweighs everything that a GTM can do (steering.md).
 */
import type { ReplicaId } from "#shared/ids.ts";
import { type PrefillSpeed, prefillMs } from "./replica-speed.ts";

export type Candidate = {
  readonly id: ReplicaId;
  readonly backlogMs: number;
  /** Of this turn's conversation. */
  readonly heldTokens: number;
  /** Into its cache so far, computed and generated, and what is on its way. */
  readonly tokensWritten: number;
  readonly speed: PrefillSpeed;
};

/** One candidate with what the turn would take there. */
export type Offer = {
  readonly id: ReplicaId;
  readonly backlogMs: number;
  readonly heldTokens: number;
  readonly tokensWritten: number;
  /** Waiting, and computing what is missing. */
  readonly withContextMs: number;
  /** Waiting, and computing the whole prompt. */
  readonly fromZeroMs: number;
};

export type Chosen = {
  readonly id: ReplicaId;
  readonly why: "holds-context" | "least-loaded";
  /** Time to first token there. */
  readonly costMs: number;
  /** In no order that means anything. */
  readonly offers: readonly Offer[];
};

/**
 * Costs that differ by less are the same: a calibration's noise would otherwise give all contexts of an idle region to one
 * cache, and tear short contexts from theirs.
 */
const SAME_WITHIN_MS = 20;
const SAME_WITHIN_FRACTION = 0.1;

/**
 * @param promptTokens the whole prompt, 0 or more
 * @returns null: there is no candidate. The order of the candidates does not matter.
 */
export const choose = (candidates: readonly Candidate[], promptTokens: number): Chosen | null => {
  const offers = candidates.map((candidate) => offerOf(candidate, promptTokens));
  const holder = best(
    offers.filter(({ heldTokens }) => heldTokens > 0),
    (offer) => [offer.withContextMs, -offer.heldTokens, offer.tokensWritten],
  );
  const leastMs = Math.min(...offers.map(({ fromZeroMs }) => fromZeroMs));
  const sameUpToMs = leastMs + Math.max(SAME_WITHIN_MS, SAME_WITHIN_FRACTION * leastMs);
  const least = best(
    offers.filter(({ fromZeroMs }) => fromZeroMs <= sameUpToMs),
    (offer) => [offer.tokensWritten, offer.fromZeroMs],
  );
  if (least === null) return null;
  if (holder !== null && holder.withContextMs <= sameUpToMs) {
    return { id: holder.id, why: "holds-context", costMs: holder.withContextMs, offers };
  }
  return { id: least.id, why: "least-loaded", costMs: least.withContextMs, offers };
};

const offerOf = (candidate: Candidate, promptTokens: number): Offer => {
  const { id, backlogMs, heldTokens, tokensWritten, speed } = candidate;
  const missing = Math.max(0, promptTokens - heldTokens);
  return {
    ...{ id, backlogMs, heldTokens, tokensWritten },
    withContextMs: backlogMs + prefillMs(speed, missing, promptTokens),
    fromZeroMs: backlogMs + prefillMs(speed, promptTokens, promptTokens),
  };
};

/** The least by the first number that differs; of equal ones the id decides, so that the order does not. null: there is none. */
const best = (offers: readonly Offer[], keysOf: (offer: Offer) => readonly number[]): Offer | null =>
  offers.reduce<Offer | null>((kept, offer) => (kept === null || isBefore(offer, kept, keysOf) ? offer : kept), null);

const isBefore = (a: Offer, b: Offer, keysOf: (offer: Offer) => readonly number[]): boolean => {
  const [ofA, ofB] = [keysOf(a), keysOf(b)];
  for (const [at, value] of ofA.entries()) {
    const other = ofB[at] ?? value;
    if (value !== other) return value < other;
  }
  return a.id < b.id;
};
