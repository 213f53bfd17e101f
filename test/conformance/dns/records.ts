/** The other records that a zone's owner keeps, and rows P16 and P73, which take some. */
import assert from "node:assert/strict";
import { LONG_TEXT } from "#test/support/dns-records.ts";
import {
  A,
  both,
  CAA,
  countsOf,
  FRANKFURT,
  flagsOf,
  hasScope,
  holds,
  isAnswer,
  isNodata,
  isTruncated,
  MX,
  NS,
  type Row,
  SRV,
  sectionOf,
  TXT,
  Z,
} from "./row.ts";

export const OTHER_RECORDS: readonly Row[] = [
  { row: "P16", what: "ent.tree is an empty non-terminal: NODATA", query: { name: `ent.tree.${Z}` }, expect: isNodata },
  { row: "P16", what: "so is tree, also for NS", query: { name: `tree.${Z}`, type: NS }, expect: isNodata },
  {
    row: "records",
    what: "A, to everybody the same: scope 0",
    query: { name: `host.${Z}`, opt: FRANKFURT },
    expect: both(isAnswer("192.0.2.61"), hasScope(0)),
  },
  {
    row: "records",
    what: "TXT of two strings stays two",
    query: { name: `host.${Z}`, type: TXT },
    expect: holds(0, [`host.${Z} TXT first string|second string`], []),
  },
  {
    row: "records",
    what: "TXT beside a pool's addresses",
    query: { type: TXT },
    expect: holds(0, [`chat.${Z} TXT beside a pool's addresses`], []),
  },
  {
    row: "records",
    what: "TXT beside the zone's own records",
    query: { name: Z, type: TXT },
    expect: holds(0, [`${Z} TXT v=spf1 -all`], []),
  },
  {
    row: "records",
    what: "a challenge beside the conversations' labels",
    query: { name: `_acme-challenge.c.${Z}`, type: TXT },
    expect: holds(0, [`_acme-challenge.c.${Z} TXT a challenge`], []),
  },
  {
    row: "records",
    what: "which is no label: A is NODATA",
    query: { name: `_acme-challenge.c.${Z}`, type: A },
    expect: isNodata,
  },
  {
    row: "records",
    what: "CAA, with flags",
    query: { name: Z, type: CAA },
    expect: holds(0, [`${Z} CAA 0 issue ca.example.net`, `${Z} CAA 128 issuewild ;`], []),
  },
  {
    row: "records",
    what: "MX, with the addresses of those that lie here",
    query: { name: `mail.${Z}`, type: MX },
    expect: (reply) => {
      holds(0, [`mail.${Z} MX 10 host.${Z}`, `mail.${Z} MX 20 mx.example.net`], [])(reply);
      assert.deepEqual(sectionOf(reply.packet.additionals), [`host.${Z} A 192.0.2.61`]);
    },
  },
  {
    row: "records",
    what: "MX of a name that takes no mail (RFC 7505)",
    query: { name: `no-mail.${Z}`, type: MX },
    expect: holds(0, [`no-mail.${Z} MX 0 .`], []),
  },
  {
    row: "records",
    what: "SRV",
    query: { name: `_sip._tcp.${Z}`, type: SRV },
    expect: holds(0, [`_sip._tcp.${Z} SRV 1 2 5060 host.${Z}`], []),
  },
  {
    row: "P73",
    what: "a text of 600 octets does not fit 512: TC",
    query: { name: `long.${Z}`, type: TXT },
    over: ["udp"],
    expect: isTruncated,
  },
  {
    row: "P73",
    what: "and is whole over TCP, in strings of 255",
    query: { name: `long.${Z}`, type: TXT },
    over: ["tcp"],
    expect: (reply) => {
      const [text = ""] = sectionOf(reply.packet.answers);
      assert.equal(text.replaceAll("|", ""), `long.${Z} TXT ${LONG_TEXT}`);
      assert.deepEqual(
        text.split("|").map(({ length }) => length),
        [`long.${Z} TXT `.length + 255, 255, 90],
      );
    },
  },
  {
    row: "P73",
    what: "three of them do not fit 1 232 either: TC",
    query: { name: `longer.${Z}`, type: TXT, opt: { payload: 4_096 } },
    over: ["udp"],
    expect: isTruncated,
  },
  {
    row: "P73",
    what: "and are whole over TCP",
    query: { name: `longer.${Z}`, type: TXT, opt: {} },
    over: ["tcp"],
    expect: (reply) => assert.deepEqual([flagsOf(reply).tc, countsOf(reply)[1]], [0, 3]),
  },
];
