/** Every key in the store: its name, its value's schema, its time to live. One key per operation, so Redis Cluster works. */
import type { z } from "zod";
import { AcmeRecord } from "./acme-record.ts";
import { AuditRecord } from "./audit-record.ts";
import type { AgentId, ConversationId, InstanceId, RegionId } from "./ids.ts";
import { ConversationRecord } from "./packed-conversation.ts";
import { OrdersRecord, RefusedRecord, ResponseRecord, SentRecord } from "./records.ts";
import { RegionReport } from "./report.ts";
import { TokensRecord, TokenUse } from "./token-record.ts";

const PREFIX = "gtm:v1:";

/** Identifiers may hold any character; a key's parts are kept apart by encoding what could be mistaken for a separator. */
const part = (text: string): string => encodeURIComponent(text);

export type KeyKind<Schema> = {
  readonly schema: Schema;
  /** Milliseconds; null: never expires, or swept by score. */
  readonly ttlMs: number | null;
};

/** One row a kind of key, in the order of interfaces.md. */
export const KEYS = {
  report: { schema: RegionReport, ttlMs: 30_000 },
  agents: { schema: null, ttlMs: null },
  conversation: { schema: ConversationRecord, ttlMs: 3_600_000 },
  held: { schema: null, ttlMs: null },
  sizes: { schema: null, ttlMs: null },
  sent: { schema: SentRecord, ttlMs: 5_000 },
  instances: { schema: null, ttlMs: null },
  orders: { schema: OrdersRecord, ttlMs: null },
  decisions: { schema: null, ttlMs: null },
  /** Stream: what was done at admin APIs. */
  audit: { schema: AuditRecord, ttlMs: null },
  refused: { schema: RefusedRecord, ttlMs: 10_000 },
  /** As long as anybody may know of the conversation: by then what is known has aged away. */
  released: { schema: null, ttlMs: 3_600_000 },
  response: { schema: ResponseRecord, ttlMs: 86_400_000 },
  /** Of tickets' names, that one was used; at most: until a ticket ends for everybody. */
  ticket: { schema: null, ttlMs: 40_000 },
  /** What GTMs learnt from turns, for those that begin. */
  learnt: { schema: null, ttlMs: 3_600_000 },
  /** At most; each value is as long as it was asked for. */
  acme: { schema: AcmeRecord, ttlMs: 3_600_000 },
  acmeNames: { schema: null, ttlMs: null },
  tokens: { schema: TokensRecord, ttlMs: null },
  /** Whoever looks for tokens that nobody uses looks back so far. */
  tokenUsed: { schema: TokenUse, ttlMs: 400 * 86_400_000 },
} as const satisfies Record<string, KeyKind<z.ZodType | null>>;

export const reportKey = (region: RegionId, agent: AgentId): string => `${PREFIX}report:{${region}}:${part(agent)}`;
/** Sorted set, one a region, so that no region's agents can add to another's: agents, scored by the epoch ms of their last report. */
export const agentsKey = (region: RegionId): string => `${PREFIX}agents:{${region}}`;
export const conversationKey = (conversation: ConversationId): string => `${PREFIX}conv:{${conversation}}`;
/** Sorted set: conversations whose home this region is, scored by the epoch ms of their last turn. */
export const heldKey = (region: RegionId): string => `${PREFIX}held:{${region}}`;
/** Sorted set: the same conversations, scored by the tokens of their context (`sizeScore`). */
export const sizesKey = (region: RegionId): string => `${PREFIX}sizes:{${region}}`;
export const sentKey = (instance: InstanceId): string => `${PREFIX}sent:{${part(instance)}}`;
/** Sorted set: GTM instances, scored by the epoch ms of their last `sent`; how they find each other's. */
export const instancesKey = (): string => `${PREFIX}instances`;
export const learntKey = (): string => `${PREFIX}learnt`;
export const ordersKey = (): string => `${PREFIX}orders`;
export const decisionsKey = (instance: InstanceId): string => `${PREFIX}decisions:{${part(instance)}}`;
export const auditKey = (): string => `${PREFIX}audit`;
export const refusedKey = (conversation: ConversationId): string => `${PREFIX}refused:{${conversation}}`;
/** That somebody released the conversation: whoever did not hear of it must not put it back. */
export const releasedKey = (conversation: ConversationId): string => `${PREFIX}released:{${conversation}}`;
/** @param response `labels.conversationIdOf("response", id)`: the id itself would be readable by whoever reads the store */
export const responseKey = (response: ConversationId): string => `${PREFIX}response:{${response}}`;
/** That a ticket was used in its region. @param jti the ticket's own name, base64url */
export const ticketKey = (region: RegionId, jti: string): string => `${PREFIX}ticket:${region}:{${part(jti)}}`;
const ACME = `${PREFIX}acme:{`;
/** @param name such as `_acme-challenge.c.llm.example.com` */
export const acmeKey = (name: string): string => `${ACME}${part(name)}}`;
/** The name whose key it is; null: it is another kind of key. */
export const acmeNameOf = (key: string): string | null => {
  if (!key.startsWith(ACME) || !key.endsWith("}")) return null;
  const name = key.slice(ACME.length, -1);
  // What would be encoded is no name of a host, and none of ours.
  return name === part(name) ? name : null;
};
/** Sorted set: names that have a key, scored by the epoch ms of their last change; how GTMs that missed it find them. */
export const acmeNamesKey = (): string => `${PREFIX}acme-names`;
export const tokensKey = (): string => `${PREFIX}tokens`;
/** @param id the token's own name, never the token */
export const tokenUsedKey = (id: string): string => `${PREFIX}token-used:{${part(id)}}`;
/** Channel: every change of `orders`, of `tokens`, of a conversation and of an `acme`, with its rev. */
export const changedChannel = (): string => `${PREFIX}changed`;
/** Channel: a report was put; the message is `region/agent`. */
export const reportedChannel = (): string => `${PREFIX}reported`;
/** Channel: gateways tell what they measured, a `TurnBatch` a message. */
export const turnsChannel = (): string => `${PREFIX}turns`;

/** How many decisions, and how many entries of the audit, a stream keeps. */
export const DECISIONS_CAP = 10_000;
export const AUDIT_CAP = 10_000;
