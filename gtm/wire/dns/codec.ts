/**
 * Records to octets, off the hot path. The only door to dns2 in the server: it encodes the data of A, AAAA, NS, SOA and TXT
 * records, each behind a check for what it gets wrong; what it has no encoder for is written here.
 */
import { Packet } from "dns2";
import { HEADER_OCTETS, writeU16 } from "./dns-query.ts";
import type { Image } from "./image.ts";
import { encodeName } from "./name.ts";
import { CLASS, TYPE } from "./record-type.ts";

export type RecordData =
  | { readonly type: "A" | "AAAA"; readonly address: string }
  | { readonly type: "NS"; readonly host: string }
  | {
      readonly type: "SOA";
      readonly mname: string;
      readonly rname: string;
      readonly serial: number;
      readonly refreshSeconds: number;
      readonly retrySeconds: number;
      readonly expireSeconds: number;
      readonly minimumSeconds: number;
    }
  /** Longer texts are split, as readers join them again (RFC 7208 §3.3). */
  | { readonly type: "TXT"; readonly texts: readonly string[] }
  | { readonly type: "HINFO"; readonly cpu: string; readonly os: string };

export type DnsRecord = {
  /** The name that was asked for, the top of the zone that it lies in, or another name, written in full. */
  readonly owner: "question" | { readonly apex: string } | { readonly name: string };
  readonly ttlSeconds: number;
  readonly data: RecordData;
};

export type Sections = Pick<Image, "rcode" | "isAuthoritative" | "error"> & {
  readonly answers: readonly DnsRecord[];
  readonly authority: readonly DnsRecord[];
  readonly additional: readonly DnsRecord[];
};

export const encodeImage = (sections: Sections): Image => {
  const { rcode, isAuthoritative, error, answers, authority, additional } = sections;
  const required = [...answers, ...authority].map(encodeRecord);
  const requiredOctets = required.reduce((sum, one) => sum + one.length, 0);
  const apexPointersAt: number[] = [];
  let at = 0;
  for (const [i, record] of [...answers, ...authority].entries()) {
    if (typeof record.owner === "object" && "apex" in record.owner) apexPointersAt.push(at);
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
    apexPointersAt,
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
  writeU16(length, 0, encodeName(owner.apex).length);
  return length;
};

const encodeData = (data: RecordData): Buffer => {
  switch (data.type) {
    case "A":
      return byDns2(TYPE.A, { address: data.address });
    case "AAAA":
      return byDns2(TYPE.AAAA, { address: withoutDottedTail(data.address) });
    case "NS":
      return data.host.includes("\\") ? encodeName(data.host) : byDns2(TYPE.NS, { ns: data.host });
    case "SOA":
      return encodeSoa(data);
    case "TXT":
      return byDns2(TYPE.TXT, { data: data.texts.flatMap(inPieces) });
    case "HINFO":
      return Buffer.concat(
        [data.cpu, data.os].map((text) => Buffer.from([text.length, ...Buffer.from(text, "latin1")])),
      );
  }
};

/** dns2 writes whole records; with the root as owner the data begin behind a fixed number of octets. */
const byDns2 = (type: number, fields: object): Buffer => {
  const record = new Packet.Resource({ name: "", type, class: CLASS.IN, ttl: 0, ...fields });
  return Packet.Resource.encode(record).subarray(11);
};

/** dns2 takes an IPv4 tail for one group and writes 14 octets; a zone index it takes for digits. */
const withoutDottedTail = (address: string): string => {
  if (address.includes("%")) throw new Error(`"${address}" has a zone index, which means nothing to others`);
  return address.replace(
    /(\d+)\.(\d+)\.(\d+)\.(\d+)$/,
    (_, a, b, c, d) => `${(Number(a) * 256 + Number(b)).toString(16)}:${(Number(c) * 256 + Number(d)).toString(16)}`,
  );
};

/** dns2 splits a label that holds an escaped dot, as mailboxes do. */
const encodeSoa = (soa: Extract<RecordData, { type: "SOA" }>): Buffer => {
  const { mname, rname, serial, refreshSeconds, retrySeconds, expireSeconds, minimumSeconds } = soa;
  if (!`${mname}${rname}`.includes("\\")) {
    return byDns2(TYPE.SOA, {
      primary: mname,
      admin: rname,
      serial,
      refresh: refreshSeconds,
      retry: retrySeconds,
      expiration: expireSeconds,
      minimum: minimumSeconds,
    });
  }
  const numbers = Buffer.alloc(20);
  for (const [i, value] of [serial, refreshSeconds, retrySeconds, expireSeconds, minimumSeconds].entries()) {
    numbers.writeUInt32BE(value, i * 4);
  }
  return Buffer.concat([encodeName(mname), encodeName(rname), numbers]);
};

/** dns2 writes the length of a text over 255 octets into one octet. */
const LONGEST_TEXT = 255;
const inPieces = (text: string): Buffer[] => {
  const octets = Buffer.from(text, "utf8");
  const pieces = [octets.subarray(0, LONGEST_TEXT)];
  for (let at = LONGEST_TEXT; at < octets.length; at += LONGEST_TEXT)
    pieces.push(octets.subarray(at, at + LONGEST_TEXT));
  return pieces;
};
