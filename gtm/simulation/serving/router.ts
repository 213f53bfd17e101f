/** Which replica of a region takes a request. */
import type { Dice } from "../dice.ts";
import type { Replica } from "./replica.ts";
import type { EngineRequest } from "./request.ts";

/** @returns index of the replica */
export type Router = (request: EngineRequest, replicas: readonly Replica[]) => number;

/** Each in turn, whatever they hold. */
export const createRoundRobin = (): Router => {
  let turn = -1;
  return (_request, replicas) => {
    turn = (turn + 1) % replicas.length;
    return turn;
  };
};

/**
 * The replica that holds the most of the prompt, unless waiting there plus computing what is missing takes longer than the
 * least loaded replica takes from zero. Of equal ones the replica with the fewest tokens written: "the first" would give
 * all contexts of an idle region to one cache.
 */
export const createAffinity =
  (dice: Dice): Router =>
  (request, replicas) => {
    const offers = replicas.map((replica, index) => offerOf(request, replica, index));
    const least = best(offers, [(offer) => offer.backlogMs, (offer) => offer.tokensWritten], dice);
    const holder = best(
      offers,
      [(offer) => -offer.cachedTokens, (offer) => offer.backlogMs, (offer) => offer.tokensWritten],
      dice,
    );
    return holder.backlogMs + holder.missingMs <= least.backlogMs + least.wholeMs ? holder.index : least.index;
  };

type Offer = {
  readonly index: number;
  readonly backlogMs: number;
  readonly cachedTokens: number;
  readonly missingMs: number;
  readonly wholeMs: number;
  readonly tokensWritten: number;
};

const offerOf = (request: EngineRequest, replica: Replica, index: number): Offer => {
  const cachedTokens = replica.cachedTokens(request);
  return {
    index,
    backlogMs: replica.backlogMs(),
    cachedTokens,
    missingMs: replica.prefillMs(request, cachedTokens),
    wholeMs: replica.prefillMs(request, 0),
    tokensWritten: replica.tokensWritten(),
  };
};

/** The least by the first measure, of equals by the next; what is still equal the dice decide. */
const best = (offers: readonly Offer[], measures: readonly ((offer: Offer) => number)[], dice: Dice): Offer => {
  let left = offers;
  for (const measure of measures) {
    const least = Math.min(...left.map(measure));
    left = left.filter((offer) => measure(offer) === least);
  }
  const chosen = left[left.length === 1 ? 0 : Math.floor(dice() * left.length)];
  if (chosen === undefined) throw new Error("a region has at least one replica");
  return chosen;
};
