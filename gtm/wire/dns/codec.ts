/** Records to images, off the hot path. */
import { HEADER_OCTETS, writeU16 } from "./dns-query.ts";
import type { Image } from "./image.ts";
import { encodeName } from "./name.ts";
import { encodeData, type RecordData } from "./record-data.ts";
import { CLASS, TYPE } from "./record-type.ts";

export type DnsRecord = {
  /** The name that was asked for, one that it ends with, or another name, written in full. */
  readonly owner: "question" | { readonly suffix: string } | { readonly name: string };
  readonly ttlSeconds: number;
  readonly data: RecordData;
};

export type Sections = Pick<Image, "rcode" | "isAuthoritative" | "error"> & {
  readonly answers: readonly DnsRecord[];
  readonly authority: readonly DnsRecord[];
  /** Owners are the question or names in full. */
  readonly additional: readonly DnsRecord[];
};

export const encodeImage = (sections: Sections): Image => {
  const { rcode, isAuthoritative, error, answers, authority, additional } = sections;
  const required = [...answers, ...authority].map(encodeRecord);
  const requiredOctets = required.reduce((sum, one) => sum + one.length, 0);
  const suffixPointersAt: number[] = [];
  let at = 0;
  for (const [i, record] of [...answers, ...authority].entries()) {
    if (typeof record.owner === "object" && "suffix" in record.owner) suffixPointersAt.push(at);
    at += required[i]?.length ?? 0;
  }
  return {
    rcode,
    isAuthoritative,
    answerCount: answers.length,
    authorityCount: authority.length,
    additionalCount: additional.length,
    octets: new Uint8Array(Buffer.concat([...required, ...additional.map(encodeRecord)])),
    requiredOctets,
    suffixPointersAt,
    error,
  };
};

/** An answer without records: a code, and perhaps an extended error. */
export const emptyImage = (rcode: number, isAuthoritative: boolean, error: Uint8Array | null = null): Image =>
  encodeImage({ rcode, isAuthoritative, error, answers: [], authority: [], additional: [] });

/** RFC 2181 §8: 0 to 2³¹−1. */
const LONGEST_TTL = 0x7fffffff;

const encodeRecord = ({ owner, ttlSeconds, data }: DnsRecord): Buffer => {
  const fixed = Buffer.alloc(10);
  const rdata = encodeData(data);
  fixed.writeUInt16BE(TYPE[data.type], 0);
  fixed.writeUInt16BE(CLASS.IN, 2);
  fixed.writeUInt32BE(Math.min(Math.max(0, Math.round(ttlSeconds)), LONGEST_TTL), 4);
  fixed.writeUInt16BE(rdata.length, 8);
  return Buffer.concat([encodeOwner(owner), fixed, rdata]);
};

const encodeOwner = (owner: DnsRecord["owner"]): Uint8Array => {
  if (owner === "question") return Uint8Array.of(0xc0, HEADER_OCTETS);
  if ("name" in owner) return encodeName(owner.name);
  const length = new Uint8Array(2);
  writeU16(length, 0, encodeName(owner.suffix).length);
  return length;
};
