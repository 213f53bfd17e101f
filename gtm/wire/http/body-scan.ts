/**
 * Finds a few members of a JSON object while its octets pass by, and keeps nothing of the prompt.
 *
 * Why not @streamparser/json: it collects each string to its end. On a chat of 20 MB it takes thirty times as long and holds
 * 106 MB, where this holds nothing but the chunk at hand, and the chunk's text where quotes are escaped (test/bench/http.bench.ts).
 */
import { createBlobScale } from "./blob-scale.ts";
import { createJsonOutline } from "./json-outline.ts";
import { createKeptScalars, type Scalar } from "./kept-scalars.ts";
import { type Member, memberNamed, type Wanted } from "./member-paths.ts";
import type { Opening } from "./opening.ts";

export type Scanned = {
  /** Whether the body is, or began like, a JSON object. */
  readonly isObject: boolean;
  /** By path, such as "model" or "metadata.session_id"; of members with one name the last, as JSON.parse has it. */
  readonly values: ReadonlyMap<string, Scalar>;
  /** Wanted members whose value is longer than any name. */
  readonly tooLong: ReadonlySet<string>;
  /** Octets of strings that are no text. */
  readonly blobBytes: number;
  /** Of the system's and the first user's words; null: there are none, or nobody asked. */
  readonly fingerprint: string | null;
};

export type BodyScan = {
  /** Never throws, whatever the octets are. */
  readonly write: (chunk: Buffer) => void;
  /** Of what has been written so far. */
  readonly scanned: () => Scanned;
  /** Whether nothing that follows changes the fingerprint, but words of a system that stands behind the messages. */
  readonly isOpened: () => boolean;
};

/** A part of a message's content with an image's URL in it is the deepest thing that is looked at. */
const MOST_DEPTH = 8;

/** @param opening hears the prompt's beginning, where `wanted` says where it stands; null: nobody does */
export const createBodyScan = (wanted: Wanted, opening: Opening | null = null): BodyScan => {
  const kept = createKeptScalars(wanted);
  const scale = createBlobScale();

  /** Behind all paths: the role of the message that is open. */
  const roleSlot = wanted.paths.length;
  let isObject = false;
  let depth = 0;
  /** Down to here every open object or list is one that something is wanted of. */
  let knownDepth = 0;
  /** Those, by depth. */
  const known: Member[] = [];
  const areLists: boolean[] = [];
  /** The member whose value comes next; null: none to look at. */
  let member: Member | null = null;
  let isNameNext = false;
  /** The member whose string is passing by as part of the prompt. */
  let spoken: Member | null = null;

  const isKnown = (): boolean => depth === knownDepth && depth > 0;
  const isInList = (): boolean => areLists[depth] === true;
  /** What the next value is. */
  const expected = (): Member | null => {
    if (depth === 0) return wanted.root;
    if (!isKnown()) return null;
    return isInList() ? (known[depth]?.items ?? null) : member;
  };
  /** Once the first user has spoken, later messages are passed over. */
  const isOver = (one: Member): boolean => one.part === "message" && opening?.isOver() === true;

  const write = createJsonOutline({
    opened: (isBrace) => {
      const one = expected();
      if (depth === 0 && isBrace) isObject = true;
      depth += 1;
      member = null;
      const within = isBrace ? one?.children : one?.items;
      isNameNext = false;
      if (one === null || (within ?? null) === null || depth > MOST_DEPTH || isOver(one)) return;
      knownDepth = depth;
      known[depth] = one;
      areLists[depth] = !isBrace;
      isNameNext = isBrace;
      if (!isBrace || one.part !== "message") return;
      kept.take(roleSlot);
      opening?.messageBegan();
    },
    closed: () => {
      if (isKnown()) {
        if (known[depth]?.part === "message" && !isInList()) opening?.messageEnded(kept.take(roleSlot));
        knownDepth -= 1;
      }
      depth = Math.max(0, depth - 1);
      member = null;
      isNameNext = false;
    },
    comma: () => {
      member = null;
      isNameNext = isKnown() && !isInList();
    },
    colon: () => {
      isNameNext = false;
      // Of two members with one name the last counts, whatever it holds.
      if (member !== null) kept.forget(member);
    },
    wantsNext: () => {
      spoken = null;
      if (!isKnown()) return false;
      if (isNameNext) return true;
      const one = expected();
      if (one === null) return false;
      if (one.text === null) return one.slot !== null || one.part === "role";
      spoken = one;
      return one.slot !== null;
    },
    scalar: (chunk, from, end, isString) => {
      const one = expected();
      if (isNameNext) member = memberNamed(known[depth]?.children ?? NO_NAMES, chunk, from, end);
      else if (one?.part === "role") kept.keep(roleSlot, chunk, from, end, isString);
      else if (one !== null && one.slot !== null) kept.keep(one.slot, chunk, from, end, isString);
    },
    tooLong: () => {
      const one = expected();
      if (isNameNext) member = null;
      else if (one !== null && one.slot !== null) kept.giveUp(one.slot);
    },
    passing: (chunk, from, end) => {
      scale.add(chunk, from, end);
      if (spoken?.text != null) opening?.text(spoken.text, chunk, from, end);
    },
    passed: () => {
      scale.endString();
      if (spoken?.text != null) opening?.textEnded(spoken.text);
      spoken = null;
    },
  });

  return {
    write,
    isOpened: () => opening === null || opening.isOver(),
    scanned: () => ({
      isObject,
      values: kept.values(),
      tooLong: kept.tooLong(),
      blobBytes: scale.blobBytes(),
      fingerprint: opening?.fingerprint() ?? null,
    }),
  };
};

const NO_NAMES = { byName: new Map(), byLength: new Map(), longestOctets: 0 };
