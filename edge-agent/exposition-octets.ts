/** A page's octets looked at without making text of them: where lines end, how they begin, which numbers stand there. */
import { numberOf } from "./exposition-line.ts";

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const TAB = 0x09;
const BRACE_OPEN = 0x7b;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;

/** @returns where the line feed stands; −1: the page ends before */
export const lineEnd = (octets: Uint8Array, at: number): number => octets.indexOf(LINE_FEED, at);

export const startsWith = (octets: Uint8Array, at: number, beginning: Uint8Array): boolean =>
  isSame(octets, at, beginning, 0, beginning.length);

/** Whether so many octets from `at` on are those of `other` from `from` on. */
export const isSame = (octets: Uint8Array, at: number, other: Uint8Array, from: number, length: number): boolean => {
  if (at + length > octets.length) return false;
  for (let next = 0; next < length; next += 1) if (octets[at + next] !== other[from + next]) return false;
  return true;
};

/** The word that begins there as readLine reads a value. @returns null where it is no number */
export const numberAt = (octets: Buffer, at: number): number | null => {
  let end = at;
  while (!isWordEnd(octets[end])) end += 1;
  return plainNumber(octets, at, end) ?? numberOf(octets.toString("latin1", at, end));
};

/** Characters of which a double holds every integer. */
const MOST_DIGITS = 15;
const POWERS = Array.from({ length: MOST_DIGITS }, (_, exponent) => 10 ** exponent);

/** Digits with a point or without; an integer below 10¹⁵ over a power of ten is exact on both sides, and the quotient the nearest double. */
const plainNumber = (octets: Buffer, at: number, end: number): number | null => {
  if (end === at || end - at > MOST_DIGITS) return null;
  let whole = 0;
  let point = -1;
  for (let next = at; next < end; next += 1) {
    const octet = octets[next] ?? 0;
    if (octet >= ZERO && octet <= NINE) whole = whole * 10 + (octet - ZERO);
    else if (octet === POINT && point === -1) point = next;
    else return null;
  }
  if (point === -1) return whole;
  return end - at === 1 ? null : whole / (POWERS[end - point - 1] ?? 1);
};

const isWordEnd = (octet: number | undefined): boolean =>
  octet === undefined ||
  octet === LINE_FEED ||
  octet === SPACE ||
  octet === CARRIAGE_RETURN ||
  octet === TAB ||
  octet === BRACE_OPEN;
