/** A conversation as it stands in the store: packed, since there are hundreds of thousands, and read by hand, since a list reads hundreds. */
import { z } from "zod";
import { isRegionId, type ModelId, type RegionId, ReplicaId } from "./ids.ts";

/** Digits in base 36: an integer, 0 or more, in half the characters. */
const DIGITS = /^[0-9a-z]{1,11}$/;

/** As it stands in the store: `f` are tenant tag, pool tag, turns and the last turn's age; then, newest first, each holding. */
type PackedConversation = {
  readonly v: 1;
  readonly rev: number;
  /** Model. */
  readonly m: ModelId;
  readonly f: string;
  /** "region tokens age", and the replica where it is known; age in seconds before the last turn. */
  readonly h: readonly string[];
  /** Somebody ordered it to its home, where it has had no turn since. */
  readonly o?: 1 | undefined;
};

const MOST_HOLDINGS = 3;

/** By hand, since a list reads hundreds of records and every turn one: a schema takes ten times as long. */
const isPacked = (value: unknown): value is PackedConversation => {
  if (typeof value !== "object" || value === null) return false;
  const { v, rev, m, f, h, o } = value as { readonly [Key in keyof PackedConversation]?: unknown };
  return (
    v === 1 &&
    Number.isSafeInteger(rev) &&
    (rev as number) > 0 &&
    isText(m, 256) &&
    m !== "" &&
    isText(f, 64) &&
    Array.isArray(h) &&
    h.length <= MOST_HOLDINGS &&
    h.every((text) => isText(text, 512)) &&
    (o === undefined || o === 1)
  );
};

const isText = (value: unknown, most: number): boolean => typeof value === "string" && value.length <= most;

/** @returns null: it is not packed as version 1 packs a conversation */
export const conversationRecordIn = (value: unknown): ConversationRecord | null => {
  if (!isPacked(value)) return null;
  const { v, rev, m, f, h, o } = value;
  const [t = Number.NaN, p = Number.NaN, n = Number.NaN, l = Number.NaN, ...rest] = f.split(" ").map(fromDigits);
  const isSound = t <= 0xffff && p <= 0xffff && n >= 0 && l >= 0 && rest.length === 0;
  if (!isSound) return null;
  const holdings: ConversationRecord["h"][number][] = [];
  for (const text of h) {
    const holding = holdingIn(text, l);
    if (holding === null) return null;
    holdings.push(holding);
  }
  return { v, rev, m, t, p, h: holdings, n, l, ...(o === undefined ? {} : { o }) };
};

/**
 * `conv:{hash}`. In the store numbers are base 36 and stand in one text: an entry costs under 400 bytes of Redis's memory,
 * index included (measured by test/bench/redis-memory). Whoever parses sees them by name. Times are ages at the moment of
 * writing, and how long ago that was the key's time to live says: no two clocks need to agree.
 */
export const ConversationRecord = z.unknown().transform((value, context): ConversationRecord => {
  const record = conversationRecordIn(value);
  if (record !== null) return record;
  context.addIssue({ code: "custom", message: "is not packed as version 1 packs a conversation" });
  return z.NEVER;
});
export type ConversationRecord = {
  readonly v: 1;
  readonly rev: number;
  /** Model. */
  readonly m: ModelId;
  /** Tenant tag: truncated SHA-256 of an id, 2 octets. */
  readonly t: number;
  /** Pool tag. */
  readonly p: number;
  /** Holdings, newest first: region, replica or null, tokens, seconds of age when it was written. */
  readonly h: readonly (readonly [RegionId, ReplicaId | null, number, number])[];
  /** Turns so far. */
  readonly n: number;
  /** The last turn's age when it was written, seconds. */
  readonly l: number;
  /** Somebody ordered it to its home, where it has had no turn since. */
  readonly o?: 1;
};

/** What `ConversationRecord` parses. */
export const packedConversation = ({ v, rev, m, t, p, h, n, l, o }: ConversationRecord): string =>
  JSON.stringify({
    ...{ v, rev, m, f: [t, p, n, l].map(toDigits).join(" ") },
    h: h.map(([region, replica, tokens, age]) =>
      [region, toDigits(tokens), toDigits(Math.max(0, age - l)), ...(replica === null ? [] : [replica])].join(" "),
    ),
    ...(o === undefined ? {} : { o }),
  } satisfies PackedConversation);

const toDigits = (value: number): string => value.toString(36);
/** NaN: it is no number. */
const fromDigits = (text: string): number => (DIGITS.test(text) ? Number.parseInt(text, 36) : Number.NaN);

/** null: it is none. A replica's name may hold spaces: it is all that is left. */
const holdingIn = (text: string, lastTurnAge: number): ConversationRecord["h"][number] | null => {
  const [region = "", tokens = "", earlier = "", ...rest] = text.split(" ");
  const age = lastTurnAge + fromDigits(earlier);
  const held = fromDigits(tokens);
  if (!isRegionId(region) || !(held >= 0 && age >= 0)) return null;
  const replica = rest.length === 0 ? null : (ReplicaId.safeParse(rest.join(" ")).data ?? null);
  return [region, replica, held, age];
};
