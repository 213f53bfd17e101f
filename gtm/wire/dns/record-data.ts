/**
 * The data of records as octets, off the hot path. The only door to dns2 in the server: it encodes A, AAAA, NS, SOA and TXT,
 * each behind a check for what it gets wrong; what it has no encoder for is written here.
 */
import { Packet } from "dns2";
import type { RecordValue } from "#gtm/domain/zone-record.ts";
import { writeU16 } from "./dns-query.ts";
import { encodeName } from "./name.ts";
import { CLASS, TYPE } from "./record-type.ts";
import { encodeService, type Service } from "./service.ts";

export type RecordData =
  | RecordValue
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
  | { readonly type: "HINFO"; readonly cpu: string; readonly os: string }
  | { readonly type: "HTTPS"; readonly service: Service };

export const encodeData = (data: RecordData): Buffer => {
  switch (data.type) {
    case "A":
    case "AAAA":
      return encodeAddress(data.address);
    case "NS":
      return data.host.includes("\\") ? encodeName(data.host) : byDns2(TYPE.NS, { ns: data.host });
    case "CNAME":
      return encodeName(data.target);
    case "SOA":
      return encodeSoa(data);
    case "TXT":
      return byDns2(TYPE.TXT, { data: data.texts.flatMap(inPieces) });
    case "MX":
      return Buffer.concat([u16(data.preference), encodeName(data.exchange)]);
    case "CAA":
      // RFC 8659 §4.1: the value fills what is left.
      return Buffer.concat([Buffer.from([data.flags]), counted(data.tag), Buffer.from(data.value, "latin1")]);
    case "SRV":
      // RFC 2782: the target is never compressed.
      return Buffer.concat([u16(data.priority, data.weight, data.port), encodeName(data.target)]);
    case "HINFO":
      return Buffer.concat([counted(data.cpu), counted(data.os)]);
    case "HTTPS":
      return encodeService(data.service, encodeAddress);
  }
};

const u16 = (...values: readonly number[]): Buffer => {
  const octets = Buffer.alloc(values.length * 2);
  for (const [i, value] of values.entries()) writeU16(octets, i * 2, value);
  return octets;
};

/** With its length in an octet in front. */
const counted = (text: string): Buffer => Buffer.from([text.length, ...Buffer.from(text, "latin1")]);

const encodeAddress = (address: string): Buffer =>
  address.includes(":") ? byDns2(TYPE.AAAA, { address: withoutDottedTail(address) }) : byDns2(TYPE.A, { address });

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

/** dns2 writes the length of a text over 255 octets into one octet; readers join the pieces again (RFC 7208 §3.3). */
const LONGEST_TEXT = 255;
const inPieces = (text: string): Buffer[] => {
  const octets = Buffer.from(text, "utf8");
  const pieces = [octets.subarray(0, LONGEST_TEXT)];
  for (let at = LONGEST_TEXT; at < octets.length; at += LONGEST_TEXT)
    pieces.push(octets.subarray(at, at + LONGEST_TEXT));
  return pieces;
};
