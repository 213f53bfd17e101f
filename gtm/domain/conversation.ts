/** A multi-turn exchange, and which regions hold how much of it. */
import type { ConversationId, ModelId, RegionId, ReplicaId } from "#shared/ids.ts";

/** That a region was last known to hold so many tokens of a conversation. */
export type Holding = {
  readonly region: RegionId;
  readonly replica: ReplicaId | null;
  readonly tokens: number;
  /** When, on the instance's monotonic clock. */
  readonly atMs: number;
};

export type Conversation = {
  readonly id: ConversationId;
  readonly model: ModelId;
  /** Newest first, at most three, one a region; the first is home. Never empty. */
  readonly holdings: readonly [Holding, ...Holding[]];
  /** 0: it only begins, with what another conversation left behind. */
  readonly turns: number;
  readonly lastTurnAtMs: number;
  /** Revision of the record in the store; 0: not there yet. */
  readonly rev: number;
  /** Regions whose gateway refused this conversation within the last seconds. */
  readonly refusedBy: readonly RegionId[];
  /** Somebody ordered it to its home, where it has had no turn since; see conversation-move. */
  readonly isHomeOrdered?: true;
};

export const homeOf = (conversation: Conversation): RegionId => conversation.holdings[0].region;

/** Tokens already computed somewhere: the most that any region was seen to hold. */
export const contextTokensOf = (conversation: Conversation): number => {
  let most = 0;
  for (const holding of conversation.holdings) most = Math.max(most, holding.tokens);
  return most;
};

export const holdingIn = (conversation: Conversation | null, region: RegionId): Holding | null =>
  conversation === null ? null : (conversation.holdings.find((holding) => holding.region === region) ?? null);
