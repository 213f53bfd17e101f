/** Members of a JSON object that somebody wants, and where its prompt stands; prepared once for many scans. */
import { endUnescape, MOST_ADDED_OCTETS, newUnescaping, unescapeInto } from "./json-unescape.ts";

/** Whose words a string of the prompt is; `message`: its role says, which may stand behind it. */
export type TextOf = "system" | "user" | "prompt" | "message";

export type Member = {
  /** "model", or "metadata.session_id" for a member of a member. */
  readonly path: string;
  /** Where its value is kept, counted from 0; null: only something in it is wanted. */
  readonly slot: number | null;
  /** Wanted members of it, by name. */
  readonly children: MemberNames | null;
  /** What each item is, where it is a list. */
  readonly items: Member | null;
  /** What its strings are; null: no part of the prompt. */
  readonly text: TextOf | null;
  /** `message`: an object with a role and content; `role`: the role. */
  readonly part: "message" | "role" | null;
};

export type MemberNames = {
  readonly byName: ReadonlyMap<string, Member>;
  /** Members whose name has so many octets. */
  readonly byLength: ReadonlyMap<number, readonly Spelt[]>;
  /** Octets of the longest name, each written as \uXXXX. */
  readonly longestOctets: number;
};
type Spelt = { readonly octets: Buffer; readonly member: Member };

export type Wanted = {
  readonly root: Member;
  /** Paths, by slot. */
  readonly paths: readonly string[];
};

/**
 * @param paths of scalars, at most one dot each; names are ASCII
 * @param prompt members that hold the prompt; none: it is not looked at
 */
export const memberNames = (paths: readonly string[], prompt: Readonly<Record<string, Member>> = {}): Wanted => {
  const slotOf = (path: string): number | null => {
    const slot = paths.indexOf(path);
    return slot === -1 ? null : slot;
  };
  const members = new Map<string, Member>(Object.entries(prompt));
  for (const name of new Set(paths.map((path) => path.split(".", 1)[0] ?? path))) {
    const inner = paths.filter((path) => path.startsWith(`${name}.`));
    const children = inner.map((path): [string, Member] => [
      path.slice(name.length + 1),
      memberOf({ path, slot: slotOf(path) }),
    ]);
    const wish = { path: name, slot: slotOf(name), children: children.length === 0 ? null : namesOf(children) };
    members.set(name, { ...(members.get(name) ?? NOTHING), ...wish });
  }
  return { root: memberOf({ children: namesOf([...members]) }), paths };
};

const NOTHING: Member = { path: "", slot: null, children: null, items: null, text: null, part: null };

export const memberOf = (wish: Partial<Member>): Member => ({ ...NOTHING, ...wish });

const ESCAPED_OCTETS = 6;

export const namesOf = (members: readonly (readonly [string, Member])[]): MemberNames => {
  const byLength = new Map<number, Spelt[]>();
  for (const [name, member] of members) {
    const octets = Buffer.from(name);
    byLength.set(octets.length, [...(byLength.get(octets.length) ?? []), { octets, member }]);
  }
  return { byName: new Map(members), byLength, longestOctets: Math.max(...byLength.keys()) * ESCAPED_OCTETS };
};

const BACKSLASH = 0x5c;

/** The member of this name, which may be spelt with escapes. @param chunk the name as it is written, from `from` to `end` */
export const memberNamed = (names: MemberNames, chunk: Buffer, from: number, end: number): Member | null => {
  // Most names are dismissed by their length alone.
  for (const { octets, member } of names.byLength.get(end - from) ?? NO_NAMES) {
    if (isSpelt(octets, chunk, from)) return member;
  }
  if (end - from > names.longestOctets || !hasEscape(chunk, from, end)) return null;
  const state = newUnescaping();
  const length = endUnescape(state, plain, unescapeInto(state, chunk, from, end, plain, 0));
  for (const { octets, member } of names.byLength.get(length) ?? NO_NAMES) if (isSpelt(octets, plain, 0)) return member;
  return null;
};
/** Used by one call at a time. A name of 256 octets, each written as \uXXXX, is the longest that the outline tells of. */
const plain = Buffer.allocUnsafe(2_048 + MOST_ADDED_OCTETS);
const NO_NAMES: readonly Spelt[] = [];

const isSpelt = (octets: Buffer, chunk: Buffer, from: number): boolean => {
  for (let at = 0; at < octets.length; at++) if (octets[at] !== chunk[from + at]) return false;
  return true;
};

const hasEscape = (chunk: Buffer, from: number, end: number): boolean => {
  for (let at = from; at < end; at++) if (chunk[at] === BACKSLASH) return true;
  return false;
};
