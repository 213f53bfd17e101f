/** EDNS (RFC 6891): the options of a query that mean something here, and the OPT record of every reply to one. */
import { type DnsQuery, readU16, writeU16 } from "./dns-query.ts";
import type { DnsReply } from "./image.ts";

/** What fits every path without fragments (RFC 9715); also the most that we send over UDP. */
export const UDP_PAYLOAD_OCTETS = 1_232;
/** RFC 1035 §2.3.4: what a client takes that does not say. */
export const PLAIN_PAYLOAD_OCTETS = 512;

const OPTION_NSID = 3;
const OPTION_CLIENT_SUBNET = 8;
const OPTION_COOKIE = 10;
const OPTION_KEEPALIVE = 11;
const OPTION_EXTENDED_ERROR = 15;
/** Name, type, class, TTL and length. */
const OPT_FIXED_OCTETS = 11;
/** Code and length. */
const OPTION_FIXED_OCTETS = 4;
/** Family, source and scope prefix length, before the address (RFC 7871 §6). */
const SUBNET_FIXED_OCTETS = 4;

/**
 * Reads an OPT record of version 0 into the register; options that mean nothing here are passed over.
 *
 * @param fixedAt where its type stands
 * @param end where its data ends, within the message
 * @returns false when an option is malformed
 */
export const readOpt = (fixedAt: number, end: number, query: DnsQuery): boolean => {
  const { octets } = query;
  query.payloadOctets = readU16(octets, fixedAt + 2);
  query.isDnssecOk = ((octets[fixedAt + 6] ?? 0) & 0x80) !== 0;
  let at = fixedAt + OPT_FIXED_OCTETS - 1;
  while (at < end) {
    const dataAt = at + OPTION_FIXED_OCTETS;
    if (dataAt > end) return false;
    const dataEnd = dataAt + readU16(octets, at + 2);
    if (dataEnd > end) return false;
    if (!readOption(readU16(octets, at), dataAt, dataEnd, query)) return false;
    at = dataEnd;
  }
  return true;
};

/** @returns false when it is malformed */
const readOption = (code: number, at: number, end: number, query: DnsQuery): boolean => {
  switch (code) {
    case OPTION_CLIENT_SUBNET:
      return readSubnet(at, end, query);
    case OPTION_COOKIE:
      return readCookie(at, end, query);
    case OPTION_NSID:
      query.asksNsid = true;
      return true;
    case OPTION_KEEPALIVE:
      // RFC 7828 §3.3.1: a client asks without a time of its own.
      query.asksKeepalive = at === end;
      return true;
    default:
      return true;
  }
};

/** RFC 7873 §5.2: a client's part of 8 octets, and behind it nothing or a server's of 8 to 32; of several the first counts. */
const readCookie = (at: number, end: number, query: DnsQuery): boolean => {
  const length = end - at;
  if (length !== 8 && (length < 16 || length > 40)) return false;
  if (query.cookieOctets > 0) return true;
  query.cookieOctets = length;
  query.cookieAt = at;
  return true;
};

/** RFC 7871 §6, by the strictest reading in the field: no octet more than the prefix needs, no bit beyond it, scope 0, once. */
const readSubnet = (at: number, end: number, query: DnsQuery): boolean => {
  const { octets } = query;
  if (query.hasSubnet || end - at < SUBNET_FIXED_OCTETS) return false;
  const family = readU16(octets, at);
  const bits = octets[at + 2] ?? 0;
  if ((family !== 1 && family !== 2) || bits > (family === 1 ? 32 : 128) || octets[at + 3] !== 0) return false;
  if (end - at - SUBNET_FIXED_OCTETS !== addressOctets(bits)) return false;
  const spareBits = (8 - (bits & 7)) & 7;
  if (((octets[end - 1] ?? 0) & ((1 << spareBits) - 1)) !== 0) return false;
  query.hasSubnet = true;
  query.subnetAt = at;
  query.subnetFamily = family === 1 ? 4 : 6;
  query.subnetBits = bits;
  return true;
};

const addressOctets = (bits: number): number => (bits + 7) >>> 3;

/** @returns octets that `writeOpt` will take; 0 where the query has no OPT, and then no reply has one (RFC 6891 §7) */
export const optOctets = (query: DnsQuery, reply: DnsReply): number => {
  if (!query.hasOpt) return 0;
  const subnetOctets = OPTION_FIXED_OCTETS + SUBNET_FIXED_OCTETS + addressOctets(query.subnetBits);
  const echoedOctets = echoesSubnet(query, reply) ? subnetOctets : 0;
  return OPT_FIXED_OCTETS + echoedOctets + (reply.image.error?.length ?? 0) + reply.extraOctets;
};

/** RFC 7871 §7.2.1: a query with a client subnet gets one, a query without never does. */
const echoesSubnet = (query: DnsQuery, reply: DnsReply): boolean => query.hasSubnet && reply.scopeBits !== null;

/** Writes our OPT record: own payload size, version 0, DO as it came, all other flags clear. @returns where it ends */
export const writeOpt = (query: DnsQuery, reply: DnsReply, start: number): number => {
  const { out, image } = reply;
  out[start] = 0;
  out[start + 1] = 0;
  out[start + 2] = 41;
  writeU16(out, start + 3, UDP_PAYLOAD_OCTETS);
  out[start + 5] = image.rcode >>> 4;
  out[start + 6] = 0;
  out[start + 7] = query.isDnssecOk ? 0x80 : 0;
  out[start + 8] = 0;
  const dataAt = start + OPT_FIXED_OCTETS;
  let at = echoesSubnet(query, reply) ? writeSubnet(query, reply, dataAt) : dataAt;
  if (image.error !== null) {
    out.set(image.error, at);
    at += image.error.length;
  }
  for (let i = 0; i < reply.extraOctets; i++) out[at + i] = reply.extra[i] ?? 0;
  at += reply.extraOctets;
  writeU16(out, dataAt - 2, at - dataAt);
  return at;
};

/** Family, source and address as they came, so that the client recognises its question (RFC 7871 §7.2.1). */
const writeSubnet = (query: DnsQuery, { out, scopeBits }: DnsReply, start: number): number => {
  const { octets, subnetAt } = query;
  const length = SUBNET_FIXED_OCTETS + addressOctets(query.subnetBits);
  writeU16(out, start, OPTION_CLIENT_SUBNET);
  writeU16(out, start + 2, length);
  const dataAt = start + OPTION_FIXED_OCTETS;
  for (let i = 0; i < length; i++) out[dataAt + i] = octets[subnetAt + i] ?? 0;
  out[dataAt + 3] = scopeBits ?? 0;
  return dataAt + length;
};

/** Extended DNS errors (RFC 8914 §4) that we give. */
export type ExtendedError = "stale-answer" | "prohibited" | "not-authoritative" | "no-reachable-authority";
const INFO_CODES: Readonly<Record<ExtendedError, number>> = {
  "stale-answer": 3,
  prohibited: 18,
  "not-authoritative": 20,
  "no-reachable-authority": 22,
};

/** The option as octets. @param text for people, without a client's data; short, since it must fit beside everything else */
export const encodeExtendedError = (error: ExtendedError, text: string): Uint8Array => {
  const words = Buffer.from(text, "utf8");
  const data = new Uint8Array(2 + words.length);
  writeU16(data, 0, INFO_CODES[error]);
  data.set(words, 2);
  return encodeOption(OPTION_EXTENDED_ERROR, data);
};

export const encodeOption = (code: number, data: Uint8Array): Uint8Array => {
  const option = new Uint8Array(OPTION_FIXED_OCTETS + data.length);
  writeU16(option, 0, code);
  writeU16(option, 2, data.length);
  option.set(data, OPTION_FIXED_OCTETS);
  return option;
};
