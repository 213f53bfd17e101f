/** The text of a socket's peer as octets, without making a string or an array: every datagram comes here. */

/**
 * IPv4 in the first 4, IPv6 in all 16. An IPv4 address that came through an IPv6 socket counts as what it is; a zone index
 * is left out.
 *
 * @param octets takes the address; 16 long
 * @returns how many octets are the address; 0: the text is none
 */
export const readAddress = (text: string, octets: Uint8Array): 0 | 4 | 16 => {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === DOT) return readIpv4(text, 0, octets, 0) ? 4 : 0;
    if (code === COLON) return readIpv6(text, octets);
  }
  return 0;
};

const DOT = 0x2e;
const COLON = 0x3a;

const readIpv4 = (text: string, from: number, octets: Uint8Array, into: number): boolean => {
  let octet = -1;
  let dots = 0;
  for (let i = from; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code !== DOT) {
      octet = withDecimal(octet, code);
      if (octet > 255) return false;
    } else {
      if (octet < 0 || dots === 3) return false;
      octets[into + dots] = octet;
      octet = -1;
      dots += 1;
    }
  }
  octets[into + 3] = octet;
  return dots === 3 && octet >= 0;
};

/** @returns 256 or more where the character is no digit */
const withDecimal = (octet: number, code: number): number =>
  code < 0x30 || code > 0x39 ? 256 : Math.max(0, octet) * 10 + code - 0x30;

const readIpv6 = (text: string, octets: Uint8Array): 0 | 4 | 16 => {
  const zoneAt = text.indexOf("%");
  const end = zoneAt < 0 ? text.length : zoneAt;
  const gap = text.indexOf("::");
  const head = readGroups(text, 0, gap < 0 ? end : gap, octets, 0);
  if (gap < 0) return head === 16 ? unmapped(octets) : 0;
  const all = head < 0 ? -1 : readGroups(text, gap + 2, end, octets, head);
  if (all < 0 || all > 14) return 0;
  const tailAt = 16 - (all - head);
  octets.copyWithin(tailAt, head, all);
  octets.fill(0, head, tailAt);
  return unmapped(octets);
};

/** @returns how many octets there are now; -1: these are no groups, or too many */
const readGroups = (text: string, from: number, to: number, octets: Uint8Array, have: number): number => {
  let at = have;
  let i = from;
  while (i < to) {
    const end = groupEnd(text, i);
    if (text.charCodeAt(end) === DOT) return at <= 12 && readIpv4(text, i, octets, at) ? at + 4 : -1;
    const value = hexadecimal(text, i, end);
    const isLast = end === to;
    if (value < 0 || at > 14 || (!isLast && text.charCodeAt(end) !== COLON) || end + 1 === to) return -1;
    octets[at] = value >>> 8;
    octets[at + 1] = value & 0xff;
    at += 2;
    i = end + 1;
  }
  return at;
};

/** Where the digits that begin at `from` end. */
const groupEnd = (text: string, from: number): number => {
  let end = from;
  while (end < text.length && digitOf(text.charCodeAt(end)) >= 0) end += 1;
  return end;
};

/** @returns -1: not one to four digits */
const hexadecimal = (text: string, from: number, end: number): number => {
  if (end === from || end - from > 4) return -1;
  let value = 0;
  for (let i = from; i < end; i++) value = value * 16 + digitOf(text.charCodeAt(i));
  return value;
};

const digitOf = (code: number): number => {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = (code | 0x20) - 0x61;
  return letter >= 0 && letter < 6 ? letter + 10 : -1;
};

/** ::ffff:0:0/96 (RFC 4291 §2.5.5.2). */
const unmapped = (octets: Uint8Array): 4 | 16 => {
  for (let i = 0; i < 10; i++) if (octets[i] !== 0) return 16;
  if (octets[10] !== 0xff || octets[11] !== 0xff) return 16;
  octets.copyWithin(0, 12, 16);
  return 4;
};
