/**
 * Queries to octets and replies from octets. The client's door to dns2, whose message codec is used and whose clients are not:
 * they send OPT with a client subnet only, of IPv4 only, in version 0 and with no other option; over TCP they know neither
 * a deadline nor IPv6; and what a reply's OPT holds beside a subnet they drop. OPT is therefore written and read here.
 */
import { Packet } from "dns2";
import { encodeOpt, type OptReply, type OptWish, readOpt } from "./opt.ts";
import { canonicalAddress } from "./server-address.ts";

const QUERY_TYPE = { A: 1, NS: 2, CNAME: 5, SOA: 6, MX: 15, TXT: 16, AAAA: 28, SRV: 33, HTTPS: 65, CAA: 257 } as const;
export type QueryType = keyof typeof QUERY_TYPE;

export type Query = {
  /** Without the dot at the end. */
  readonly name: string;
  readonly type: QueryType;
  /** null: the query is made without EDNS. */
  readonly opt: OptWish | null;
};

export type ReplyRecord = {
  /** Lower case, without the dot at the end. */
  readonly name: string;
  /** Such as "A"; "TYPE65" where there is no name for it. */
  readonly type: string;
  readonly ttlSeconds: number;
  /** As in a zone file, names without the dot at the end. */
  readonly data: string;
};

export type Reply = {
  /** 12 bits where there is an OPT. */
  readonly rcode: number;
  readonly isAuthoritative: boolean;
  readonly isTruncated: boolean;
  readonly answers: readonly ReplyRecord[];
  readonly authority: readonly ReplyRecord[];
  readonly additional: readonly ReplyRecord[];
  readonly opt: OptReply | null;
};

/** Nothing is asked for recursively: what others remember is not what these servers say. */
export const encodeQuery = ({ name, type, opt }: Query, id: number): Buffer => {
  const packet = new Packet(new Packet.Header({ id }));
  packet.questions.push(new Packet.Question(name, QUERY_TYPE[type], Packet.CLASS.IN));
  const plain = packet.toBuffer();
  if (opt === null) return plain;
  plain.writeUInt16BE(1, ARCOUNT_AT);
  return Buffer.concat([plain, encodeOpt(opt)]);
};

const ARCOUNT_AT = 10;

type Resource = ReturnType<typeof Packet.Resource.parse>;

/** Thirteen name servers with addresses are under 1 200 octets; dns2 needs seconds for 64 KB of pointers. */
const LARGEST_REPLY = 8_192;

/**
 * @returns null when it is not the reply to this query, such as a late one to another
 * @throws {Error} when it is, and cannot be read
 */
export const decodeReply = (octets: Buffer, query: Query, id: number): Reply | null => {
  if (octets.length > LARGEST_REPLY) throw new Error(`it has ${octets.length} octets, more than ${LARGEST_REPLY}`);
  const packet = Packet.parse(octets);
  const { header, questions } = packet;
  if (header.qr !== 1 || header.id !== id) return null;
  const [question] = questions;
  // A server that cannot read a query repeats no question.
  if (question !== undefined && question.name.toLowerCase() !== query.name.toLowerCase()) return null;
  const [fault] = packet.errors;
  if (fault !== undefined) throw fault;
  const opt = readOpt(octets);
  const isRecord = ({ type }: Resource): boolean => type !== Packet.TYPE.EDNS;
  return {
    rcode: (header.rcode & 0x0f) | ((opt?.extendedRcode ?? 0) << 4),
    isAuthoritative: header.aa === 1,
    isTruncated: header.tc === 1,
    answers: packet.answers.map(recordOf),
    authority: packet.authorities.map(recordOf),
    additional: packet.additionals.filter(isRecord).map(recordOf),
    opt,
  };
};

const recordOf = (resource: Resource): ReplyRecord => ({
  name: resource.name.toLowerCase(),
  type: typeText(resource.type),
  ttlSeconds: resource.ttl,
  data: dataText(resource),
});

const NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries({ ...Packet.TYPE, ...QUERY_TYPE }).map(([name, code]) => [code, name]),
);

const typeText = (type: number): string => NAMES.get(type) ?? `TYPE${type}`;

const dataText = (resource: Resource): string => {
  switch (resource.type) {
    case Packet.TYPE.A:
    case Packet.TYPE.AAAA:
      return canonicalAddress(resource.address ?? "");
    case Packet.TYPE.NS:
      return (resource.ns ?? "").toLowerCase();
    case Packet.TYPE.CNAME:
      return (resource.domain ?? "").toLowerCase();
    case Packet.TYPE.SOA: {
      const { primary, admin, serial, refresh, retry, expiration, minimum } = resource;
      return [primary, admin, serial, refresh, retry, expiration, minimum].join(" ");
    }
    case Packet.TYPE.MX:
      return `${resource.priority} ${(resource.exchange ?? "").toLowerCase()}`;
    case Packet.TYPE.SRV:
      return [resource.priority, resource.weight, resource.port, (resource.target ?? "").toLowerCase()].join(" ");
    case Packet.TYPE.CAA:
      return `${resource.flags} ${resource.tag} ${JSON.stringify(resource.value)}`;
    default:
      return otherText(resource.data);
  }
};

/** RFC 3597 §5, where there is no other way to write it. */
const otherText = (data: Resource["data"]): string => {
  if (Buffer.isBuffer(data)) return `\\# ${data.length} ${data.toString("hex")}`;
  return [data ?? ""].flat().join("");
};

const RCODES = ["NOERROR", "FORMERR", "SERVFAIL", "NXDOMAIN", "NOTIMP", "REFUSED"] as const;

export const rcodeText = (rcode: number): string =>
  rcode === BADVERS ? "BADVERS" : (RCODES[rcode] ?? `rcode ${rcode}`);

export const NOERROR = 0;
export const FORMERR = 1;
export const NXDOMAIN = 3;
/** RFC 6891 §9. */
export const BADVERS = 16;
