/**
 * Labels and pin tokens: a conversation's public name, opaque and signed, which also says where the conversation was last.
 * `p1` + base32hex of key id 1 · pool tag 2 · region tag 2 · conversation 8 · issued, Unix minutes 4 · MAC 8 octets: 42 characters.
 */
import { hash, randomBytes, randomInt, timingSafeEqual } from "node:crypto";
import { decodeBase32hex, encodeBase32hex } from "./base32hex.ts";
import { OperationalError } from "./errors.ts";
import { createHmacSha256, type Hmac } from "./hmac.ts";
import type { ConversationId, PoolName, RegionId } from "./ids.ts";
import { LEAST_KEY_OCTETS } from "./key-text.ts";

const VERSION = "p1";
const OCTETS = 25;
const SIGNED_OCTETS = 17;
const CONVERSATION_OCTETS = 8;
const MAC_OCTETS = OCTETS - SIGNED_OCTETS;
const LENGTH = VERSION.length + (OCTETS * 8) / 5;
const MS_PER_MINUTE = 60_000;
const MOST_TAGS = 10_000;

export type SigningKey = { /** 0 to 255. */ readonly id: number; readonly key: Uint8Array };

export type LabelKeys = {
  /** Makes conversations' identities; changing it forgets all of them. */
  readonly identityKey: Uint8Array;
  /** The first signs, all verify; changing them voids the home that older labels name, nothing else. */
  readonly signingKeys: readonly [SigningKey, ...SigningKey[]];
};

export type LabelReading =
  | {
      readonly kind: "ours";
      readonly poolTag: number;
      readonly regionTag: number;
      readonly conversation: ConversationId;
      /** Epoch ms, to the minute; how old is too old is the caller's to say. */
      readonly issuedAtMs: number;
    }
  /** Names one of our keys and is not signed with it: as a stranger's, and worth counting. */
  | { readonly kind: "forged"; readonly conversation: ConversationId }
  /** Names no home. A label whose key has been retired keeps its conversation, so that a base URL never dies. */
  | { readonly kind: "stranger"; readonly conversation: ConversationId };

export type Labels = {
  /** The identity of what a tenant calls by this name; 64 bits of an HMAC. */
  readonly conversationIdOf: (tenant: string, name: string) => ConversationId;
  /** @returns 42 characters, lower case */
  readonly mint: (label: {
    readonly pool: PoolName;
    readonly region: RegionId;
    readonly conversation: ConversationId;
    readonly issuedAtMs: number;
  }) => string;
  /** Reads any string and never throws; letter case is ignored, since resolvers change it (draft-vixie-dnsext-dns0x20). */
  readonly read: (text: string) => LabelReading;
};

/** Truncated SHA-256 of an id, 0 to 65 535; two regions or two pools of one configuration must not share it. */
export const tagOf = (id: string): number => {
  const known = tags.get(id);
  if (known !== undefined) return known;
  if (tags.size >= MOST_TAGS) tags.clear();
  const tag = hash("sha256", id, "buffer").readUInt16BE(0);
  tags.set(id, tag);
  return tag;
};
/** The same ids come again and again, and hashing one anew would be a third of a token's price. Tenants may be many: about 1 MB. */
const tags = new Map<string, number>();

/** Keys that live as long as the process. The key's id is random, so that an earlier process's labels read as retired, not as forged. */
export const ephemeralLabelKeys = (): LabelKeys => ({
  identityKey: randomBytes(32),
  signingKeys: [{ id: randomInt(256), key: randomBytes(32) }],
});

/** @throws {OperationalError} GTM_CONFIG_INVALID when a key is too short, or two keys share an id or have none */
export const createLabels = (keys: LabelKeys): Labels => {
  requireUsable(keys);
  const [signer] = keys.signingKeys;
  const identify = createHmacSha256(keys.identityKey);
  const sign = createHmacSha256(signer.key);
  const signById = new Map(keys.signingKeys.map(({ id, key }) => [id, createHmacSha256(key)]));

  const conversationIdOf = (tenant: string, name: string): ConversationId =>
    // The length in front keeps tenant and name apart, whatever characters they hold.
    asConversation(Buffer.from(identify(`${tenant.length}:${tenant}:${name}`).slice(0, CONVERSATION_OCTETS), "latin1"));

  return {
    conversationIdOf,
    mint: ({ pool, region, conversation, issuedAtMs }) => {
      minted.writeUInt8(signer.id, 0);
      minted.writeUInt16BE(tagOf(pool), 1);
      minted.writeUInt16BE(tagOf(region), 3);
      minted.set(octetsOf(conversation), 5);
      minted.writeUInt32BE(Math.floor(issuedAtMs / MS_PER_MINUTE), 13);
      minted.write(macOf(minted, sign), SIGNED_OCTETS, "latin1");
      return VERSION + encodeBase32hex(minted);
    },
    read: (text) => {
      const octets = octetsIn(text);
      if (octets === null) return { kind: "stranger", conversation: strangerOf(text, conversationIdOf) };
      const signed = signById.get(octets.readUInt8(0));
      const conversation = asConversation(octets.subarray(5));
      if (signed === undefined) return { kind: "stranger", conversation };
      if (!timingSafeEqual(Buffer.from(macOf(octets, signed), "latin1"), octets.subarray(SIGNED_OCTETS))) {
        return { kind: "forged", conversation: strangerOf(text, conversationIdOf) };
      }
      return {
        kind: "ours",
        poolTag: octets.readUInt16BE(1),
        regionTag: octets.readUInt16BE(3),
        conversation,
        issuedAtMs: octets.readUInt32BE(13) * MS_PER_MINUTE,
      };
    },
  };
};

const requireUsable = (keys: LabelKeys): void => {
  const ids = new Set<number>();
  for (const { id, key } of keys.signingKeys) {
    if (!Number.isInteger(id) || id < 0 || id > 255 || ids.has(id)) {
      throw new OperationalError("GTM_CONFIG_INVALID", `signing keys need distinct ids from 0 to 255, found ${id}`);
    }
    ids.add(id);
    requireLength("signing key", key);
  }
  requireLength("identity key", keys.identityKey);
};

const requireLength = (what: string, key: Uint8Array): void => {
  if (key.length >= LEAST_KEY_OCTETS) return;
  throw new OperationalError(
    "GTM_CONFIG_INVALID",
    `the ${what} must have at least ${LEAST_KEY_OCTETS} octets, found ${key.length}`,
  );
};

/** Both are used by one call at a time: memory of its own would be a tenth of a token's price. */
const minted = Buffer.alloc(OCTETS);
const signedOctets = Buffer.concat([Buffer.from(VERSION), Buffer.alloc(SIGNED_OCTETS)]);

const macOf = (octets: Buffer, hmac: Hmac): string => {
  for (let at = 0; at < SIGNED_OCTETS; at++) signedOctets[VERSION.length + at] = octets[at] ?? 0;
  return hmac(signedOctets).slice(0, MAC_OCTETS);
};

/** Whether a text could be one of ours; to read any other costs an HMAC. */
export const isLabelShaped = (text: string): boolean => text.length === LENGTH && /^p1/i.test(text);

/** null: not of our form. */
const octetsIn = (text: string): Buffer | null => {
  if (!isLabelShaped(text)) return null;
  const octets = decodeBase32hex(text.slice(VERSION.length));
  return octets === null ? null : Buffer.from(octets.buffer, octets.byteOffset, octets.length);
};

const strangerOf = (text: string, conversationIdOf: Labels["conversationIdOf"]): ConversationId =>
  // DNS compares ASCII letters only (RFC 4343 §3).
  conversationIdOf(
    "label",
    text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase()),
  );

/** The first 8 octets; 13 characters of base32hex are what ConversationId asks for. */
const asConversation = (octets: Buffer): ConversationId => encodeBase32hex(octets.subarray(0, 8)) as ConversationId;

const octetsOf = (conversation: ConversationId): Uint8Array => {
  const octets = decodeBase32hex(conversation);
  if (octets?.length !== 8) throw new Error(`not a conversation id: ${conversation}`);
  return octets;
};
