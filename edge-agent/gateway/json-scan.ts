/**
 * Reads the scalars of a JSON text that passes by in pieces, cut anywhere: without keeping it, without building anything of
 * it, in bounded memory whatever it holds. What is no JSON gives scalars that mean nothing, and never throws.
 */

/** A string is cut at `LONGEST_TEXT` octets, `isWhole` says so; numbers and literals come as they are written. */
export type Scalar = { readonly kind: "string" | "bare"; readonly text: string; readonly isWhole: boolean };

export type JsonScan = {
  readonly push: (octets: Uint8Array, from: number, to: number) => void;
  /** The text is over; the next octet begins another. */
  readonly end: () => void;
};

export const LONGEST_TEXT = 128;
/** Keys are cut here: none that matters is longer. */
const LONGEST_KEY = 64;
/** What is nested deeper is passed over. */
const DEEPEST = 12;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;

/** One object or array that is open. Arrays add nothing to the path: `choices.delta.content` is in every choice. */
type Level = { readonly isObject: boolean; readonly path: string; key: string; isKeyNext: boolean };

/** @param onScalar hears each value with its path, the keys joined by dots */
export const createJsonScan = (onScalar: (path: string, scalar: Scalar) => void): JsonScan => {
  const captured = Buffer.alloc(LONGEST_TEXT);
  const levels: Level[] = [];
  /** Containers open beyond `DEEPEST`. */
  let deeper = 0;
  let isInString = false;
  let isEscaped = false;
  let isInBare = false;
  let length = 0;
  let isCut = false;

  const keep = (octet: number): void => {
    if (length < LONGEST_TEXT) {
      captured[length] = octet;
      length += 1;
    } else isCut = true;
  };
  const pathNow = (): string => {
    const level = levels.at(-1);
    if (level === undefined) return "";
    if (!level.isObject) return level.path;
    return level.path === "" ? level.key : `${level.path}.${level.key}`;
  };
  const begin = (): void => {
    length = 0;
    isCut = false;
  };
  const endBare = (): void => {
    isInBare = false;
    if (deeper === 0)
      onScalar(pathNow(), { kind: "bare", text: captured.toString("latin1", 0, length), isWhole: !isCut });
  };
  const endString = (): void => {
    isInString = false;
    if (deeper > 0) return;
    const level = levels.at(-1);
    if (level?.isObject && level.isKeyNext) {
      level.key = captured.toString("latin1", 0, Math.min(length, LONGEST_KEY));
      return;
    }
    onScalar(pathNow(), { kind: "string", text: captured.toString("latin1", 0, length), isWhole: !isCut });
  };
  const open = (isObject: boolean): void => {
    if (deeper > 0 || levels.length >= DEEPEST) deeper += 1;
    else levels.push({ isObject, path: pathNow(), key: "", isKeyNext: isObject });
  };
  const close = (): void => {
    if (deeper > 0) deeper -= 1;
    else levels.pop();
  };
  const structure = (octet: number): void => {
    const level = deeper > 0 ? undefined : levels.at(-1);
    if (octet === OPEN_OBJECT || octet === OPEN_ARRAY) open(octet === OPEN_OBJECT);
    else if (octet === CLOSE_OBJECT || octet === CLOSE_ARRAY) close();
    else if (octet === COMMA && level?.isObject) level.isKeyNext = true;
    else if (octet === COLON && level?.isObject) level.isKeyNext = false;
  };
  const keepAll = (octets: Uint8Array, from: number, to: number): void => {
    const end = Math.min(to, from + LONGEST_TEXT - length);
    for (let at = from; at < end; at++) captured[length + at - from] = octets[at] ?? 0;
    length += end - from;
    if (end < to) isCut = true;
  };
  /** @returns where the string goes no further in this piece */
  const passString = (octets: Uint8Array, from: number, to: number): number => {
    let at = isEscaped ? from + 1 : from;
    isEscaped = false;
    while (at < to && octets[at] !== QUOTE) at += octets[at] === BACKSLASH ? 2 : 1;
    // The octet that a backslash escapes is in the next piece.
    if (at > to) isEscaped = true;
    const end = Math.min(at, to);
    keepAll(octets, from, end);
    if (end === to) return to;
    endString();
    return end + 1;
  };
  const passOther = (octet: number): void => {
    if (octet === QUOTE) {
      if (isInBare) endBare();
      isInString = true;
      begin();
    } else if (isBare(octet)) {
      if (!isInBare) begin();
      isInBare = true;
      keep(octet);
    } else {
      if (isInBare) endBare();
      structure(octet);
    }
  };
  return {
    push: (octets, from, to) => {
      for (let at = from; at < to; ) {
        if (isInString) at = passString(octets, at, to);
        else {
          passOther(octets[at] ?? 0);
          at += 1;
        }
      }
    },
    end: () => {
      if (isInBare) endBare();
      levels.length = 0;
      deeper = 0;
      isInString = false;
      isEscaped = false;
    },
  };
};

/** Digits, letters, sign, point: what numbers and literals are written with. */
const isBare = (octet: number): boolean =>
  (octet >= 0x30 && octet <= 0x39) ||
  (octet >= 0x61 && octet <= 0x7a) ||
  (octet >= 0x41 && octet <= 0x5a) ||
  octet === 0x2d ||
  octet === 0x2b ||
  octet === 0x2e;
