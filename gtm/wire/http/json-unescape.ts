/** Undoes the escapes of a JSON string while its parts pass by, so that two ways to write one text give the same octets. */

/** Where an escape was cut by a part's end. */
export type Unescaping = {
  /** 0: in no escape; 1: behind its backslash; 2 to 5: at its first to fourth digit. */
  stage: number;
  /** Of the digits so far. */
  code: number;
  /** A high surrogate that waits for its other half; 0: none. */
  high: number;
};

export const newUnescaping = (): Unescaping => ({ stage: 0, code: 0, high: 0 });

/** A text of so many octets as they are written has at most so many more when its escapes are undone. */
export const MOST_ADDED_OCTETS = 8;

const BACKSLASH = 0x5c;
const LOWER_U = 0x75;
const REPLACEMENT = 0xfffd;
const SHORT: ReadonlyMap<number, number> = new Map(
  Object.entries({ b: 0x08, f: 0x0c, n: 0x0a, r: 0x0d, t: 0x09 }).map(([letter, code]) => [letter.charCodeAt(0), code]),
);

/**
 * @param out has room for `end - from + MOST_ADDED_OCTETS` octets behind `at`
 * @returns where the text ends in `out`; UTF-8, halves of letters as U+FFFD; what is no JSON stays something, always the same
 */
export const unescapeInto = (
  state: Unescaping,
  chunk: Buffer,
  from: number,
  end: number,
  out: Buffer,
  at: number,
): number => {
  let to = at;
  let next = from;
  while (next < end) {
    const octet = chunk[next] ?? 0;
    next += 1;
    if (state.stage !== 0) to = inEscape(state, octet, out, to);
    else if (octet === BACKSLASH) state.stage = 1;
    else {
      if (state.high !== 0) to = putLone(state, out, to);
      out[to++] = octet;
    }
  }
  return to;
};

/** The string's end: what was cut off stays cut off. @returns as unescapeInto */
export const endUnescape = (state: Unescaping, out: Buffer, at: number): number => {
  const to = state.high === 0 ? at : putLone(state, out, at);
  state.stage = 0;
  return to;
};

const inEscape = (state: Unescaping, octet: number, out: Buffer, at: number): number => {
  if (state.stage === 1) {
    if (octet === LOWER_U) {
      state.stage = 2;
      state.code = 0;
      return at;
    }
    state.stage = 0;
    const to = state.high === 0 ? at : putLone(state, out, at);
    return putCode(SHORT.get(octet) ?? octet, out, to);
  }
  state.code = state.code * 16 + digitOf(octet);
  if (state.stage < 5) {
    state.stage += 1;
    return at;
  }
  state.stage = 0;
  return putUnit(state, state.code, out, at);
};

/** A UTF-16 unit: a letter, or half of one. */
const putUnit = (state: Unescaping, unit: number, out: Buffer, at: number): number => {
  if (state.high !== 0 && unit >= 0xdc00 && unit <= 0xdfff) {
    const code = 0x10000 + ((state.high - 0xd800) << 10) + (unit - 0xdc00);
    state.high = 0;
    return putCode(code, out, at);
  }
  const to = state.high === 0 ? at : putLone(state, out, at);
  if (unit >= 0xd800 && unit <= 0xdbff) {
    state.high = unit;
    return to;
  }
  return putCode(unit >= 0xdc00 && unit <= 0xdfff ? REPLACEMENT : unit, out, to);
};

const putLone = (state: Unescaping, out: Buffer, at: number): number => {
  state.high = 0;
  return putCode(REPLACEMENT, out, at);
};

/** RFC 3629 §3. */
const putCode = (code: number, out: Buffer, at: number): number => {
  let to = at;
  if (code < 0x80) out[to++] = code;
  else if (code < 0x800) {
    out[to++] = 0xc0 | (code >> 6);
    out[to++] = 0x80 | (code & 0x3f);
  } else if (code < 0x10000) {
    out[to++] = 0xe0 | (code >> 12);
    out[to++] = 0x80 | ((code >> 6) & 0x3f);
    out[to++] = 0x80 | (code & 0x3f);
  } else {
    out[to++] = 0xf0 | (code >> 18);
    out[to++] = 0x80 | ((code >> 12) & 0x3f);
    out[to++] = 0x80 | ((code >> 6) & 0x3f);
    out[to++] = 0x80 | (code & 0x3f);
  }
  return to;
};

const digitOf = (octet: number): number => {
  if (octet >= 0x30 && octet <= 0x39) return octet - 0x30;
  const letter = octet | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : 0;
};
