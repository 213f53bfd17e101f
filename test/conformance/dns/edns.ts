/** Rows P49 to P61: EDNS. */
import assert from "node:assert/strict";
import { nameOctets, optionOctets, optOctets } from "#test/support/dns-client.ts";
import {
  both,
  countsOf,
  FORMERR,
  FRANKFURT,
  flagsOf,
  hasOpt,
  hasRcode,
  isTruncated,
  optionCodes,
  type Row,
  withOptions,
  Z,
} from "./row.ts";

export const EDNS_ROWS: readonly Row[] = [
  {
    row: "P49",
    what: "no OPT gets none",
    query: {},
    expect: (reply) => assert.deepEqual([reply.opt, countsOf(reply)[3]], [null, 0]),
  },
  {
    row: "P49",
    what: "without OPT 512 octets are the most",
    query: { name: `many.${Z}` },
    over: ["udp"],
    expect: both(isTruncated, (reply) => assert.ok(reply.octets.length <= 512)),
  },
  {
    row: "P50",
    what: "OPT gets one OPT of version 0 with our payload size",
    query: { opt: { payload: 4_096 } },
    expect: hasOpt,
  },
  {
    row: "P51",
    what: "version 1 is BADVERS, with an OPT of version 0 and without options",
    query: { opt: { version: 1, options: Buffer.concat([optionOctets(100, Buffer.from("x")), FRANKFURT.options]) } },
    expect: both(hasRcode(16), hasOpt, (reply) => assert.deepEqual(optionCodes(reply), [])),
  },
  {
    row: "P52",
    what: "an unknown option is neither minded nor returned",
    query: withOptions(optionOctets(100, Buffer.from("abc"))),
    expect: both(hasOpt, (reply) => assert.deepEqual([reply.rcode, optionCodes(reply)], [0, []])),
  },
  {
    row: "P53",
    what: "unknown flags are cleared",
    query: { opt: { flags: 0x0080 } },
    expect: (reply) => assert.equal(reply.opt?.flags, 0),
  },
  {
    row: "P54",
    what: "DO comes back",
    query: { opt: { flags: 0x8000 } },
    expect: (reply) => assert.equal(reply.opt?.flag_do, true),
  },
  ...[0, 1, 511].map(
    (payload): Row => ({
      row: "P55",
      what: `a payload size of ${payload} counts as 512`,
      query: { opt: { payload } },
      over: ["udp"],
      expect: both(hasOpt, (reply) => assert.deepEqual([reply.rcode, countsOf(reply)[1]], [0, 1])),
    }),
  ),
  {
    row: "P56",
    what: "an answer of 600 octets does not fit 512: TC, no answers, OPT",
    query: { name: `many.${Z}`, opt: { payload: 512 } },
    over: ["udp"],
    expect: both(isTruncated, hasOpt),
  },
  {
    row: "P57",
    what: "the same fits 1 232",
    query: { name: `many.${Z}`, opt: {} },
    over: ["udp"],
    expect: (reply) => assert.deepEqual([flagsOf(reply).tc, countsOf(reply)[1]], [0, 36]),
  },
  {
    row: "P58",
    what: "a payload size of 65 535 is capped at ours",
    query: { name: `huge.${Z}`, opt: { payload: 65_535 } },
    over: ["udp"],
    expect: both(isTruncated, hasOpt),
  },
  {
    row: "P59",
    what: "two OPTs are FORMERR",
    query: { opt: {}, counts: [1, 0, 0, 2], tail: optOctets({}) },
    expect: FORMERR,
  },
  {
    row: "P59",
    what: "an OPT that runs past the end is FORMERR",
    query: { counts: [1, 0, 0, 1], tail: Buffer.from([0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 9, 0]) },
    expect: FORMERR,
  },
  {
    row: "P59",
    what: "an option that runs past its OPT is FORMERR",
    query: withOptions(Buffer.from([0, 100, 0, 9, 1])),
    expect: FORMERR,
  },
  {
    row: "P59",
    what: "an OPT with an owner other than the root is FORMERR (RFC 6891 §6.1.2)",
    query: { counts: [1, 0, 0, 1], tail: Buffer.concat([nameOctets(Z), optOctets({}).subarray(1)]) },
    expect: FORMERR,
  },
  {
    row: "P59",
    what: "an OPT in the answer section is FORMERR",
    query: { counts: [1, 1, 0, 0], tail: optOctets({}) },
    expect: FORMERR,
  },
  {
    row: "P61",
    what: "NSID that is not configured is not given",
    query: withOptions(optionOctets(3, Buffer.alloc(0))),
    expect: (reply) => assert.deepEqual(optionCodes(reply), []),
  },
  {
    row: "P69",
    what: "keepalive over UDP is not returned",
    query: withOptions(optionOctets(11, Buffer.alloc(0))),
    over: ["udp"],
    expect: (reply) => assert.deepEqual(optionCodes(reply), []),
  },
];
