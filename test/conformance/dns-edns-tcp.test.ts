/** Rows P60 to P73 of the checklist: extended errors, NSID, cookies, rate limits and connections over TCP, on raw sockets. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import {
  askTcp,
  askUdp,
  framed,
  openTcp,
  openUdp,
  optionOctets,
  type QueryWish,
  queryOctets,
  type Reply,
  readReply,
} from "#test/support/dns-client.ts";
import { type RunningDns, startDns } from "#test/support/dns-zone.ts";
import { metricValue } from "#test/support/metric-value.ts";
import {
  both,
  countsOf,
  FORMERR,
  FRANKFURT,
  flagsOf,
  hasOpt,
  hasScope,
  isAnswer,
  isTruncated,
  type Over,
  optionCodes,
  type Row,
  withOptions,
  Z,
} from "./dns/row.ts";

const NSID = 3;
const COOKIE = 10;
const KEEPALIVE = 11;
const CLIENT_COOKIE = Buffer.from("0102030405060708", "hex");

const cookieOption = (data: Buffer): Buffer => optionOctets(COOKIE, data);
const optionOf = (reply: Reply, code: number): Buffer | null =>
  (reply.opt?.options ?? []).find((one) => Number(one.code) === code)?.data ?? null;
const cookieOf = (reply: Reply): Buffer => {
  const cookie = optionOf(reply, COOKIE);
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
const hasNsid = (reply: Reply): void => assert.equal(optionOf(reply, NSID)?.toString(), "gtm-7");
const hasNo =
  (code: number) =>
  (reply: Reply): void =>
    assert.ok(!optionCodes(reply).includes(code));

const NSID_ROWS: readonly Row[] = [
  {
    row: "P61",
    what: "NSID is given to whoever asks where it is configured",
    query: withOptions(optionOctets(NSID, Buffer.alloc(0))),
    expect: both(hasOpt, hasNsid),
  },
  {
    row: "P61",
    what: "NSID is given with a negative answer and a refusal too",
    query: withOptions(optionOctets(NSID, Buffer.alloc(0)), { name: "example.com" }),
    expect: both((reply) => assert.equal(reply.rcode, 5), hasNsid),
  },
  { row: "P61", what: "NSID is not given unasked", query: { opt: {} }, expect: hasNo(NSID) },
];

const COOKIE_ROWS: readonly Row[] = [
  {
    row: "P62",
    what: "a client cookie gets one of 24 octets, and the answer",
    query: withOptions(Buffer.concat([cookieOption(CLIENT_COOKIE), FRANKFURT.options])),
    expect: both(isAnswer("192.0.2.10"), hasOpt, hasCookie, hasScope(24)),
  },
  {
    row: "P62",
    what: "with NSID, an unknown option and a client subnet of /0, as ednscomp asks, all are minded",
    query: withOptions(
      Buffer.concat([
        optionOctets(NSID, Buffer.alloc(0)),
        optionOctets(8, Buffer.from([0, 1, 0, 0])),
        optionOctets(9, Buffer.alloc(0)),
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
        optionCodes(reply).filter((code) => code === COOKIE),
        [COOKIE],
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
      expect: both(FORMERR, hasOpt, hasNo(COOKIE)),
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

const EXTENDED_ERRORS: readonly Row[] = [
  {
    row: "P60",
    what: "a name outside is REFUSED with Not Authoritative",
    query: { name: "example.com", opt: {} },
    expect: (reply) => assert.deepEqual([reply.rcode, reply.extendedError], [5, 20]),
  },
  {
    row: "P60",
    what: "without OPT there is no extended error",
    query: { name: "example.com" },
    expect: (reply) => assert.deepEqual([reply.rcode, reply.opt], [5, null]),
  },
  {
    row: "P60",
    what: "a sound answer has none",
    query: { opt: FRANKFURT },
    expect: (reply) => assert.equal(reply.extendedError, null),
  },
];

const KEEPALIVES: readonly Row[] = [
  {
    row: "P69",
    what: "keepalive over TCP says how long a connection may be idle, in units of 100 ms",
    query: withOptions(optionOctets(KEEPALIVE, Buffer.alloc(0))),
    over: ["tcp"],
    expect: (reply) => assert.equal(optionOf(reply, KEEPALIVE)?.readUInt16BE(0), 100),
  },
  { row: "P69", what: "unasked it says nothing", query: { opt: {} }, expect: hasNo(KEEPALIVE) },
  {
    row: "P69",
    what: "over UDP it is not returned",
    query: withOptions(optionOctets(KEEPALIVE, Buffer.alloc(0))),
    over: ["udp"],
    expect: hasNo(KEEPALIVE),
  },
  {
    row: "P69",
    what: "a time in a query means nothing (RFC 7828 §3.2.1)",
    query: withOptions(optionOctets(KEEPALIVE, Buffer.from([0, 9]))),
    expect: both((reply) => assert.equal(reply.rcode, 0), hasNo(KEEPALIVE)),
  },
];

const TABLES: readonly (readonly [string, readonly Row[]])[] = [
  ["an extended error", EXTENDED_ERRORS],
  ["NSID", NSID_ROWS],
  ["a cookie", COOKIE_ROWS],
  ["keepalive", KEEPALIVES],
];
const BOTH: readonly Over[] = ["udp", "tcp"];

describe("the zone's name server, by its options", () => {
  let dns: RunningDns;
  before(async () => {
    dns = await startDns({ nsid: "gtm-7" });
  });
  after(() => dns[Symbol.asyncDispose]());

  for (const [title, rows] of TABLES) {
    describe(title, () => {
      for (const { row, what, query, over = BOTH, expect } of rows) {
        it(`${row}: ${what}`, async () => {
          const octets = queryOctets(query);
          for (const transport of over) expect(await (transport === "udp" ? askUdp : askTcp)(dns, octets), octets);
        });
      }
    });
  }

  it("P62: a cookie that it gave comes back as it is, and is renewed when half of its hour is over", async () => {
    const first = cookieOf(await askUdp(dns, withOptions(cookieOption(CLIENT_COOKIE))));
    const again = () => askUdp(dns, withoutQuestion(cookieOption(first)));
    assert.deepEqual(cookieOf(await again()), first);
    dns.clock.advance(1_801_000);
    const renewed = await again();
    assert.equal(renewed.rcode, 0);
    assert.notDeepEqual(cookieOf(renewed), first);
    dns.clock.advance(1_800_000);
    assert.equal((await again()).rcode, 23, "an hour later it is worth nothing");
  });
});

describe("P60: answers while the facts behind them are not renewed", () => {
  it("say Stale Answer, to those who ask with OPT, and only where a decision stands behind them", async () => {
    await using dns = await startDns();
    dns.setWorld({ areAgesFrozen: true });
    const errorOf = async (query: QueryWish) => (await askUdp(dns, query)).extendedError;
    assert.equal(await errorOf({ opt: FRANKFURT }), 3);
    assert.equal(await errorOf({ name: `somebody.c.${Z}`, opt: FRANKFURT }), 3);
    assert.equal(await errorOf({ name: `ns1.${Z}`, opt: {} }), null);
    assert.equal((await askUdp(dns, {})).opt, null);
    dns.setWorld({ areAgesFrozen: false });
    assert.equal(await errorOf({ opt: FRANKFURT }), null);
  });
});

describe("P65: a network over its rate", () => {
  const rateLimit = { perPrefixQps: 5, slip: 2, exempt: [] };
  const limitedOf = (dns: RunningDns, action: string) =>
    metricValue(dns.metrics, "gtm_dns_rate_limited_total", { action });

  it("gets TC alone for every second query, and silence for the others; over TCP it is answered", async () => {
    const dns = await startDns({ rateLimit });
    await using client = await openUdp(dns);
    for (let id = 0; id < 5; id++) {
      assert.deepEqual(readReply(await client.ask(queryOctets({ id, opt: FRANKFURT }))).data, ["192.0.2.10"]);
    }
    for (let id = 10; id < 16; id += 2) {
      client.send(queryOctets({ id, opt: {} }));
      const slipped = readReply(await client.ask(queryOctets({ id: id + 1, opt: {} })));
      isTruncated(slipped);
      assert.deepEqual([slipped.packet.id, flagsOf(slipped).aa], [id + 1, 0]);
      assert.ok(slipped.octets.length <= queryOctets({ opt: {} }).length, "no longer than the query");
    }
    assert.deepEqual((await askTcp(dns, { opt: FRANKFURT })).data, ["192.0.2.10"]);
    await dns[Symbol.asyncDispose]();
    assert.deepEqual([await limitedOf(dns, "slip"), await limitedOf(dns, "drop")], [3, 3]);
    const told = dns.log.lines.filter(({ event }) => event === "dns.rate-limited");
    assert.deepEqual(
      told.map(({ level }) => level),
      ["warn"],
    );
    assert.match(JSON.stringify(told), /"slipped":3,"dropped":3,"lastSubnet":"127\.0\.0\.0\/24"/);
  });

  it("P64: is answered as ever where it shows a valid cookie, which it learns from what slips", async () => {
    await using dns = await startDns({ rateLimit: { ...rateLimit, slip: 1 } });
    await using client = await openUdp(dns);
    for (let id = 0; id < 5; id++) await client.ask(queryOctets({ id }));
    const asks = (options: Buffer) => client.ask(queryOctets({ opt: { options } })).then(readReply);
    const slipped = await asks(cookieOption(CLIENT_COOKIE));
    isTruncated(slipped);
    const cookie = cookieOf(slipped);
    for (let i = 0; i < 20; i++) assert.equal(countsOf(await asks(cookieOption(cookie)))[1], 1);
    const forged = Buffer.from(cookie);
    forged[23] = (forged[23] ?? 0) ^ 1;
    isTruncated(await asks(cookieOption(forged)));
  });

  it("is told its mistakes rather than TC, no longer than the query", async () => {
    await using dns = await startDns({ rateLimit: { ...rateLimit, slip: 1 } });
    await using client = await openUdp(dns);
    for (let id = 0; id < 5; id++) await client.ask(queryOctets({ id }));
    FORMERR(readReply(await client.ask(queryOctets({ counts: [2, 0, 0, 0] }))));
  });

  it("is answered again after a while", async () => {
    await using dns = await startDns({ rateLimit: { ...rateLimit, slip: 1 } });
    await using client = await openUdp(dns);
    const ask = async (): Promise<number> => flagsOf(readReply(await client.ask(queryOctets()))).tc;
    while ((await ask()) === 0);
    dns.clock.advance(400);
    let answers = 0;
    // The server looks at its clock now and then; until it does, queries slip.
    while (answers === 0) answers += 1 - (await ask());
    assert.equal(answers, 1);
  });
});

describe("P70: connections over TCP", () => {
  it("of one peer give way to its own next one, and not to another's", async () => {
    await using dns = await startDns({ limits: { tcpConnections: 3, tcpConnectionsPerPeer: 2 } });
    await using first = await openTcp(dns);
    await using second = await openTcp(dns);
    const asks = async (client: typeof first): Promise<void> => {
      await client.write(framed(queryOctets({ id: 9 })));
      assert.equal(readReply(await client.next()).packet.id, 9);
    };
    await asks(first);
    await asks(second);
    await using third = await openTcp(dns);
    await first.closed;
    await asks(second);
    await asks(third);
    assert.equal(await metricValue(dns.metrics, "gtm_dns_tcp_closed_total", { reason: "evicted" }), 1);
  });
});
