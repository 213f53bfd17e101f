/** EDNS client subnet (RFC 7871) by the strict column. */
import assert from "node:assert/strict";
import { optionOctets, subnetOption } from "#test/support/dns-client.ts";
import {
  both,
  FORMERR,
  FRANKFURT,
  hasOpt,
  hasScope,
  isAnswer,
  isNxdomain,
  type Row,
  SOA,
  withOptions,
  Z,
} from "./row.ts";

export const SUBNETS: readonly Row[] = [
  { row: "§7.2.1", what: "no client subnet gets none", query: { opt: {} }, expect: hasScope(null) },
  {
    row: "v4 /24",
    what: "family, source and address come back, with the scope of the range that decided",
    query: withOptions(subnetOption(1, 24, [198, 51, 100])),
    expect: (reply) => {
      isAnswer("192.0.2.20")(reply);
      assert.equal(reply.scope, 22);
      const option = reply.opt?.options[0];
      assert.deepEqual([...(option?.data ?? [])], [0, 1, 24, 22, 198, 51, 100]);
    },
  },
  {
    row: "v4 /32",
    what: "is looked at no longer than /24",
    query: withOptions(subnetOption(1, 32, [192, 0, 2, 77])),
    expect: both(isAnswer("192.0.2.10"), hasScope(24)),
  },
  {
    row: "v4 /0",
    what: "asks not to be used: scope 0",
    query: withOptions(subnetOption(1, 0, [])),
    expect: both((reply) => assert.equal(reply.rcode, 0), hasScope(0)),
  },
  {
    row: "v6 /56",
    what: "seven octets come back",
    query: withOptions(subnetOption(2, 56, [0x20, 1, 0x0d, 0xb8, 0, 5, 0])),
    expect: (reply) => {
      isAnswer("192.0.2.30")(reply);
      assert.deepEqual([...(reply.opt?.options[0]?.data ?? [])], [0, 2, 56, 40, 0x20, 1, 0x0d, 0xb8, 0, 5, 0]);
    },
  },
  { row: "v6 /0", what: "asks not to be used", query: withOptions(subnetOption(2, 0, [])), expect: hasScope(0) },
  {
    row: "§7.4",
    what: "NXDOMAIN carries scope 0",
    query: withOptions(FRANKFURT.options, { name: `nope.${Z}` }),
    expect: both(isNxdomain, hasScope(0)),
  },
  {
    row: "§7.4",
    what: "REFUSED carries scope 0",
    query: withOptions(FRANKFURT.options, { name: "example.com" }),
    expect: hasScope(0),
  },
  {
    row: "§12.1",
    what: "a fixed answer carries scope 0",
    query: withOptions(FRANKFURT.options, { name: Z, type: SOA }),
    expect: hasScope(0),
  },
  {
    row: "§10",
    what: "a private subnet is answered by the resolver's address, for the half of its block that nobody located",
    query: withOptions(subnetOption(1, 24, [10, 200, 3])),
    expect: both((reply) => assert.equal(reply.rcode, 0), hasScope(9)),
  },
  {
    row: "§10",
    what: "192.168.0.0/16 is such a block",
    query: withOptions(subnetOption(1, 24, [192, 168, 3])),
    expect: hasScope(16),
  },
  {
    row: "§10",
    what: "a neighbour of the operator's own 10.1.0.0/16 does not cover it",
    query: withOptions(subnetOption(1, 24, [10, 0, 9])),
    expect: hasScope(16),
  },
  {
    row: "§10",
    what: "a private subnet that the operator located himself decides",
    query: withOptions(subnetOption(1, 24, [10, 1, 9])),
    expect: both(isAnswer("192.0.2.10"), hasScope(16)),
  },
  {
    row: "unknown",
    what: "a subnet that lies nowhere is answered for itself",
    query: withOptions(subnetOption(1, 20, [100, 200, 16])),
    expect: hasScope(20),
  },
  ...(
    [
      ["family 0", subnetOption(0, 0, [])],
      ["family 3", subnetOption(3, 24, [1, 2, 3])],
      ["source 33", subnetOption(1, 33, [1, 2, 3, 4, 5])],
      [
        "v6 source 129",
        subnetOption(
          2,
          129,
          Array.from({ length: 17 }, () => 1),
        ),
      ],
      ["/24 with 4 octets", subnetOption(1, 24, [192, 0, 2, 0])],
      ["/24 with 2 octets", subnetOption(1, 24, [192, 0])],
      ["/20 with a bit beyond the prefix", subnetOption(1, 20, [192, 0, 0x21])],
      ["a scope other than 0", subnetOption(1, 24, [192, 0, 2], 24)],
      ["an option of 3 octets", optionOctets(8, Buffer.from([0, 1, 24]))],
      ["two client subnets", Buffer.concat([FRANKFURT.options, FRANKFURT.options])],
    ] as const
  ).map(
    ([what, options]): Row => ({
      row: "§6",
      what: `${what} is FORMERR, without a client subnet`,
      query: withOptions(options),
      expect: both(FORMERR, hasOpt, hasScope(null)),
    }),
  ),
];
