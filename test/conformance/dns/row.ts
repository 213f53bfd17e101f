/** One row of the checklist, and what rows look at in a reply. */
import assert from "node:assert/strict";
import type { Answer } from "dns-packet";
import type { QueryWish, Reply } from "#test/support/dns-client.ts";
import { subnetOption } from "#test/support/dns-client.ts";
import { ZONE } from "#test/support/dns-zone.ts";

export type Over = "udp" | "tcp";
export type Row = {
  /** P-number of the design's checklist, or the paragraph of the RFC. */
  readonly row: string;
  readonly what: string;
  readonly query: QueryWish;
  /** Both where absent. */
  readonly over?: readonly Over[];
  /** Where absent the usual one. */
  readonly of?: ServerKind;
  readonly expect: (reply: Reply, query: Buffer) => void;
};

/** What takes more than a query and its reply; it starts what it needs. */
export type Sequence = { readonly row: string; readonly what: string; readonly run: () => Promise<void> };

/** All regions are down, or it has an NSID. */
export type ServerKind = "usual" | "withdrawn" | "named";

export const Z = ZONE.name;
/** Record types by number, so that no table of ours is asked. */
export const A = 1;
export const NS = 2;
export const CNAME = 5;
export const SOA = 6;
export const MX = 15;
export const TXT = 16;
export const AAAA = 28;
export const SRV = 33;
export const DS = 43;
export const HTTPS = 65;
export const ANY = 255;
export const CAA = 257;
/** Options of OPT, likewise. */
export const OPTION = { nsid: 3, subnet: 8, expire: 9, cookie: 10, keepalive: 11, unknown: 100 } as const;
/** OPT with the subnet that the test zone places in Frankfurt. */
export const FRANKFURT = { options: subnetOption(1, 24, [192, 0, 2]) };

export const flagsOf = ({ octets }: Reply) => {
  const high = octets[2] ?? 0;
  const low = octets[3] ?? 0;
  return {
    qr: high >>> 7,
    opcode: (high >>> 3) & 15,
    aa: (high >>> 2) & 1,
    tc: (high >>> 1) & 1,
    rd: high & 1,
    /** RA, Z, AD, CD. */
    low: low >>> 4,
  };
};
export const countsOf = ({ octets }: Reply): readonly number[] => [4, 6, 8, 10].map((at) => octets.readUInt16BE(at));

/** A section's records as owner, type and data, OPT left out; of SOA no data, of a text its strings with | between. */
export const sectionOf = (records: readonly Answer[] = []): readonly string[] =>
  records.filter(({ type }) => type !== "OPT").map((one) => [one.name, one.type, ...dataWords(one)].join(" "));

const dataWords = (record: Answer): readonly (string | number)[] => {
  switch (record.type) {
    case "SOA":
      return [];
    case "TXT":
      return [(Array.isArray(record.data) ? record.data : [record.data]).map(String).join("|")];
    case "MX":
      return [record.data.preference ?? 0, record.data.exchange];
    case "CAA":
      return [record.data.flags ?? 0, record.data.tag, record.data.value];
    case "SRV":
      return [record.data.priority ?? 0, record.data.weight ?? 0, record.data.port, record.data.target];
    default:
      return ["data" in record ? String(record.data) : ""];
  }
};

/** Answer and authority, as texts, of a reply with AA. */
export const holds =
  (rcode: number, answers: readonly string[], authority: readonly string[]) =>
  (reply: Reply): void => {
    assert.deepEqual([reply.rcode, flagsOf(reply).aa], [rcode, 1]);
    assert.deepEqual([sectionOf(reply.packet.answers), sectionOf(reply.packet.authorities)], [answers, authority]);
  };

export const isAnswer =
  (...data: readonly string[]) =>
  (reply: Reply): void => {
    assert.equal(reply.rcode, 0);
    assert.equal(flagsOf(reply).aa, 1);
    assert.deepEqual(reply.data, data);
  };
export const isNegative =
  (rcode: number) =>
  (reply: Reply): void => {
    assert.equal(reply.rcode, rcode);
    assert.equal(flagsOf(reply).aa, 1);
    assert.deepEqual(countsOf(reply).slice(0, 3), [1, 0, 1]);
    assert.equal(reply.soa?.name, Z);
    assert.equal(reply.soa?.ttl, 30, "the lesser of the SOA's TTL and its minimum");
  };
export const isNodata = isNegative(0);
export const isNxdomain = isNegative(3);
export const hasRcode =
  (rcode: number) =>
  (reply: Reply): void => {
    assert.equal(reply.rcode, rcode);
    assert.deepEqual(countsOf(reply).slice(1, 3), [0, 0], "neither answer nor authority");
    assert.equal(flagsOf(reply).aa, 0);
  };
export const FORMERR = hasRcode(1);
export const REFUSED = hasRcode(5);

export const hasScope =
  (scope: number | null) =>
  (reply: Reply): void =>
    assert.equal(reply.scope, scope);
export const both =
  (...checks: readonly ((reply: Reply) => void)[]) =>
  (reply: Reply): void => {
    for (const check of checks) check(reply);
  };
export const withOptions = (options: Buffer, wish: QueryWish = {}): QueryWish => ({ opt: { options }, ...wish });

export const hasOpt = (reply: Reply): void => {
  assert.equal(reply.opt?.ednsVersion, 0);
  assert.equal(reply.opt?.udpPayloadSize, 1_232);
};
export const isTruncated = (reply: Reply): void => {
  assert.equal(reply.rcode, 0);
  assert.equal(flagsOf(reply).tc, 1);
  assert.deepEqual(countsOf(reply).slice(1, 3), [0, 0]);
};
export const optionCodes = (reply: Reply): readonly number[] =>
  (reply.opt?.options ?? []).map((one) => Number(one.code));
/** Data of a reply's first option of this code; null: there is none. */
export const optionOf = (reply: Reply, code: number): Buffer | null =>
  (reply.opt?.options ?? []).find((one) => Number(one.code) === code)?.data ?? null;
export const hasNo =
  (code: number) =>
  (reply: Reply): void =>
    assert.ok(!optionCodes(reply).includes(code));
/** Of the server that has one. */
export const hasNsid = (reply: Reply): void => assert.equal(optionOf(reply, OPTION.nsid)?.toString(), "gtm-7");
