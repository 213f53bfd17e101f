/** A conversation that somebody ordered to another region: its home is there before its next turn is. */
import type { RegionId } from "#shared/ids.ts";
import { type Conversation, type Holding, holdingIn, homeOf } from "./conversation.ts";
import type { Turn } from "./turn.ts";

const MOST_HOLDINGS = 3;

/**
 * Its next turn goes to the region whatever staying would save, as long as the region may serve it. What the region holds of
 * it, if anything, counts as held at the last turn; the region that it leaves keeps its holding, and may win it back later.
 */
export const movedTo = (conversation: Conversation, region: RegionId): Conversation => {
  const { holdings, lastTurnAtMs } = conversation;
  const { replica = null, tokens = 0 } = holdingIn(conversation, region) ?? {};
  const home: Holding = { region, replica, tokens, atMs: Math.max(lastTurnAtMs, holdings[0].atMs) };
  const others = holdings.filter((one) => one.region !== region).slice(0, MOST_HOLDINGS - 1);
  return { ...conversation, holdings: [home, ...others], isHomeOrdered: true };
};

/** Whether the turn's home is one that was ordered and not reached yet. */
export const isHomeOrdered = ({ conversation, home }: Pick<Turn, "conversation" | "home">): boolean =>
  conversation?.isHomeOrdered === true && home === homeOf(conversation);

/**
 * Whether an order still stands once two words about a conversation were made one.
 *
 * @param stored with the order @param mine what went on top of it
 */
export const standsOrdered = (stored: Conversation, mine: Conversation, merged: Conversation): boolean => {
  const home = homeOf(stored);
  const served = holdingIn(mine, home);
  const isReached = served !== null && served.atMs > stored.holdings[0].atMs;
  return stored.isHomeOrdered === true && homeOf(merged) === home && !isReached;
};
