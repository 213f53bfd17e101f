/** Puts a reply together: header, question as it came, image, OPT; cut to what the client takes. */
import { type DnsQuery, HEADER_OCTETS, readU16, writeU16 } from "./dns-query.ts";
import { optOctets, writeOpt } from "./edns.ts";
import type { DnsReply } from "./image.ts";

const QR = 0x80;
const AA = 0x04;
const TC = 0x02;
const OPCODE_AND_RD = 0x79;
const POINTER = 0xc000;

/**
 * @param reply `out` holds at least `mostOctets`, which is 512 or more: header, question and OPT always fit
 * @returns the reply's length
 */
export const writeReply = (query: DnsQuery, reply: DnsReply): number => {
  const { out, image, mostOctets } = reply;
  const bodyAt = writeQuestion(query, out);
  const roomOctets = mostOctets - bodyAt - optOctets(query, reply);
  const isWhole = image.octets.length <= roomOctets;
  // RFC 2181 §9: what was required and did not fit is told by TC; the additional section is nobody's due.
  const isTruncated = image.requiredOctets > roomOctets;
  const bodyOctets = isWhole ? image.octets.length : isTruncated ? 0 : image.requiredOctets;
  writeHeader(query, reply, isTruncated);
  writeU16(out, 6, isTruncated ? 0 : image.answerCount);
  writeU16(out, 8, isTruncated ? 0 : image.authorityCount);
  writeU16(out, 10, (isWhole ? image.additionalCount : 0) + (query.hasOpt ? 1 : 0));
  for (let i = 0; i < bodyOctets; i++) out[bodyAt + i] = image.octets[i] ?? 0;
  if (bodyOctets > 0) writeSuffixPointers(query, reply, bodyAt);
  const end = bodyAt + bodyOctets;
  return query.hasOpt ? writeOpt(query, reply, end) : end;
};

const writeHeader = ({ octets }: DnsQuery, { out, image }: DnsReply, isTruncated: boolean): void => {
  out[0] = octets[0] ?? 0;
  out[1] = octets[1] ?? 0;
  // RA, Z, AD and CD stay clear: we neither recurse nor validate.
  const flags = ((octets[2] ?? 0) & OPCODE_AND_RD) | QR | (image.isAuthoritative ? AA : 0);
  out[2] = flags | (isTruncated ? TC : 0);
  out[3] = image.rcode & 0x0f;
};

/** Octet by octet as it came: resolvers compare the case they sent (draft-vixie-dnsext-dns0x20). @returns where it ends */
const writeQuestion = (query: DnsQuery, out: Uint8Array): number => {
  writeU16(out, 4, query.hasQuestion ? 1 : 0);
  if (!query.hasQuestion) return HEADER_OCTETS;
  const { octets, questionEnd } = query;
  for (let at = HEADER_OCTETS; at < questionEnd; at++) out[at] = octets[at] ?? 0;
  return questionEnd;
};

const writeSuffixPointers = (query: DnsQuery, { out, image }: DnsReply, bodyAt: number): void => {
  for (const at of image.suffixPointersAt) {
    writeU16(out, bodyAt + at, POINTER | (query.nameEnd - readU16(image.octets, at)));
  }
};
