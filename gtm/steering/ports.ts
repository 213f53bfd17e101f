/** What steering needs from the outside, in steering's own words; the datalayer implements these, tests and simulation too. */
import type { Client } from "#gtm/domain/client.ts";
import type { Conversation } from "#gtm/domain/conversation.ts";
import type { Decision } from "#gtm/domain/decision.ts";
import type { Pool } from "#gtm/domain/pool.ts";
import type { Turn } from "#gtm/domain/turn.ts";
import type { World } from "#gtm/domain/world.ts";
import type { ConversationId, DecisionId, ModelId, RegionId } from "#shared/ids.ts";

export type Channel = "http" | "dns" | "explain" | "simulation";

/** What is asked, stripped of its protocol. */
export type Query = {
  /** The decision's id, made by the wire that took the query. */
  readonly id: DecisionId;
  readonly channel: Channel;
  /** `turn`: a request. `cell`: a DNS name asked from an area. `label`: a DNS name of one conversation. */
  readonly kind: Turn["kind"];
  readonly pool: Pool;
  /** null: the pool's first. */
  readonly model: ModelId | null;
  readonly tenant: string;
  /** CIDR, at most /24 or /48. */
  readonly clientSubnet: string;
  /** null: nothing in the query names a conversation. */
  readonly conversationId: ConversationId | null;
  /** The conversation that this one began from, as a task of an agent does; heard only where the ledger is silent. */
  readonly parentId: ConversationId | null;
  /** A signed token's word on the home; heard only where the ledger is silent. */
  readonly pinnedTo: RegionId | null;
  /** Tokens of the whole prompt; null: unknown. */
  readonly promptTokens: number | null;
  /** How long the client says that the answer will be; null: it does not. */
  readonly outputTokens: number | null;
  /** How long it lets the answer be, which most answers are not; null: it does not say. */
  readonly outputLimitTokens: number | null;
  /** The region of the stored response that this turn continues. */
  readonly stateRegion: RegionId | null;
  /** On the instance's monotonic clock. */
  readonly receivedAtMs: number;
};

/** A decision as it is kept: with its question, what was answered, and how often. */
export type Entry = {
  readonly query: Query;
  readonly decision: Decision;
  /** The rendered answer: octets, a Location, a report to a person. */
  readonly answer: unknown;
  /** How many times it was answered; a cell counts on while its answer stands. */
  readonly answered: { value: number };
};

export type Ports = {
  readonly world: () => World;
  readonly locate: (clientSubnet: string) => Client;
  /** Has a deadline, and yields null when the store is slow or gone; that is counted and warned of behind the port. */
  readonly findConversation: (id: ConversationId | null) => Promise<Conversation | null> | Conversation | null;
  /**
   * Regions that refused the conversation within the last seconds; asked after `findConversation`, which may know nothing of
   * it. Absent: nobody hears of refusals but with the conversation.
   */
  readonly refusedBy?: (id: ConversationId | null) => readonly RegionId[];
  /** Keeps the entry in memory and returns at once; never throws and never waits for a disk or a network. */
  readonly record: (entry: Entry) => void;
};
