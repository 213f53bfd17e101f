/** Whose a conversation is, as far as this GTM knows, and so who may see it and order about it. */
import { homeOf } from "#gtm/domain/conversation.ts";
import type { OwnedConversation } from "#gtm/domain/conversation-query.ts";
import type { ConversationId } from "#shared/ids.ts";
import { tagOf } from "#shared/pin-token.ts";
import { isLimited, modelsSeen } from "./access.ts";
import { mustMay } from "./admission.ts";
import type { Actor } from "./auth.ts";
import type { AdminPorts } from "./ports.ts";
import { refuse } from "./problem.ts";
import { covers } from "./scope.ts";

type Parts = Pick<AdminPorts, "decisions" | "pools">;

export type ConversationSight = (owned: OwnedConversation) => boolean;

/**
 * The record has tags of two octets in place of names. A pool's is one of the configuration; a tenant's is compared with the
 * names in the scope, so that one tenant in 65 536 looks the same. What globs match has to be known by name: from the newest
 * decision about it that this instance remembers.
 *
 * @returns for one request: what is remembered is looked through once, and only where a glob asks for it
 */
export const conversationSight = (actor: Actor, parts: Parts): ConversationSight => {
  if (!isLimited(actor)) return () => true;
  const { pools, tenants } = actor.scope;
  const poolByTag = new Map(parts.pools.map(({ name }) => [tagOf(name), name]));
  const named = new Set((tenants ?? []).filter((name) => !name.includes("*")).map(tagOf));
  const hasGlobs = (tenants ?? []).some((name) => name.includes("*"));
  let tenantOf: ReadonlyMap<ConversationId, string> | null = null;
  return ({ conversation, owner }) => {
    const pool = poolByTag.get(owner.poolTag);
    if (pools !== null && (pool === undefined || !covers(pools, pool))) return false;
    if (tenants === null || named.has(owner.tenantTag)) return true;
    if (!hasGlobs) return false;
    tenantOf ??= tenantsIn(parts);
    const tenant = tenantOf.get(conversation.id);
    return tenant !== undefined && covers(tenants, tenant);
  };
};

const PAGE = 500;

/** By the newest decision about each conversation. */
const tenantsIn = ({ decisions }: Parts): ReadonlyMap<ConversationId, string> => {
  const any = { pool: null, region: null, verdict: null, channel: "http", conversation: null } as const;
  const tenants = new Map<ConversationId, string>();
  let cursor: string | null = null;
  do {
    const page: ReturnType<typeof decisions.list> = decisions.list({ ...any, limit: PAGE, cursor });
    for (const { query } of page.items) {
      const { conversationId, tenant } = query;
      if (conversationId !== null && !tenants.has(conversationId)) tenants.set(conversationId, tenant);
    }
    cursor = page.nextCursor;
  } while (cursor !== null);
  return tenants;
};

/** What somebody may not see is not there for them. @throws {ProblemError} 404 */
export const mustSee = (actor: Actor, parts: Parts, owned: OwnedConversation | null, id: ConversationId): void => {
  if (owned === null ? !isLimited(actor) : conversationSight(actor, parts)(owned)) return;
  throw refuse("not-found", `Nothing is known of conversation ${id}.`);
};

/** Releasing or moving one concerns its home. @throws {ProblemError} 403 where they may not order of that region, 404 as `mustSee` */
export const mustMayTurn = (actor: Actor, parts: Parts, owned: OwnedConversation | null, id: ConversationId): void => {
  mustSee(actor, parts, owned, id);
  if (owned !== null) mustMayOrderOf(actor, homeOf(owned.conversation));
};

/** What they see is within their pools and tenants: what is left to ask is the region. @throws {ProblemError} 403 */
export const mustMayOrderOf = (actor: Actor, region: string): void => {
  const whose = { ...actor, scope: { ...actor.scope, pools: null, tenants: null } };
  mustMay(whose, "operator", { kind: "order-traffic", region, pool: "*", tenant: "*" });
};

/** Models whose placements somebody may see. */
export const seesModel = (actor: Actor, { pools }: Pick<AdminPorts, "pools">): ((model: string) => boolean) => {
  const seen = modelsSeen(actor, pools);
  return (model) => seen === null || seen.has(model);
};
