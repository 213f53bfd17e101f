/** Names that must never be swapped for one another; everything else stays a plain string. */
import { z } from "zod";

/** One DNS label: lower case, digits and hyphens, 1 to 63 characters (RFC 1035 §2.3.1). */
const DNS_LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const dnsLabel = z.string().regex(DNS_LABEL, "must be a DNS label: a-z, 0-9 and hyphens, 1 to 63 characters");

/** A region's name, such as "eu-central". */
export const RegionId = dnsLabel.brand("RegionId");
export type RegionId = z.infer<typeof RegionId>;
/** The same as the schema, where very many are read. */
export const isRegionId = (text: string): text is RegionId => DNS_LABEL.test(text);

/** A pool's name: the left-most label of its hostname. */
export const PoolName = dnsLabel.brand("PoolName");
export type PoolName = z.infer<typeof PoolName>;

/** One edge agent of a region; a region may have several. */
export const AgentId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, "must be 1 to 63 letters, digits, dots, hyphens or underscores")
  .brand("AgentId");
export type AgentId = z.infer<typeof AgentId>;

/** One GTM process. */
export const InstanceId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/, "must be 1 to 63 letters, digits, dots, hyphens or underscores")
  .brand("InstanceId");
export type InstanceId = z.infer<typeof InstanceId>;

/** A model as the engines name it, such as "meta-llama/Llama-3.3-70B-Instruct"; it may hold slashes, colons and spaces. */
export const ModelId = z.string().min(1).max(256).brand("ModelId");
export type ModelId = z.infer<typeof ModelId>;

/** One replica of a model: `host:port/engine`. */
export const ReplicaId = z.string().min(1).max(320).brand("ReplicaId");
export type ReplicaId = z.infer<typeof ReplicaId>;

/** A conversation: the label's 8 octets (HMAC of what names it) in lower-case base32hex, 13 characters. */
export const ConversationId = z
  .string()
  .regex(/^[0-9a-v]{13}$/, "must be 13 characters of base32hex")
  .brand("ConversationId");
export type ConversationId = z.infer<typeof ConversationId>;

/** A decision: a ULID, so that ids sort by time. */
export const DecisionId = z
  .string()
  .regex(/^[0-9A-HJKMNP-TV-Z]{26}$/, "must be a ULID: 26 characters of Crockford base32")
  .brand("DecisionId");
export type DecisionId = z.infer<typeof DecisionId>;
