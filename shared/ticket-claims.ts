/** What a ticket carries from the front to the gateway of the region that it names. */
import { z } from "zod";
import { ConversationId, DecisionId, ModelId, PoolName, RegionId } from "./ids.ts";

/** A region that the gateway may hand the turn to, and the URL of its gateway. */
export const TicketAlternate = z.looseObject({
  region: RegionId,
  /** Scheme and authority, such as "https://paris.r.example.org". */
  origin: z.string().max(512),
});
export type TicketAlternate = z.infer<typeof TicketAlternate>;

export const TicketClaims = z.looseObject({
  v: z.literal(1),
  /** As in the request line; methods are case-sensitive (RFC 9110 §9.1). */
  method: z.string().min(1).max(64),
  /** Whom the ticket is for: host and, where it is not the scheme's own, port, as they stand in a Host header; lower case. */
  host: z.string().min(1).max(300),
  /** Path and original query, octet by octet, without the ticket itself. */
  path: z.string().startsWith("/"),
  pool: PoolName,
  /** null: no model was named, and the pool has no default. */
  model: ModelId.nullable(),
  conversation: ConversationId.nullable(),
  /** With whose context this conversation begins; null: nobody's, and in tickets of GTMs that do not say. */
  parent: ConversationId.nullable().default(null),
  /** The pin token; null: no conversation. */
  pin: z.string().max(64).nullable(),
  decision: DecisionId,
  /** Milliseconds, 0 or more, the way included; null: nothing is known. */
  predictedTtftMs: z.number().nonnegative().nullable(),
  /** CIDR, /24 or /48 at the longest. */
  clientPrefix: z.string().max(64),
  /** Names in lower case and values of the headers that clients drop when they follow a redirect. Never to be logged. */
  headers: z.array(z.tuple([z.string().min(1), z.string()])).max(64),
  /** The next best, dearer from left to right. */
  alternates: z.array(TicketAlternate).max(2),
  /** Tokens expected; null: unknown. */
  outputTokens: z.number().nonnegative().nullable(),
  /** Tokens of the prompt as the front estimates them; null: unknown. */
  promptTokens: z.number().nonnegative().nullable(),
  /** Truncated SHA-256 of the tenant, as in the ledger, 0 to 65 535; null: in tickets of GTMs that do not say. */
  tenantTag: z.int().min(0).max(0xffff).nullable().default(null),
});
export type TicketClaims = z.infer<typeof TicketClaims>;

/** Whole seconds since the Unix epoch, as RFC 7519 §2 has NumericDate. */
const NumericDate = z.int().nonnegative();

/** The claims with what makes them a ticket: when, until when, and its one name. */
export const SealedClaims = TicketClaims.extend({
  iat: NumericDate,
  exp: NumericDate,
  jti: z.string().min(16).max(64),
});
export type SealedClaims = z.infer<typeof SealedClaims>;
