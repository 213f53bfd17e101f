/** Which conversation a request belongs to, and where a signed token says that it lives. */
import type { ConversationId, RegionId } from "#shared/ids.ts";
import { type LabelReading, type Labels, tagOf } from "#shared/pin-token.ts";
import { headerIn } from "./headers.ts";
import { type IdentitySource, type NameSource, nameFrom, PIN_HEADER, type Said } from "./identity-source.ts";

export type Asked = Said & {
  readonly tenant: string;
  /** What the label in the host says; null: the host has none. */
  readonly hostLabel: LabelReading | null;
  readonly nowEpochMs: number;
};

export type Identity = {
  readonly conversationId: ConversationId | null;
  /** A good token's word on the home. */
  readonly pinnedTo: RegionId | null;
  readonly source: IdentitySource | "none";
  /** Whether the token names one of our keys and is not signed with it. */
  readonly isForged: boolean;
  /** Sources that said more than a name can be; they were passed over. */
  readonly ignored: readonly IdentitySource[];
};

/** @returns null: the answer may be in the body, which has not been read */
export type Identify = (asked: Asked) => Identity | null;

export type IdentityRules = {
  readonly labels: Labels;
  /** First that says something; sources that are left out are not asked. */
  readonly order: readonly IdentitySource[];
  /** Every configured region. */
  readonly regions: readonly RegionId[];
  /** Age at which a token no longer says where the conversation lives. */
  readonly pinHintMs: number;
};

type Found = Omit<Identity, "ignored">;

/** As long as any other name may be. */
const MOST_TOKEN_OCTETS = 256;
const NOBODY = { conversationId: null, pinnedTo: null, source: "none", isForged: false } as const;
const NONE_IGNORED: readonly IdentitySource[] = [];

export const createIdentify = ({ labels, order, regions, pinHintMs }: IdentityRules): Identify => {
  const regionByTag = new Map(regions.map((region) => [tagOf(region), region]));

  const hintOf = (reading: LabelReading, nowEpochMs: number): RegionId | null => {
    if (reading.kind !== "ours" || nowEpochMs - reading.issuedAtMs > pinHintMs) return null;
    return regionByTag.get(reading.regionTag) ?? null;
  };

  const fromToken = (source: IdentitySource, reading: LabelReading, nowEpochMs: number): Found => ({
    conversationId: reading.conversation,
    pinnedTo: hintOf(reading, nowEpochMs),
    source,
    isForged: reading.kind === "forged",
  });

  const fromHeader = ({ headers, nowEpochMs }: Asked): Found | "too-long" | null => {
    const token = headerIn(headers, PIN_HEADER);
    if (token === null) return null;
    return token.length > MOST_TOKEN_OCTETS ? "too-long" : fromToken("pin-token", labels.read(token), nowEpochMs);
  };

  const fromName = (source: NameSource, asked: Asked): Found | "too-long" | "unread" | null => {
    const said = nameFrom(source, asked);
    if (said === null || typeof said === "string") return said;
    const conversationId = labels.conversationIdOf(asked.tenant, said.name);
    return { conversationId, pinnedTo: null, source, isForged: false };
  };

  const find = (source: IdentitySource, asked: Asked): Found | "too-long" | "unread" | null => {
    if (source === "pin-token") return fromHeader(asked);
    if (source !== "host-label") return fromName(source, asked);
    return asked.hostLabel === null ? null : fromToken(source, asked.hostLabel, asked.nowEpochMs);
  };

  return (asked) => {
    let ignored = NONE_IGNORED;
    for (const source of order) {
      const found = find(source, asked);
      if (found === "unread") return null;
      if (found === "too-long") ignored = [...ignored, source];
      else if (found !== null) return { ...found, ignored };
    }
    return { ...NOBODY, ignored };
  };
};
