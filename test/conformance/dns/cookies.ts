/** Rows P44 and P62 to P63: cookies (RFC 7873, RFC 9018). */
import assert from "node:assert/strict";
import { askUdp, optionOctets, type QueryWish, type Reply } from "#test/support/dns-client.ts";
import { startDns } from "#test/support/dns-zone.ts";
import {
  both,
  countsOf,
  FORMERR,
  FRANKFURT,
  hasNo,
  hasNsid,
  hasOpt,
  hasScope,
  isAnswer,
  isTruncated,
  OPTION,
  optionCodes,
  optionOf,
  type Row,
  type Sequence,
  withOptions,
  Z,
} from "./row.ts";

export const CLIENT_COOKIE = Buffer.from("0102030405060708", "hex");

export const cookieOption = (data: Buffer): Buffer => optionOctets(OPTION.cookie, data);
export const cookieOf = (reply: Reply): Buffer => {
  const cookie = optionOf(reply, OPTION.cookie);
  assert.ok(cookie !== null, "the reply has a cookie");
  return cookie;
};
/** No question, which asks for a cookie where it brings one (RFC 7873 §5.4). */
const withoutQuestion = (options: Buffer): QueryWish =>
  withOptions(options, { question: Buffer.alloc(0), counts: [0, 0, 0, 1] });

const hasCookie = (reply: Reply): void => {
  const cookie = cookieOf(reply);
  assert.equal(cookie.length, 24);
  assert.deepEqual(cookie.subarray(0, 8), CLIENT_COOKIE, "the client's part comes back");
  assert.equal(cookie.subarray(8, 12).toString("hex"), "01000000", "version 1 of RFC 9018");
};

export const COOKIES: readonly Row[] = [
  {
    row: "P62",
    what: "a client cookie gets one of 24 octets, and the answer",
    query: withOptions(Buffer.concat([cookieOption(CLIENT_COOKIE), FRANKFURT.options])),
    expect: both(isAnswer("192.0.2.10"), hasOpt, hasCookie, hasScope(24)),
  },
  {
    row: "P62",
    what: "with NSID, an unknown option and a client subnet of /0, as ednscomp asks, all are minded",
    of: "named",
    query: withOptions(
      Buffer.concat([
        optionOctets(OPTION.nsid, Buffer.alloc(0)),
        optionOctets(OPTION.subnet, Buffer.from([0, 1, 0, 0])),
        optionOctets(OPTION.expire, Buffer.alloc(0)),
        cookieOption(CLIENT_COOKIE),
      ]),
    ),
    expect: both((reply) => assert.equal(reply.rcode, 0), hasCookie, hasNsid, hasScope(0)),
  },
  {
    row: "P62",
    what: "of two cookies the first counts",
    query: withOptions(Buffer.concat([cookieOption(CLIENT_COOKIE), cookieOption(Buffer.alloc(8, 9))])),
    expect: both(hasCookie, (reply) =>
      assert.deepEqual(
        optionCodes(reply).filter((code) => code === OPTION.cookie),
        [OPTION.cookie],
      ),
    ),
  },
  ...[16, 24, 40].map(
    (octets): Row => ({
      row: "P62",
      what: `a cookie of ${octets} octets that is not ours is answered, with a good one`,
      query: withOptions(cookieOption(Buffer.concat([CLIENT_COOKIE, Buffer.alloc(octets - 8, 7)]))),
      expect: both((reply) => assert.equal(reply.rcode, 0), hasCookie),
    }),
  ),
  {
    row: "P62",
    what: "a reply that is cut has its cookie",
    query: { name: `huge.${Z}`, opt: { payload: 512, options: cookieOption(CLIENT_COOKIE) } },
    over: ["udp"],
    expect: both(isTruncated, hasCookie),
  },
  ...[0, 1, 5, 7, 9, 15, 41, 64].map(
    (octets): Row => ({
      row: "P63",
      what: `a cookie of ${octets} octets is FORMERR, without a cookie`,
      query: withOptions(cookieOption(Buffer.alloc(octets, 1))),
      expect: both(FORMERR, hasOpt, hasNo(OPTION.cookie)),
    }),
  ),
  {
    row: "P44",
    what: "no question and a cookie is NOERROR with a cookie and nothing else",
    query: withoutQuestion(cookieOption(CLIENT_COOKIE)),
    expect: (reply) => {
      assert.equal(reply.rcode, 0);
      assert.deepEqual(countsOf(reply), [0, 0, 0, 1]);
      hasCookie(reply);
    },
  },
  {
    row: "P44",
    what: "no question and a cookie that is not ours is BADCOOKIE with a good one (RFC 7873 §5.4)",
    query: withoutQuestion(cookieOption(Buffer.concat([CLIENT_COOKIE, Buffer.alloc(16, 7)]))),
    expect: both((reply) => assert.equal(reply.rcode, 23), hasCookie),
  },
  {
    row: "P44",
    what: "no question and OPT without a cookie is FORMERR",
    query: withoutQuestion(Buffer.alloc(0)),
    expect: FORMERR,
  },
];

export const COOKIE_SEQUENCES: readonly Sequence[] = [
  {
    row: "P62",
    what: "a cookie that it gave comes back as it is, and is renewed when half of its hour is over",
    run: async () => {
      await using dns = await startDns();
      const first = cookieOf(await askUdp(dns, withOptions(cookieOption(CLIENT_COOKIE))));
      const again = () => askUdp(dns, withoutQuestion(cookieOption(first)));
      assert.deepEqual(cookieOf(await again()), first);
      dns.clock.advance(1_801_000);
      const renewed = await again();
      assert.equal(renewed.rcode, 0);
      assert.notDeepEqual(cookieOf(renewed), first);
      dns.clock.advance(1_800_000);
      assert.equal((await again()).rcode, 23, "an hour later it is worth nothing");
    },
  },
];
