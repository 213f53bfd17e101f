/** The price of memory: what the tokens that a region has to write for this conversation will push out of its cache. */
import type { Placement } from "#gtm/domain/placement.ts";
import { prefillMs } from "#gtm/domain/serving.ts";
import type { Turn } from "#gtm/domain/turn.ts";
import type { Policy } from "../policy.ts";
import { meanSpeed } from "./serve.ts";

/** Beyond this a fuller cache cannot be told from a full one. */
const MOST_OCCUPANCY = 1.2;

export type Kept = {
  /** Its context is among the live tokens already. */
  readonly isHome: boolean;
  /** Tokens of the prompt that the cache is expected to have: they are not written again. */
  readonly heldTokens: number;
};

/** @returns ms, 0 or more; 0 where the capacity is unknown, which the report's faults say */
export const memoryMs = (turn: Turn, placement: Placement, { isHome, heldTokens }: Kept, policy: Policy): number => {
  const { kvCapacityTokens, liveTokens } = placement;
  if (kvCapacityTokens === null || kvCapacityTokens <= 0) return 0;
  const promptTokens = turn.contextTokens + turn.newTokens;
  const afterwards = liveTokens + (isHome ? turn.newTokens : promptTokens);
  const occupancy = Math.min(MOST_OCCUPANCY, afterwards / kvCapacityTokens);
  return (
    policy.memoryPriceFactor *
    turn.nextTurnFraction *
    turn.reuseFraction *
    occupancy ** 2 *
    prefillMs(meanSpeed(placement), promptTokens - heldTokens, promptTokens)
  );
};
