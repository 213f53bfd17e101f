/** The checklist of what an authoritative server owes its zone, row by row, on raw sockets; P-numbers as in the design. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { askTcp, askUdp, openUdp, queryOctets, readReply, subnetOption } from "#test/support/dns-client.ts";
import { type RunningDns, startDns } from "#test/support/dns-zone.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { ALIASES } from "./dns/aliases.ts";
import { BASICS } from "./dns/basics.ts";
import { CODES } from "./dns/codes.ts";
import { DELEGATION } from "./dns/delegation.ts";
import { EDNS_ROWS } from "./dns/edns.ts";
import { APEX, NEGATIVES, STEERED } from "./dns/names.ts";
import { OTHER_RECORDS } from "./dns/records.ts";
import { countsOf, flagsOf, isTruncated, NS, type Over, type Row, SOA, Z } from "./dns/row.ts";
import { SUBNETS } from "./dns/subnets.ts";
import { WILDCARDS } from "./dns/wildcards.ts";

const BOTH: readonly Over[] = ["udp", "tcp"];

const check = async (dns: RunningDns, { query, over = BOTH, expect }: Row): Promise<void> => {
  const octets = queryOctets(query);
  for (const transport of over) {
    const reply = await (transport === "udp" ? askUdp : askTcp)(dns, octets);
    assert.equal(reply.octets.readUInt16BE(0), octets.readUInt16BE(0), "the ID comes back");
    expect(reply, octets);
  }
};

const TABLES: readonly (readonly [string, readonly Row[]])[] = [
  ["a query", BASICS],
  ["a negative answer", NEGATIVES],
  ["the apex and the delegation", APEX],
  ["a name of the zone", STEERED],
  ["a name that is given to other servers", DELEGATION],
  ["an alias", ALIASES],
  ["a wildcard", WILDCARDS],
  ["a record that the owner keeps", OTHER_RECORDS],
  ["types, classes and opcodes", CODES],
  ["EDNS", EDNS_ROWS],
  ["a client subnet (RFC 7871)", SUBNETS],
];

describe("the zone's name server", () => {
  let dns: RunningDns;
  before(async () => {
    dns = await startDns();
  });
  after(() => dns[Symbol.asyncDispose]());

  for (const [title, rows] of TABLES) {
    describe(title, () => {
      for (const row of rows) it(`${row.row}: ${row.what}`, () => check(dns, row));
    });
  }

  const SILENT: readonly { readonly row: string; readonly what: string; readonly octets: Buffer }[] = [
    { row: "P5", what: "a response", octets: queryOctets({ flags: 0x8000 }) },
    { row: "P6", what: "fewer than 12 octets", octets: queryOctets().subarray(0, 11) },
    { row: "P6", what: "no octets at all", octets: Buffer.alloc(0) },
  ];
  for (const { row, what, octets } of SILENT) {
    it(`${row}: gives no reply to ${what}`, async () => {
      await using client = await openUdp(dns);
      client.send(octets);
      const first = readReply(await client.ask(queryOctets({ id: 0x7777 })));
      assert.equal(first.packet.id, 0x7777, "the first that comes answers the query that came second");
    });
  }

  it("P27: gives the same SOA and NS as another instance of the same configuration, octet by octet", async () => {
    await using other = await startDns();
    for (const type of [SOA, NS]) {
      const query = queryOctets({ name: Z, type });
      assert.deepEqual((await askUdp(dns, query)).octets, (await askUdp(other, query)).octets);
    }
  });

  it("P75: answers as before after 600 malformed datagrams, and has met no bug", async () => {
    await using client = await openUdp(dns);
    const sound = queryOctets({ opt: { options: subnetOption(1, 24, [192, 0, 2]) } });
    for (let i = 0; i < 600; i++) {
      const octets = Buffer.from(sound);
      octets[2 + ((i * 31) % (octets.length - 2))] = (i * 89) & 0xff;
      client.send(i % 3 === 0 ? octets.subarray(0, i % octets.length) : octets);
      // Nothing waits in the kernel that could be lost: the next comes when this one is through.
      const id = 0x8000 + i;
      client.send(queryOctets({ id }));
      while ((await client.next()).readUInt16BE(0) !== id);
    }
    assert.deepEqual((await askUdp(dns, sound)).data, ["192.0.2.10"]);
    assert.equal(await metricValue(dns.metrics, "gtm_dns_answer_faults_total"), 0);
  });

  it("P73: tells by TC what does not fit a datagram, and gives it whole over TCP", async () => {
    const query = queryOctets({ name: `huge.${Z}`, opt: {} });
    isTruncated(await askUdp(dns, query));
    const whole = await askTcp(dns, query);
    assert.deepEqual([flagsOf(whole).tc, countsOf(whole)[1], new Set(whole.data).size], [0, 200, 200]);
  });
});
