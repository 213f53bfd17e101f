/** Which regions hold how much of each conversation, kept in memory as the store keeps it. */
import type { Conversation, Holding } from "#gtm/domain/conversation.ts";
import type { LiveTokens } from "#gtm/domain/world-assembly.ts";
import type { ConversationId, ModelId, RegionId, ReplicaId } from "#shared/ids.ts";

export type Ledger = {
  readonly find: (id: ConversationId) => Conversation | null;
  /** A turn was sent there. */
  readonly hold: (id: ConversationId, holding: Holding) => void;
  /** What a gateway measured of the turn that was sent there last. */
  readonly measured: (id: ConversationId, region: RegionId, replica: ReplicaId, tokens: number) => void;
  /** Σ tokens × chance of another turn, by region, of conversations served within the pin's time. */
  readonly live: (nowMs: number) => readonly LiveTokens[];
};

type LedgerOptions = { readonly model: ModelId; readonly pinMs: number; readonly nextTurnFraction: number };

const MOST_HOLDINGS = 3;

export const createLedger = ({ model, pinMs, nextTurnFraction }: LedgerOptions): Ledger => {
  const conversations = new Map<ConversationId, Conversation>();
  const live = createLiveSums(pinMs);
  return {
    find: (id) => conversations.get(id) ?? null,
    hold: (id, holding) => {
      const before = conversations.get(id);
      const others = (before?.holdings ?? []).filter(({ region }) => region !== holding.region);
      conversations.set(id, {
        id,
        model,
        holdings: [holding, ...others.slice(0, MOST_HOLDINGS - 1)],
        turns: (before?.turns ?? 0) + 1,
        lastTurnAtMs: holding.atMs,
        rev: (before?.rev ?? 0) + 1,
        refusedBy: [],
      });
      live.count(id, holding);
    },
    measured: (id, region, replica, tokens) => {
      const before = conversations.get(id);
      if (before?.holdings[0].region !== region) return;
      const [home, ...others] = before.holdings;
      const holding = { ...home, replica, tokens };
      conversations.set(id, { ...before, holdings: [holding, ...others] });
      live.count(id, holding);
    },
    live: (nowMs) =>
      [...live.at(nowMs)].map(([region, tokens]) => ({ region, model, tokens: tokens * nextTurnFraction })),
  };
};

/** Tokens of the newest holding of each conversation, by region, while it is pinned. */
const createLiveSums = (pinMs: number) => {
  const sums = new Map<RegionId, number>();
  /** In the order of their turns, so that the first to expire comes first. */
  const counted = new Map<ConversationId, Holding>();
  const add = (region: RegionId, tokens: number): void => void sums.set(region, (sums.get(region) ?? 0) + tokens);
  const drop = (id: ConversationId, holding: Holding | undefined): void => {
    if (holding === undefined) return;
    counted.delete(id);
    add(holding.region, -holding.tokens);
  };
  return {
    count: (id: ConversationId, holding: Holding): void => {
      const before = counted.get(id);
      // What a gateway measures belongs to the same turn, whose place in the order stays.
      if (before !== undefined && before.atMs === holding.atMs) add(before.region, -before.tokens);
      else drop(id, before);
      counted.set(id, holding);
      add(holding.region, holding.tokens);
    },
    at: (nowMs: number): ReadonlyMap<RegionId, number> => {
      for (const [id, holding] of counted) {
        if (nowMs - holding.atMs <= pinMs) break;
        drop(id, holding);
      }
      return sums;
    },
  };
};
