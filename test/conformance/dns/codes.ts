/** Rows P39 to P48: types, classes, opcodes, and messages that are hardly any. */
import assert from "node:assert/strict";
import { nameOctets } from "#test/support/dns-client.ts";
import {
  ANY,
  both,
  countsOf,
  FORMERR,
  FRANKFURT,
  flagsOf,
  hasRcode,
  isAnswer,
  isNodata,
  isNxdomain,
  REFUSED,
  type Row,
  TXT,
  Z,
} from "./row.ts";

export const CODES: readonly Row[] = [
  {
    row: "P39",
    what: 'ANY is HINFO "RFC8482"',
    query: { type: ANY },
    expect: isAnswer(JSON.stringify({ cpu: "RFC8482", os: "" })),
  },
  {
    row: "P39",
    what: "ANY of a name that is not there is NXDOMAIN",
    query: { name: `nope.${Z}`, type: ANY },
    expect: isNxdomain,
  },
  {
    row: "P39",
    what: "ANY of an empty non-terminal is NODATA",
    query: { name: `c.${Z}`, type: ANY },
    expect: isNodata,
  },
  { row: "P40", what: "AXFR over UDP is NOTIMP", query: { name: Z, type: 252 }, over: ["udp"], expect: hasRcode(4) },
  {
    row: "P40",
    what: "AXFR over TCP is REFUSED, no data",
    query: { name: Z, type: 252 },
    over: ["tcp"],
    expect: REFUSED,
  },
  { row: "P40", what: "IXFR over UDP is NOTIMP", query: { name: Z, type: 251 }, over: ["udp"], expect: hasRcode(4) },
  ...[1, 2, 3, 4, 5, 6, 15].map(
    (opcode): Row => ({
      row: "P41, P42",
      what: `opcode ${opcode} is NOTIMP`,
      query: { flags: opcode << 11 },
      expect: (reply) => {
        hasRcode(4)(reply);
        assert.equal(flagsOf(reply).opcode, opcode);
      },
    }),
  ),
  {
    row: "P43",
    what: "version.bind in class CH is REFUSED and says nothing",
    query: { name: "version.bind", type: TXT, class: 3 },
    expect: REFUSED,
  },
  { row: "P43", what: "class HS is REFUSED", query: { class: 4 }, expect: REFUSED },
  { row: "P43", what: "class 1234 is REFUSED", query: { class: 1_234 }, expect: REFUSED },
  { row: "P43", what: "class ANY is answered", query: { class: 255, opt: FRANKFURT }, expect: isAnswer("192.0.2.10") },
  {
    row: "P44",
    what: "no question is FORMERR",
    query: { question: Buffer.alloc(0), counts: [0, 0, 0, 0] },
    expect: FORMERR,
  },
  {
    row: "P45",
    what: "two questions are FORMERR",
    query: { counts: [2, 0, 0, 0], tail: Buffer.concat([nameOctets(Z), Buffer.from([0, 1, 0, 1])]) },
    expect: FORMERR,
  },
  ...(
    [
      ["a cut name", Buffer.from([4, 0x63, 0x68])],
      ["a label of kind 0x40", Buffer.from([0x41, 0x63, 0, 0, 1, 0, 1])],
      ["a label of kind 0x80", Buffer.from([0x81, 0x63, 0, 0, 1, 0, 1])],
      ["a pointer to itself", Buffer.from([0xc0, 0x0c, 0, 1, 0, 1])],
      ["a name without type and class", nameOctets(Z)],
      ["a name of 256 octets", Buffer.concat([nameOctets(`${"a".repeat(63)}.`.repeat(4)), Buffer.from([0, 1, 0, 1])])],
    ] as const
  ).map(
    ([what, question]): Row => ({
      row: "P46",
      what: `${what} is FORMERR without a question`,
      query: { question },
      expect: both(FORMERR, (reply) => assert.equal(countsOf(reply)[0], 0)),
    }),
  ),
  {
    row: "P47",
    what: "octets behind the message are passed over",
    query: { opt: FRANKFURT, tail: Buffer.from("trailing") },
    expect: isAnswer("192.0.2.10"),
  },
  {
    row: "P48",
    what: "an answer record in a query is passed over",
    query: {
      counts: [1, 1, 0, 0],
      tail: Buffer.from([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 9, 0, 4, 1, 2, 3, 4]),
      name: `ns1.${Z}`,
    },
    expect: isAnswer("198.51.100.1"),
  },
];
