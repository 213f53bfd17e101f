/** What the rest of the GTM asks of the conversations that it knows, and what they are made from. */
import type { Conversation } from "#gtm/domain/conversation.ts";
import type { ConversationQuery, FoundConversations, OwnedConversation } from "#gtm/domain/conversation-query.ts";
import type { LiveTokens } from "#gtm/domain/world-assembly.ts";
import type { Entry } from "#gtm/steering/ports.ts";
import type { Clock } from "#shared/clock.ts";
import type { ConversationId, RegionId } from "#shared/ids.ts";
import type { Part } from "#shared/lifecycle.ts";
import type { Metrics } from "#shared/metrics.ts";
import type { Store } from "#shared/store.ts";
import type { MoveConversation } from "./conversation-move.ts";
import type { ReleaseConversation } from "./conversation-release.ts";
import type { Degradations } from "./degradations.ts";
import type { StoreFailures } from "./store-failures.ts";

export type ConversationStoreOptions = {
  readonly store: Store;
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly failures: StoreFailures;
  /** Both read anew each time: the configuration may change. */
  readonly regions: readonly RegionId[];
  readonly policy: { readonly pinMs: number };
  readonly degradations: Pick<Degradations, "set">;
  /** 0 to 1; spreads the replay when the store is back. */
  readonly random: () => number;
};

export type ConversationStore = Part & {
  /**
   * What the ledger knows, up to an hour back; whether that is a pin (15 minutes, sliding) is for `turnOf` to say, which
   * reads `lastTurnAtMs`: what is held counts as cost for longer than it pins.
   *
   * Cached ones are returned at once and looked at again behind the answer after 2 s. Where another GTM has changed one, or
   * may have without our hearing of it, the store is asked first, and what is cached is the answer when it is slow.
   *
   * @param deadlineMs how long the store may take; later, and while it is away, the answer is null, counted and warned of
   */
  readonly find: (id: ConversationId | null, deadlineMs: number) => Promise<Conversation | null> | Conversation | null;
  /** Regions whose gateway refused it within the last seconds, as `find` last heard; also where `find` knows nothing of it. */
  readonly refusedBy: (id: ConversationId | null) => readonly RegionId[];
  /** A decision was made: where it sends a turn of a conversation, the ledger follows. Returns at once; never throws. */
  readonly commit: (entry: Entry) => void;
  /**
   * Those at home in one region, or in any (null), latest turn first. A cursor that is none of ours begins anew.
   *
   * @throws {OperationalError} GTM_STORE_UNREACHABLE, as what follows
   */
  readonly list: (query: {
    readonly region: RegionId | null;
    readonly limit: number;
    readonly cursor: string | null;
  }) => Promise<{ readonly items: readonly Conversation[]; readonly nextCursor: string | null }>;
  /** @returns null: the cursor is of another order, or none of ours */
  readonly search: (query: ConversationQuery) => Promise<FoundConversations | null>;
  readonly get: (id: ConversationId) => Promise<Conversation | null>;
  readonly owned: (id: ConversationId) => Promise<OwnedConversation | null>;
  /** Forgets a conversation, here and on every GTM, so that its next turn is placed anew. */
  readonly release: ReleaseConversation;
  /** Its next turn goes there, once. */
  readonly move: MoveConversation;
  /** The store was wiped: what is pinned is offered to it again, behind everything else. Returns at once. */
  readonly reoffer: () => void;
  /** What this instance's conversations keep alive in the regions' caches. */
  readonly live: () => readonly LiveTokens[];
};
