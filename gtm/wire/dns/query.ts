/** Reads a message: header, one question, OPT; on raw octets, without making objects. */
import { type DnsQuery, HEADER_OCTETS, readU16 } from "./dns-query.ts";
import { readOpt } from "./edns.ts";

/**
 * `cookie-query`: no question, and a cookie, which is what is asked for (RFC 7873 §5.4). `short` and `response` get no
 * reply at all: answering them would let two servers talk to each other for ever.
 */
export type Outcome = "short" | "response" | "formerr" | "notimp" | "badvers" | "query" | "cookie-query";

const LONGEST_NAME = 255;
const OPT = 41;
/** Type, class, TTL and length of the data that follow a record's name. */
const RECORD_FIXED_OCTETS = 10;

/** Fills the register and says what to answer. Never throws, whatever the octets; time is linear in their number. */
export const readQuery = (octets: Uint8Array, query: DnsQuery): Outcome => {
  query.octets = octets;
  query.hasQuestion = false;
  query.hasOpt = false;
  query.hasSubnet = false;
  query.isDnssecOk = false;
  query.cookieOctets = 0;
  query.asksNsid = false;
  query.asksKeepalive = false;
  query.payloadOctets = 0;
  if (octets.length < HEADER_OCTETS) return "short";
  const flags = octets[2] ?? 0;
  if ((flags & 0x80) !== 0) return "response";
  if ((flags & 0x78) !== 0) return "notimp";
  const questions = readU16(octets, 4);
  if (questions === 0) return readWithoutQuestion(octets, query);
  // RFC 9619: more than one question is a format error. AA, TC, RA, AD, CD and Z of a query mean nothing to us.
  if (questions !== 1 || !readQuestion(octets, query)) return "formerr";
  return readRecords(octets, query.questionEnd, query);
};

const readWithoutQuestion = (octets: Uint8Array, query: DnsQuery): Outcome => {
  const outcome = readRecords(octets, HEADER_OCTETS, query);
  if (outcome !== "query") return outcome;
  return query.cookieOctets > 0 ? "cookie-query" : "formerr";
};

const readQuestion = (octets: Uint8Array, query: DnsQuery): boolean => {
  let at = HEADER_OCTETS;
  let length = octets[at] ?? 0;
  while (length !== 0) {
    // Nothing precedes the question that a pointer could point to, and 0x40 and 0x80 name no kind of label.
    if (length > 63) return false;
    at += length + 1;
    if (at >= octets.length || at - HEADER_OCTETS >= LONGEST_NAME) return false;
    length = octets[at] ?? 0;
  }
  const nameEnd = at + 1;
  if (nameEnd + 4 > octets.length) return false;
  query.hasQuestion = true;
  query.nameEnd = nameEnd;
  query.questionEnd = nameEnd + 4;
  query.type = readU16(octets, nameEnd);
  query.class = readU16(octets, nameEnd + 2);
  return true;
};

/** Looks for OPT among the records behind the question; what else stands there is passed over, trailing octets too. */
const readRecords = (octets: Uint8Array, start: number, query: DnsQuery): Outcome => {
  const beforeAdditional = readU16(octets, 6) + readU16(octets, 8);
  const records = beforeAdditional + readU16(octets, 10);
  let at = start;
  let outcome: Outcome = "query";
  for (let i = 0; i < records; i++) {
    const fixedAt = skipName(octets, at);
    const dataAt = fixedAt + RECORD_FIXED_OCTETS;
    if (fixedAt === 0 || dataAt > octets.length) return "formerr";
    const end = dataAt + readU16(octets, dataAt - 2);
    if (end > octets.length) return "formerr";
    if (readU16(octets, fixedAt) === OPT) {
      // RFC 6891 §6.1.1 and §6.1.2: one, in the additional section, owned by the root.
      if (query.hasOpt || i < beforeAdditional || fixedAt !== at + 1) return "formerr";
      outcome = readVersion(fixedAt, end, query);
      if (outcome === "formerr") return outcome;
    }
    at = end;
  }
  return outcome;
};

/** Options of a version that we do not know may be anything. */
const readVersion = (fixedAt: number, end: number, query: DnsQuery): Outcome => {
  query.hasOpt = true;
  if (query.octets[fixedAt + 5] !== 0) return "badvers";
  return readOpt(fixedAt, end, query) ? "query" : "formerr";
};

/** @returns where the name that begins at `start` ends; 0: it is malformed */
const skipName = (octets: Uint8Array, start: number): number => {
  let at = start;
  while (at < octets.length) {
    const length = octets[at] ?? 0;
    if (length === 0) return at + 1;
    if (length >= 0xc0) return at + 2;
    if (length > 63) return 0;
    at += length + 1;
  }
  return 0;
};
