/** Rows P23 and P24: what is given to other servers. */
import assert from "node:assert/strict";
import type { Reply } from "#test/support/dns-client.ts";
import {
  ANY,
  countsOf,
  DS,
  FRANKFURT,
  flagsOf,
  hasScope,
  isNodata,
  NS,
  type Row,
  SOA,
  sectionOf,
  TXT,
  Z,
} from "./row.ts";

const NAME_SERVERS = [`sub.${Z} NS ns1.sub.${Z}`, `sub.${Z} NS ns.example.net`];
const GLUE = [`ns1.sub.${Z} A 198.51.100.53`, `ns1.sub.${Z} AAAA 2001:db8::53`];
const isReferral = (reply: Reply): void => {
  assert.deepEqual([reply.rcode, flagsOf(reply).aa, countsOf(reply)[1]], [0, 0, 0]);
  assert.deepEqual(sectionOf(reply.packet.authorities), NAME_SERVERS);
  assert.deepEqual(sectionOf(reply.packet.additionals), GLUE);
};

export const DELEGATION: readonly Row[] = [
  ...[`www.sub.${Z}`, `a.b.c.sub.${Z}`, `sub.${Z}`, `ns1.sub.${Z}`].map(
    (name): Row => ({
      row: "P23",
      what: `${name} is referred to its servers, with glue`,
      query: { name },
      expect: isReferral,
    }),
  ),
  ...[NS, SOA, TXT, ANY].map(
    (type): Row => ({
      row: "P23",
      what: `type ${type} of the cut itself is referred, too`,
      query: { name: `sub.${Z}`, type },
      expect: isReferral,
    }),
  ),
  {
    row: "P23",
    what: "a referral holds for everybody: scope 0",
    query: { name: `WWW.sub.${Z}`, opt: FRANKFURT },
    expect: hasScope(0),
  },
  {
    row: "P24",
    what: "DS of the cut is NODATA: it is ours to say",
    query: { name: `sub.${Z}`, type: DS },
    expect: isNodata,
  },
  { row: "P24", what: "DS below the cut is not", query: { name: `www.sub.${Z}`, type: DS }, expect: isReferral },
];
