/** The conversations at home in a region or, with null, in any; each with what this instance last saw of who leads it. */
import type { Client } from "#gtm/domain/client.ts";
import type { Pool } from "#gtm/domain/pool.ts";
import type { Entry } from "#gtm/steering/ports.ts";
import { OperationalError } from "#shared/errors.ts";
import type { ConversationId, ModelId, RegionId } from "#shared/ids.ts";
import type { KnownConversation } from "./known-conversation.ts";
import type { AdminPorts, DecisionsPort } from "./ports.ts";
import { UNKNOWN_CLIENT } from "./unknown-client.ts";

/** A preview looks at this many; of more it says so. */
const MOST = 2_000;
const PAGE = 500;

export type HomeConversations = {
  readonly known: readonly KnownConversation[];
  /** Of them, those whose client's network a recent decision names. */
  readonly located: number;
  /** False where the region has more than were looked at. */
  readonly isComplete: boolean;
};

/** @param why in the store's words */
export type OnUnread = (why: string) => void;

/**
 * Whoever orders is not held up by a part of the store that is away: what cannot be read is taken for nobody, incomplete.
 *
 * @param onUnread null: then it rejects
 */
export const orNobody = async (
  reading: Promise<HomeConversations>,
  onUnread: OnUnread | null,
): Promise<HomeConversations> => {
  try {
    return await reading;
  } catch (fault) {
    if (onUnread === null || !(fault instanceof OperationalError)) throw fault;
    onUnread(fault.message);
    return { known: [], located: 0, isComplete: false };
  }
};

export const homeConversations = async (
  ports: Pick<AdminPorts, "conversations" | "decisions" | "pools">,
  region: RegionId | null,
): Promise<HomeConversations> => {
  const seen = lastSeen(ports.decisions);
  const known: KnownConversation[] = [];
  let located = 0;
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof ports.conversations.list>> = await ports.conversations.list({
      region,
      limit: PAGE,
      cursor,
    });
    for (const conversation of page.items) {
      const last = seen.get(conversation.id);
      const pool = last?.pool ?? poolOf(conversation.model, ports.pools);
      // A model that has left the configuration has no next turn.
      if (pool === null) continue;
      if (last !== undefined) located += 1;
      known.push({
        conversation,
        pool,
        tenant: last?.tenant ?? "default",
        client: last?.client ?? UNKNOWN_CLIENT,
      });
    }
    cursor = page.nextCursor;
  } while (cursor !== null && known.length < MOST);
  return { known, located, isComplete: cursor === null };
};

type Seen = { readonly pool: Pool; readonly tenant: string; readonly client: Client };

/** The newest decision about each conversation that this instance still remembers. */
const lastSeen = (decisions: DecisionsPort): ReadonlyMap<ConversationId, Seen> => {
  const seen = new Map<ConversationId, Seen>();
  let cursor: string | null = null;
  do {
    const page: { items: readonly Entry[]; nextCursor: string | null } = decisions.list({
      pool: null,
      region: null,
      verdict: null,
      channel: null,
      conversation: null,
      limit: PAGE,
      cursor,
    });
    for (const { query, decision } of page.items) {
      const { conversationId, tenant, pool } = query;
      if (conversationId === null || query.channel !== "http" || seen.has(conversationId)) continue;
      seen.set(conversationId, { pool, tenant, client: decision.turn.client });
    }
    cursor = page.nextCursor;
  } while (cursor !== null);
  return seen;
};

const poolOf = (model: ModelId, pools: readonly Pool[]): Pool | null =>
  pools.find((pool) => pool.models.includes(model)) ?? null;
