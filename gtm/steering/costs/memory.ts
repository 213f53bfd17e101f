/** The price of memory: what this conversation's cache will push out of a region that is not its home. */
import type { Placement } from "#gtm/domain/placement.ts";
import { prefillMs } from "#gtm/domain/serving.ts";
import type { Turn } from "#gtm/domain/turn.ts";
import type { Policy } from "../policy.ts";
import { meanSpeed } from "./serve.ts";

/** Beyond this a fuller cache cannot be told from a full one. */
const MOST_OCCUPANCY = 1.2;

/** @returns ms, 0 or more; 0 where the capacity is unknown, which the report's faults say */
export const memoryMs = (turn: Turn, placement: Placement, isHome: boolean, policy: Policy): number => {
  if (isHome || placement.kvCapacityTokens === null || placement.kvCapacityTokens <= 0) return 0;
  const promptTokens = turn.contextTokens + turn.newTokens;
  const occupancy = Math.min(
    MOST_OCCUPANCY,
    Math.max(placement.leastOccupancy, (placement.liveTokens + promptTokens) / placement.kvCapacityTokens),
  );
  return (
    policy.memoryPriceFactor *
    turn.nextTurnFraction *
    turn.reuseFraction *
    occupancy ** 2 *
    prefillMs(meanSpeed(placement), promptTokens, promptTokens)
  );
};
