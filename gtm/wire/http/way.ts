/** Which way a request takes to its region: the client is sent there, with or without a ticket, or the front door goes itself. */
import type { IncomingMessage } from "node:http";
import type { Pool } from "#gtm/domain/pool.ts";
import type { RegionId } from "#shared/ids.ts";
import type { Arrival } from "./arrival.ts";
import { type Credentials, losesCredentials, sizeOf } from "./credentials.ts";
import { bearsRedirect } from "./redirect-bearing.ts";

export type Way =
  /** A redirect to the same path and query. */
  | "redirect"
  /** A redirect with sealed credentials. */
  | "ticket"
  /** A redirect with the conversation's pin token. */
  | "pin"
  | "forward";

export type Asked = {
  readonly incoming: IncomingMessage;
  readonly credentials: Credentials;
  /** As it came. */
  readonly pathAndQuery: string;
};

export type Ways = {
  /**
   * Whether the body is to be kept until the region is known, since it may have to be forwarded. Says yes too often, never
   * too seldom.
   */
  readonly mayForward: (asked: Asked, arrival: Arrival) => boolean;
  /** @param mayForward what that said */
  readonly wayOf: (asked: Asked, to: Chosen, mayForward: boolean) => Way;
};
export type Chosen = {
  readonly pool: Pool;
  readonly region: RegionId;
  /** Whether there is a pin token. */
  readonly isOfConversation: boolean;
};

/** Together with what else is in a ticket this stays below the most that a ticket may have. */
const SURELY_SMALL_OCTETS = 1_536;

/** @param gateways regions whose gateway opens tickets */
export const createWays = (gateways: ReadonlySet<RegionId>): Ways => {
  const mayForwardFor = ({ incoming, credentials, pathAndQuery }: Asked, pool: Pool): boolean => {
    if (pool.mode === "forward") return true;
    const isLarge = credentials.length > 0 && sizeOf(credentials) + pathAndQuery.length > SURELY_SMALL_OCTETS;
    if (isLarge && pool.regions.some((region) => gateways.has(region))) return true;
    if (pool.mode === "redirect") return false;
    if (!bearsRedirect(incoming.method, incoming.headers)) return true;
    return losesCredentials(incoming.headers) && !pool.regions.every((region) => gateways.has(region));
  };

  /** Only where the pool allows it; a ticket that turns out too large is another matter. */
  const mustForward = ({ incoming }: Asked, { pool, region }: Chosen): boolean => {
    switch (pool.mode) {
      case "redirect":
        return false;
      case "forward":
        return true;
      case "auto":
        return (
          !bearsRedirect(incoming.method, incoming.headers) ||
          (!gateways.has(region) && losesCredentials(incoming.headers))
        );
    }
  };

  return {
    mayForward: (asked, { pools }) => pools.some(({ pool }) => mayForwardFor(asked, pool)),
    wayOf: (asked, chosen, mayForward) => {
      if (mayForward && mustForward(asked, chosen)) return "forward";
      if (!gateways.has(chosen.region)) return "redirect";
      if (asked.credentials.length > 0) return "ticket";
      return chosen.isOfConversation ? "pin" : "redirect";
    },
  };
};
