/** Rows P10 to P30: what each kind of name answers, and what is said no to. */
import assert from "node:assert/strict";
import { subnetOption } from "#test/support/dns-client.ts";
import {
  AAAA,
  both,
  DS,
  FRANKFURT,
  HTTPS,
  hasScope,
  isAnswer,
  isNodata,
  isNxdomain,
  NS,
  REFUSED,
  type Row,
  SOA,
  TXT,
  Z,
} from "./row.ts";

export const NEGATIVES: readonly Row[] = [
  {
    row: "P10, P18",
    what: "AAAA of a name with IPv4 only is NODATA, scope 0",
    query: { name: `many.${Z}`, type: AAAA, opt: FRANKFURT },
    expect: both(isNodata, hasScope(0)),
  },
  { row: "P11", what: "HTTPS of a name that has none is NODATA", query: { type: HTTPS }, expect: isNodata },
  { row: "P12", what: "an unknown type is NODATA", query: { type: 65_280 }, expect: isNodata },
  ...[
    { name: `chat.${Z}`, type: HTTPS },
    { name: `a.b.nope.${Z}`, type: AAAA },
  ].map(
    (query): Row => ({
      row: "P13",
      what: `SOA stands for the zone and is kept for its minimum, 30 s: ${query.name}`,
      query,
      expect: ({ soa }) => assert.deepEqual([soa?.name, soa?.ttl, soa?.data.minimum], [Z, 30, 30]),
    }),
  ),
  { row: "P14", what: "a name that is not there is NXDOMAIN", query: { name: `nope.${Z}` }, expect: isNxdomain },
  { row: "P15", what: "a name below a leaf is NXDOMAIN", query: { name: `x.chat.${Z}` }, expect: isNxdomain },
  { row: "P15", what: "a name below a label is NXDOMAIN", query: { name: `x.y.c.${Z}` }, expect: isNxdomain },
  ...["c", "m", "r"].map(
    (name): Row => ({
      row: "P16",
      what: `${name} is an empty non-terminal: NODATA`,
      query: { name: `${name}.${Z}` },
      expect: isNodata,
    }),
  ),
  {
    row: "P16",
    what: "front exists and has no IPv6 here: NODATA",
    query: { name: `front.${Z}`, type: AAAA },
    expect: isNodata,
  },
  { row: "P16", what: "NS of an empty non-terminal is NODATA", query: { name: `c.${Z}`, type: NS }, expect: isNodata },
  {
    row: "P17",
    what: "a label that nobody knows is answered, never NXDOMAIN",
    query: { name: `whatever.c.${Z}`, opt: FRANKFURT },
    expect: isAnswer("192.0.2.10"),
  },
  {
    row: "P17",
    what: "another type of a label is NODATA",
    query: { name: `whatever.c.${Z}`, type: TXT },
    expect: isNodata,
  },
  {
    row: "P14",
    what: "why.<name> is NXDOMAIN where nobody may ask",
    query: { name: `why.chat.${Z}`, type: TXT },
    expect: isNxdomain,
  },
];

export const APEX: readonly Row[] = [
  {
    row: "P19, P28, P29",
    what: "SOA: the first name server, and the configured numbers",
    query: { name: Z, type: SOA },
    expect: (reply) =>
      isAnswer(
        JSON.stringify({
          mname: `ns1.${Z}`,
          rname: "hostmaster.example.org",
          serial: 7,
          refresh: 14_400,
          retry: 3_600,
          expire: 604_800,
          minimum: 30,
        }),
      )(reply),
  },
  {
    row: "P20, P30",
    what: "NS: two, with their addresses in the additional section",
    query: { name: Z, type: NS },
    expect: (reply) => {
      isAnswer(`ns1.${Z}`, `ns2.${Z}`)(reply);
      const glue = (reply.packet.additionals ?? []).map((one) => ("data" in one ? `${one.name} ${one.data}` : ""));
      assert.deepEqual(glue, [`ns1.${Z} 198.51.100.1`, `ns1.${Z} 2001:db8::1`, `ns2.${Z} 198.51.100.2`]);
    },
  },
  { row: "P21", what: "A of an apex without addresses is NODATA", query: { name: Z }, expect: isNodata },
  {
    row: "P22",
    what: "DS of the apex is NODATA: it belongs to the parent",
    query: { name: Z, type: DS },
    expect: isNodata,
  },
  {
    row: "P25",
    what: "a name outside is REFUSED, with extended error 20",
    query: { name: "www.example.org", opt: {} },
    expect: both(REFUSED, (reply) => assert.equal(reply.extendedError, 20)),
  },
  { row: "P25", what: "the root is REFUSED", query: { name: "", type: NS }, expect: REFUSED },
  { row: "P25", what: "a name that only ends alike is REFUSED", query: { name: `x${Z}` }, expect: REFUSED },
  {
    row: "P26",
    what: "a name server's address is its glue, whoever asks",
    query: { name: `ns1.${Z}`, opt: FRANKFURT },
    expect: both(isAnswer("198.51.100.1"), hasScope(0)),
  },
  {
    row: "P26",
    what: "a name server's IPv6 address too",
    query: { name: `ns1.${Z}`, type: AAAA },
    expect: isAnswer("2001:db8::1"),
  },
];

export const STEERED: readonly Row[] = [
  {
    row: "names",
    what: "a region's name is always that region",
    query: { name: `virginia.r.${Z}`, opt: FRANKFURT },
    expect: both(isAnswer("192.0.2.20"), hasScope(0)),
  },
  {
    row: "names",
    what: "a pool that answers with the front does so",
    query: { name: `sdk.${Z}` },
    expect: isAnswer("198.51.100.8", "198.51.100.9"),
  },
  {
    row: "names",
    what: "a pool has a front of its own",
    query: { name: `chat.front.${Z}` },
    expect: isAnswer("198.51.100.8", "198.51.100.9"),
  },
  {
    row: "names",
    what: "a model's name leads to a region that has it",
    query: { name: `qwen-qwen3-coder.m.${Z}`, opt: FRANKFURT },
    expect: isAnswer("192.0.2.20"),
  },
  {
    row: "names",
    what: "AAAA is decided among the regions that have IPv6",
    query: { type: AAAA, opt: { options: subnetOption(1, 24, [203, 0, 113]) } },
    expect: isAnswer("2001:db8:10::10"),
  },
];
