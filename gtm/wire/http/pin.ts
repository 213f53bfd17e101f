/** What lets a client come back without asking: a token that names its conversation and region, and a base URL made of it. */

import type { Query } from "#gtm/steering/ports.ts";
import type { Labels } from "#shared/pin-token.ts";
import type { HttpAnswer } from "./redirect.ts";
import type { Pin } from "./reply.ts";

export type PinRules = {
  readonly labels: Labels;
  /** Whether `<label>.c.<zone>` is offered; labels show in passive DNS, so an operator may not want them. */
  readonly offersLabels: boolean;
  readonly zoneName: string;
};

/** @param prefix the pool path that the request came by, such as "/v1" @returns null: there is no conversation, or no region */
export type PinOf = (query: Query, answer: HttpAnswer, prefix: string, nowEpochMs: number) => Pin | null;

export const createPinOf = ({ labels, offersLabels, zoneName }: PinRules): PinOf => {
  const sites = new Map<string, Site>();
  const siteOf = (origin: string): Site => {
    const known = sites.get(origin) ?? parse(origin);
    sites.set(origin, known);
    return known;
  };
  return (query, answer, prefix, nowEpochMs) => {
    if (answer.status !== 307 || query.conversationId === null) return null;
    const token = labels.mint({
      pool: query.pool.name,
      region: answer.region,
      conversation: query.conversationId,
      issuedAtMs: nowEpochMs,
    });
    if (!offersLabels) return { token, baseUrl: null };
    const { scheme, port } = siteOf(answer.origin);
    return { token, baseUrl: `${scheme}//${token}.c.${zoneName}${port}${prefix === "/" ? "" : prefix}` };
  };
};

/** The label's host is the region's, so it is reached as the region is. As many as there are regions. */
type Site = { readonly scheme: string; readonly port: string };

const parse = (origin: string): Site => {
  const { protocol, port } = new URL(origin);
  return { scheme: protocol, port: port === "" ? "" : `:${port}` };
};
