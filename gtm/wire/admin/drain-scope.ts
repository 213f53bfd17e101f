/** The conversations that a drain concerns: at home in some regions, of some pools, models and tenants. */
import { matchesGlob } from "#gtm/steering/overrides.ts";
import { type HomeConversations, homeConversations } from "./home-conversations.ts";
import type { KnownConversation } from "./known-conversation.ts";
import type { AdminPorts } from "./ports.ts";
import { UNKNOWN_CLIENT } from "./unknown-client.ts";

/** Globs; of an order about one region its id and three stars. */
export type Scope = { readonly region: string; readonly pool: string; readonly model: string; readonly tenant: string };

export const regionScope = (region: string): Scope => ({ region, pool: "*", model: "*", tenant: "*" });

/** Configured regions that it names. */
export const regionsIn = ({ region }: Scope, ports: Pick<AdminPorts, "steering">) =>
  ports.steering.world().regions.filter(({ id }) => matchesGlob(region, id));

/** @throws {OperationalError} GTM_STORE_UNREACHABLE: without the store nobody knows whose home a region is */
export const concernedBy = async (
  ports: Pick<AdminPorts, "conversations" | "decisions" | "pools" | "steering">,
  scope: Scope,
): Promise<HomeConversations> => {
  const regions = regionsIn(scope, ports);
  const isAll = regions.length === ports.steering.world().regions.length;
  const pages = isAll
    ? [await homeConversations(ports, null)]
    : await Promise.all(regions.map(({ id }) => homeConversations(ports, id)));
  const known = pages.flatMap((page) => page.known).filter((one) => isConcerned(one, scope));
  return {
    known,
    located: known.filter(({ client }) => client !== UNKNOWN_CLIENT).length,
    isComplete: pages.every((page) => page.isComplete),
  };
};

const isConcerned = ({ conversation, pool, tenant }: KnownConversation, scope: Scope): boolean =>
  matchesGlob(scope.pool, pool.name) &&
  matchesGlob(scope.model, conversation.model) &&
  matchesGlob(scope.tenant, tenant);
