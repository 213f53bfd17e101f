/** A steered request's path and query with a ticket, for the gateway of one region. */
import type { ConversationId, DecisionId, ModelId, PoolName, RegionId } from "#shared/ids.ts";
import { TICKET_PARAMETER, type TicketSealer } from "#shared/ticket.ts";
import type { Alternate } from "./alternates.ts";
import type { Credentials } from "./credentials.ts";
import { withoutOwnParameters, withParameter } from "./own-parameters.ts";

/** Beyond, headers and logs on the way would have trouble with the redirect; octets of the ticket. */
export const MOST_TICKET_OCTETS = 6_144;

export type SealOrder = {
  readonly region: RegionId;
  /** The region's `endpoint.url`. */
  readonly origin: string;
  readonly method: string;
  /** As received. */
  readonly pathAndQuery: string;
  readonly pool: PoolName;
  readonly model: ModelId | null;
  readonly conversation: ConversationId | null;
  /** With whose context it begins; null: nobody's. */
  readonly parent: ConversationId | null;
  readonly pin: string | null;
  readonly decision: DecisionId;
  readonly predictedTtftMs: number | null;
  readonly clientSubnet: string;
  readonly credentials: Credentials;
  readonly alternates: readonly Alternate[];
  readonly outputTokens: number | null;
  readonly promptTokens: number | null;
  /** As in the ledger: truncated SHA-256 of the tenant. */
  readonly tenantTag: number;
};

/** @returns null: the ticket would be too large */
export type SealTarget = (order: SealOrder, mostOctets: number, nowEpochMs: number) => Promise<string | null>;

/** @param sealer of now; null: there are no keys of tickets, and then no region has a gateway */
export const createSealTarget = (sealer: () => TicketSealer | null): SealTarget => {
  const hosts = new Map<string, string>();
  const hostOf = (origin: string): string => {
    const known = hosts.get(origin) ?? new URL(origin).host;
    hosts.set(origin, known);
    return known;
  };
  return async (order, mostOctets, nowEpochMs) => {
    const seals = sealer();
    if (seals === null) throw new Error("a ticket without keys of tickets: the configuration is refused before that");
    const path = withoutOwnParameters(order.pathAndQuery);
    const ticket = await seals.seal(
      order.region,
      {
        v: 1,
        method: order.method,
        host: hostOf(order.origin),
        path,
        pool: order.pool,
        model: order.model,
        conversation: order.conversation,
        parent: order.parent,
        pin: order.pin,
        decision: order.decision,
        predictedTtftMs: order.predictedTtftMs,
        clientPrefix: order.clientSubnet,
        headers: order.credentials.map(([name, value]) => [name, value]),
        alternates: order.alternates.map(({ region, origin }) => ({ region, origin })),
        outputTokens: order.outputTokens,
        promptTokens: order.promptTokens,
        tenantTag: order.tenantTag,
      },
      nowEpochMs,
    );
    return ticket.length > mostOctets ? null : withParameter(path, TICKET_PARAMETER, ticket);
  };
};
