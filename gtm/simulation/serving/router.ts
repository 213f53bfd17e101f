/** Which replica of a region takes a request. */
import type { Dice } from "../dice.ts";
import type { Replica } from "./replica.ts";
import type { EngineRequest } from "./request.ts";

/** @param replicas at least one @returns index of the replica */
export type Router = (request: EngineRequest, replicas: readonly Replica[]) => number;

export type Routing = "affinity" | "least-waiting" | "round-robin";

export const createRouter = (routing: Routing, dice: Dice): Router => {
  switch (routing) {
    case "affinity":
      return createAffinity(dice);
    case "least-waiting":
      return createLeastWaiting(dice);
    case "round-robin":
      return createRoundRobin();
  }
};

/** Each in turn, whatever they hold. */
export const createRoundRobin = (): Router => {
  let turn = -1;
  return (_request, replicas) => {
    turn = (turn + 1) % replicas.length;
    return turn;
  };
};

/** The least work waiting, of equals the fewest tokens written, whatever they hold. */
export const createLeastWaiting =
  (dice: Dice): Router =>
  (request, replicas) =>
    leastLoaded(offersFor(request, replicas), dice).index;

/**
 * The replica that holds the most of the prompt, unless waiting there plus computing what is missing takes longer than the
 * least loaded replica takes from zero. Of equal ones the replica with the fewest tokens written: "the first" would give
 * all contexts of an idle region to one cache.
 */
export const createAffinity =
  (dice: Dice): Router =>
  (request, replicas) => {
    const offers = offersFor(request, replicas);
    const least = leastLoaded(offers, dice);
    const holder = best(offers, holdsMore, dice);
    const missingMs = holder.replica.prefillMs(request, holder.cachedTokens);
    const wholeMs = least.replica.prefillMs(request, 0);
    return holder.waitingMs + missingMs <= least.waitingMs + wholeMs ? holder.index : least.index;
  };

/** What is asked of one replica alone, or to tell equals apart, is left to be asked. */
type Offer = {
  readonly index: number;
  readonly replica: Replica;
  readonly waitingMs: number;
  readonly cachedTokens: number;
};

const offersFor = (request: EngineRequest, replicas: readonly Replica[]): readonly Offer[] =>
  replicas.map((replica, index) => ({
    index,
    replica,
    waitingMs: replica.waitingMs(),
    cachedTokens: replica.cachedTokens(request),
  }));

/** Less than 0: the first is better. */
type Order = (a: Offer, b: Offer) => number;

const loadedLess: Order = (a, b) =>
  order(a.waitingMs, b.waitingMs) || a.replica.tokensWritten() - b.replica.tokensWritten();
const holdsMore: Order = (a, b) => b.cachedTokens - a.cachedTokens || loadedLess(a, b);
/** Both may be infinite. */
const order = (a: number, b: number): number => (a === b ? 0 : a - b);

const leastLoaded = (offers: readonly Offer[], dice: Dice): Offer => best(offers, loadedLess, dice);

/** What is still equal the dice decide. */
const best = (offers: readonly Offer[], order: Order, dice: Dice): Offer => {
  let chosen = offers[0];
  let equals = 1;
  for (let at = 1; at < offers.length; at++) {
    const offer = offers[at];
    const difference = offer === undefined || chosen === undefined ? 0 : order(offer, chosen);
    if (difference > 0) continue;
    equals = difference < 0 ? 1 : equals + 1;
    // Each of n equals stays with a chance of 1 in n.
    if (difference < 0 || dice() * equals < 1) chosen = offer;
  }
  if (chosen === undefined) throw new Error("a region has at least one replica");
  return chosen;
};
