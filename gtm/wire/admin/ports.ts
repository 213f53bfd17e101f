/** What the admin API needs from the rest of the GTM; main.ts hands it the datalayer's objects, tests hand it fakes. */
import type { Conversation } from "#gtm/domain/conversation.ts";
import type { ConversationQuery, FoundConversations, OwnedConversation } from "#gtm/domain/conversation-query.ts";
import type { Model } from "#gtm/domain/model.ts";
import type { Pool } from "#gtm/domain/pool.ts";
import type { AdminState } from "#gtm/domain/region.ts";
import type { Policy } from "#gtm/steering/policy.ts";
import type { Channel, Entry, Ports } from "#gtm/steering/ports.ts";
import type { AuditRecord } from "#shared/audit-record.ts";
import type { ConversationId, DecisionId, RegionId } from "#shared/ids.ts";
import type { MeasuredTurn } from "#shared/measured-turn.ts";
import type { DrainScheduleRecord, OperationRecord } from "#shared/operation-record.ts";
import type { OrdersRecord, Override } from "#shared/records.ts";
import type { AcmePort } from "./acme-port.ts";
import type { AgentsPort } from "./agents-port.ts";
import type { ConfigurationPort } from "./configuration-port.ts";
import type { SafetyPort } from "./safety-port.ts";
import type { TokensPort } from "./tokens-port.ts";
import type { ZonesPort } from "./zones-port.ts";

/** null in a field: any. */
export type DecisionFilter = {
  readonly pool: string | null;
  readonly region: string | null;
  readonly verdict: string | null;
  readonly channel: Channel | null;
  readonly conversation: ConversationId | null;
};

/** `nextCursor` is opaque; null: that was the last page. */
export type Page<Item> = { readonly items: readonly Item[]; readonly nextCursor: string | null };
export type PageQuery = { readonly limit: number; readonly cursor: string | null };

/** What this instance decided lately; in memory. */
export type DecisionsPort = {
  /** Newest first. */
  readonly list: (query: DecisionFilter & PageQuery) => Page<Entry>;
  readonly get: (id: DecisionId) => Entry | null;
  /** @returns a function that ends the subscription */
  readonly subscribe: (listener: (entry: Entry) => void) => () => void;
};

/** Every call rejects with OperationalError GTM_STORE_UNREACHABLE while the store is away. */
export type ConversationsPort = {
  /** Those at home in one region, or in any (null). */
  readonly list: (query: { readonly region: RegionId | null } & PageQuery) => Promise<Page<Conversation>>;
  /** @returns null: the cursor is of another order, or none of ours */
  readonly search: (query: ConversationQuery) => Promise<FoundConversations | null>;
  readonly get: (id: ConversationId) => Promise<Conversation | null>;
  readonly owned: (id: ConversationId) => Promise<OwnedConversation | null>;
  /** Its next turn goes there, once. @param rev what the caller saw; null: whatever it is */
  readonly move: (
    id: ConversationId,
    region: RegionId,
    rev: number | null,
  ) => Promise<
    | { readonly kind: "moved"; readonly conversation: Conversation }
    | { readonly kind: "changed" }
    | { readonly kind: "unknown" }
  >;
  /** Forgets a conversation, so that its next turn is placed anew. @param rev as the caller saw it; null: whatever it is */
  readonly release: (id: ConversationId, rev: number | null) => Promise<"released" | "changed" | "unknown">;
};

export type OrderWish = {
  readonly region: RegionId;
  readonly admin: Exclude<AdminState, "active">;
  readonly comment: string;
  readonly actor: string;
  /** Unix epoch ms; null: stands until taken back. */
  readonly expiresAtMs: number | null;
  /** null: every conversation that leaves does so at its next turn. */
  readonly schedule: DrainScheduleRecord | null;
  /** What begins with it; null: nothing that goes on. */
  readonly operation: OperationRecord | null;
};

/** Another expiry; one that is not after now cancels. */
export type OverrideChange = {
  readonly actor: string;
  /** null: what was said stays. */
  readonly comment: string | null;
  /** Unix epoch ms. */
  readonly expiresAtMs: number;
  /** Of a share; null: as it is. */
  readonly share: number | null;
  /** When it was changed last, as the caller saw it; null: whatever it is. */
  readonly seenAtMs: number | null;
};

/** Changes reject with OperationalError GTM_STORE_UNREACHABLE while the store is away: an order must reach every GTM. */
export type OrdersPort = {
  /** As this instance knows them now. */
  readonly current: () => OrdersRecord;
  /** The same with what is over or was taken back within a day. */
  readonly record: () => OrdersRecord;
  /**
   * @param seenAtMs `orderedAtMs` of what stood about the region as the caller saw it (0: nothing did); absent or null: whatever it is
   * @returns null: something else stands there by now, at whichever GTM it was ordered
   */
  readonly order: (wish: OrderWish, seenAtMs?: number | null) => Promise<OrdersRecord | null>;
  /** Takes back what was ordered of a region. @returns null: as `order` */
  readonly undo: (region: RegionId, actor: string, seenAtMs?: number | null) => Promise<OrdersRecord | null>;
  readonly override: (override: Override, operation: OperationRecord | null) => Promise<OrdersRecord>;
  /** Extends, shortens or, by an expiry not after now, cancels. @returns null: none of that id stands as it was seen */
  readonly changeOverride: (id: string, change: OverrideChange) => Promise<OrdersRecord | null>;
  /** Takes back the order that a drain carries out. @returns null: it had ended, or changed since the caller saw it */
  readonly cancelOperation: (
    id: string,
    by: { readonly actor: string; readonly changedAtMs: number | null },
  ) => Promise<OrdersRecord | null>;
  /** That nothing is held there any more; nothing happens where it has ended. */
  readonly verifyOperation: (id: string) => Promise<OrdersRecord>;
};

/** Who did what at any GTM of the store. */
export type AuditPort = {
  /** Returns at once and never throws. */
  readonly record: (record: AuditRecord) => void;
  /** Newest first; rejects with OperationalError while the store is away. */
  readonly list: (
    query: { readonly actor: string | null } & PageQuery,
  ) => Promise<Page<AuditRecord & { readonly id: string }>>;
};

/** What gateways measured, as it is heard. */
export type MeasuredTurnsPort = {
  /** @returns a function that ends the subscription */
  readonly subscribe: (listener: (turns: readonly MeasuredTurn[]) => void) => () => void;
};

export type OtherInstance = {
  readonly id: string;
  readonly heardMsAgo: number;
  /** "": it does not say. */
  readonly version: string;
  /** null: it does not say. */
  readonly config: Readonly<Record<string, string>> | null;
  readonly configDiffers: readonly string[];
  readonly isSameState: boolean;
  readonly disagreements: readonly {
    readonly question: string;
    readonly here: RegionId | null;
    readonly there: RegionId | null;
    readonly forMs: number;
  }[];
};

/** The GTMs on one store, as this one sees them. */
export type InstancesPort = {
  readonly own: () => { readonly boot: string; readonly config: Readonly<Record<string, string>> };
  readonly others: () => readonly OtherInstance[];
};

export type Health = {
  readonly isReady: boolean;
  /** Unix epoch ms; null: nothing is wrong. */
  readonly degradedSinceMs: number | null;
  /** What is wrong, one sentence each. */
  readonly reasons: readonly string[];
  /** The same, each with what it is about and since when (epoch ms). */
  readonly degradations: readonly { readonly what: string; readonly reason: string; readonly sinceMs: number }[];
  /** How old the saved facts are that decisions rest on since a start without the store; null: on live ones, or on none. */
  readonly savedWorldAgeMs: number | null;
};

export type LabelReading = { readonly conversation: ConversationId; readonly pinnedTo: RegionId | null };

export type AdminPorts = {
  /** What steering reads; an explanation goes through the same. */
  readonly steering: Omit<Ports, "record">;
  /** These three are of now whenever they are read: the configuration may change. */
  readonly policy: Policy;
  readonly safety: SafetyPort;
  readonly pools: readonly Pool[];
  readonly models: readonly Model[];
  /** What stood when a decision was made, ms on the instance's monotonic clock. */
  readonly policyAt: (monotonicMs: number) => Policy;
  readonly configuration: ConfigurationPort;
  readonly decisions: DecisionsPort;
  readonly conversations: ConversationsPort;
  readonly orders: OrdersPort;
  readonly acme: AcmePort;
  readonly audit: AuditPort;
  readonly tokens: TokensPort;
  readonly measuredTurns: MeasuredTurnsPort;
  /** What a conversation's label says, whoever made it. */
  readonly readLabel: (label: string) => LabelReading;
  /** For decisions that only explain, and for overrides. */
  readonly newDecisionId: () => DecisionId;
  readonly health: () => Health;
  readonly instances: InstancesPort;
  readonly agents: AgentsPort;
  readonly zones: ZonesPort;
  readonly instance: string;
  readonly version: string;
};
