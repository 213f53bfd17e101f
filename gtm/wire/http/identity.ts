/** Which conversation a request belongs to, where a signed token says that it lives, and which one it began from. */
import type { IdentitySource } from "#gtm/domain/identity-source.ts";
import type { ConversationId, RegionId } from "#shared/ids.ts";
import { isLabelShaped, type LabelReading, type Labels, tagOf } from "#shared/pin-token.ts";
import { headerIn } from "./headers.ts";
import { type NameSource, nameFrom, PIN_HEADER, parentFrom, type Said } from "./identity-source.ts";
import type { State } from "./state.ts";

export type Asked = Said & {
  /** What the question itself calls the conversation, or its label; null: it is a turn, and says so in its own ways. */
  readonly named: string | null;
  readonly tenant: string;
  /** What the label in the host says; null: the host has none. */
  readonly hostLabel: LabelReading | null;
  /** What is stored that the turn continues; "unread": the body may say; null: nothing. */
  readonly state: State | "too-long" | "unread" | null;
  readonly nowEpochMs: number;
};

export type Identity = {
  readonly conversationId: ConversationId | null;
  /** A good token's word on the home. */
  readonly pinnedTo: RegionId | null;
  /** The conversation that this one began from. */
  readonly parentId: ConversationId | null;
  /** `steer`: the question itself names it. */
  readonly source: IdentitySource | "steer" | "none";
  /** Whether the token names one of our keys and is not signed with it. */
  readonly isForged: boolean;
  /** Sources that said more than a name can be; they were passed over. */
  readonly ignored: readonly (IdentitySource | "parent")[];
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

type Found = Omit<Identity, "ignored" | "parentId">;

/** As long as any other name may be. */
const MOST_TOKEN_OCTETS = 256;
const NOBODY = { conversationId: null, pinnedTo: null, source: "none", isForged: false } as const;
const NONE_IGNORED: Identity["ignored"] = [];

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

  const fromState = ({ state, tenant }: Asked): Found | "too-long" | "unread" | null => {
    if (state === null || typeof state === "string") return state;
    // A response's own id is of no use as a name: the next turn has another.
    const isName = state.conversation === null && state.kind === "conversation";
    const conversationId = isName ? labels.conversationIdOf(tenant, `state\0${state.id}`) : state.conversation;
    return conversationId === null ? null : { ...NOBODY, conversationId, source: "state" };
  };

  const fromName = (source: NameSource, asked: Asked): Found | "too-long" | "unread" | null => {
    // What a turn says that continues a response is not how its conversation opened.
    if (source === "fingerprint" && asked.state !== null && typeof asked.state !== "string") return null;
    const said = nameFrom(source, asked);
    if (said === null || typeof said === "string") return said;
    return { ...NOBODY, conversationId: labels.conversationIdOf(asked.tenant, said.name), source };
  };

  const find = (source: IdentitySource, asked: Asked): Found | "too-long" | "unread" | null => {
    if (source === "pin-token") return fromHeader(asked);
    if (source === "state") return fromState(asked);
    if (source !== "host-label") return fromName(source, asked);
    return asked.hostLabel === null ? null : fromToken(source, asked.hostLabel, asked.nowEpochMs);
  };

  const labelIn = (name: string): LabelReading | null => (isLabelShaped(name) ? labels.read(name) : null);

  const parentOf = ({ headers, tenant }: Asked): ConversationId | "too-long" | null => {
    const said = parentFrom(headers);
    if (said === null || said === "unread") return null;
    if (said === "too-long") return said;
    // A parent may be called by its pin token, which is what our answers call it.
    const reading = labelIn(said.name);
    return reading?.kind === "ours" ? reading.conversation : labels.conversationIdOf(tenant, said.name);
  };

  const withParent = (found: Found, asked: Asked, ignored: Identity["ignored"]): Identity => {
    const parent = parentOf(asked);
    return parent === "too-long"
      ? { ...found, parentId: null, ignored: [...ignored, "parent"] }
      : { ...found, parentId: parent, ignored };
  };

  const fromQuestion = (named: string, { tenant, nowEpochMs }: Asked): Found => {
    const reading = labelIn(named);
    return reading?.kind === "ours"
      ? { ...fromToken("pin-token", reading, nowEpochMs), source: "steer" }
      : { ...NOBODY, conversationId: labels.conversationIdOf(tenant, named), source: "steer" };
  };

  return (asked) => {
    if (asked.named !== null) return withParent(fromQuestion(asked.named, asked), asked, NONE_IGNORED);
    let ignored = NONE_IGNORED;
    for (const source of order) {
      const found = find(source, asked);
      if (found === "unread") return null;
      if (found === "too-long") ignored = [...ignored, source];
      else if (found !== null) return withParent(found, asked, ignored);
    }
    return withParent(NOBODY, asked, ignored);
  };
};
