/** `_acme-challenge` names over sockets: with values they are there, without they are what the zone says. */
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { decode } from "dns-packet";
import type { RecordValue, ZoneRecord } from "#gtm/domain/zone-record.ts";
import { challengeNames } from "#gtm/wire/dns/challenge-names.ts";
import { askTcp, askUdp, type Reply, subnetOption } from "#test/support/dns-client.ts";
import { aDnsSetting, startDns, ZONE } from "#test/support/dns-zone.ts";

const Z = ZONE.name;
const TYPES = { A: 1, SOA: 6, TXT: 16, AAAA: 28, CAA: 257, ANY: 255 } as const;
const record = (label: string, value: RecordValue): ZoneRecord => ({ name: `${label}.${Z}`, ttlSeconds: 300, value });
const RECORDS: readonly ZoneRecord[] = [
  record("*.wild", { type: "TXT", texts: ["from the wildcard"] }),
  record("sub", { type: "NS", host: `ns.sub.${Z}` }),
  record("ns.sub", { type: "A", address: "198.51.100.7" }),
  record("_acme-challenge.owned", { type: "CNAME", target: `_acme-challenge.chat.${Z}` }),
  record("moved", { type: "CNAME", target: `_acme-challenge.c.${Z}` }),
  record("deep.tree", { type: "A", address: "198.51.100.9" }),
];
const zone = { ...ZONE, records: RECORDS };
const LONG = "x".repeat(255);
const values = new Map<string, readonly string[]>([
  [`_acme-challenge.${Z}`, ["LoqXcYV8q5ONbJQxbmR7SCTNo3tiAXDfowyjxAjEuX0"]],
  [`_acme-challenge.c.${Z}`, ["one", "two"]],
  [`_acme-challenge.m.${Z}`, ['quote " backslash \\ dollar $ space ; (', LONG]],
  [`_acme-challenge.r.${Z}`, Array.from({ length: 8 }, (_, i) => `${i}`.repeat(255))],
  [`_acme-challenge.wild.${Z}`, ["from the authority's client"]],
]);
const dns = await startDns({ zone, challengeTexts: (name) => values.get(name) ?? null });
after(() => dns[Symbol.asyncDispose]());

const textsOf = ({ octets }: Reply): readonly string[] =>
  (decode(octets).answers ?? []).flatMap((one) => (one.type === "TXT" ? [[one.data].flat().join("|")] : []));
const ask = (label: string, type: number = TYPES.TXT) =>
  askUdp(dns, { name: `${label}.${Z}`, type, opt: { options: subnetOption(1, 24, [192, 0, 2]) } });

describe("a challenge that has values", () => {
  it("answers TXT with authority, for a second, for everybody", async () => {
    const reply = await ask("_acme-challenge.c");
    assert.deepEqual(textsOf(reply), ["one", "two"]);
    assert.deepEqual([reply.rcode, reply.scope, reply.packet.flag_aa], [0, 0, true]);
    const [first] = decode(reply.octets).answers ?? [];
    assert.equal(first !== undefined && "ttl" in first && first.ttl, 1);
  });
  it("is found at the apex, in whatever case", async () => {
    const reply = await askUdp(dns, { name: `_ACME-challenge.${Z.toUpperCase()}`, type: TYPES.TXT });
    assert.deepEqual(textsOf(reply), ["LoqXcYV8q5ONbJQxbmR7SCTNo3tiAXDfowyjxAjEuX0"]);
  });
  it("gives octets as they are, 255 of them too", async () => {
    assert.deepEqual(textsOf(await ask("_acme-challenge.m")), ['quote " backslash \\ dollar $ space ; (', LONG]);
  });
  it("with more than a datagram holds is TC, and whole over TCP", async () => {
    const short = await ask("_acme-challenge.r");
    assert.deepEqual([short.packet.flag_tc, textsOf(short)], [true, []]);
    const whole = await askTcp(dns, { name: `_acme-challenge.r.${Z}`, type: TYPES.TXT });
    assert.deepEqual(textsOf(whole), values.get(`_acme-challenge.r.${Z}`));
  });
  for (const [type, number] of Object.entries(TYPES).filter(([one]) => one !== "TXT" && one !== "ANY")) {
    it(`has no ${type}: NODATA with SOA`, async () => {
      const reply = await ask("_acme-challenge.c", number);
      assert.deepEqual([reply.rcode, reply.data, reply.soa?.name, reply.scope], [0, [], Z, 0]);
    });
  }
  it("answers ANY with next to nothing", async () => {
    const reply = await ask("_acme-challenge.c", TYPES.ANY);
    assert.deepEqual([reply.rcode, textsOf(reply), reply.packet.answers?.[0]?.type], [0, [], "HINFO"]);
  });
  it("comes before a wildcard, which gives way", async () => {
    assert.deepEqual(textsOf(await ask("_acme-challenge.wild")), ["from the authority's client"]);
    assert.deepEqual(textsOf(await ask("other.wild")), ["from the wildcard"]);
  });
  it("does not answer for names below it, nor with a dot inside a label", async () => {
    assert.equal((await ask("_acme-challenge.x.c")).rcode, 3);
    const question = Buffer.concat([
      Buffer.from([17]),
      Buffer.from("_acme-challenge.c"),
      ...Z.split(".").map((label) => Buffer.from([label.length, ...Buffer.from(label)])),
      Buffer.from([0, 0, 16, 0, 1]),
    ]);
    const reply = await askUdp(dns, { question });
    assert.deepEqual([reply.rcode, textsOf(reply)], [3, []]);
  });
});

describe("a challenge without values", () => {
  for (const label of ["chat", "front", "frankfurt.r", "sdk.front", "nope"]) {
    it(`at ${label} is NXDOMAIN`, async () => {
      const reply = await ask(`_acme-challenge.${label}`);
      assert.deepEqual([reply.rcode, reply.soa?.name, reply.scope], [3, Z, 0]);
    });
  }
  it("below c is no conversation: NXDOMAIN where a label would be answered with a region", async () => {
    await using empty = await startDns({ zone });
    const name = `_acme-challenge.c.${Z}`;
    for (const type of [TYPES.TXT, TYPES.A, TYPES.AAAA]) assert.equal((await askUdp(empty, { name, type })).rcode, 3);
    assert.equal((await askUdp(empty, { name: `x.c.${Z}`, type: TYPES.A })).rcode, 0);
  });
  it("is the wildcard's where there is one, and the other server's below a cut", async () => {
    assert.deepEqual(textsOf(await ask("_acme-challenge.other.wild")), ["from the wildcard"]);
    const reply = await ask("_acme-challenge.sub");
    assert.deepEqual([reply.rcode, reply.packet.flag_aa, reply.packet.authorities?.[0]?.type], [0, false, "NS"]);
  });
});

describe("an alias that leads to a challenge", () => {
  it("is given alone, so that whoever asks goes on to what stands there now", async () => {
    const reply = await ask("moved");
    assert.deepEqual([reply.rcode, reply.data, reply.soa], [0, [`_acme-challenge.c.${Z}`], null]);
  });
});

describe("names at which challenges can be answered", () => {
  const { pools, models, regions, defaultPool, frontAddresses: front } = aDnsSetting().options;
  const names = challengeNames({ zone, pools, models, regions, defaultPool, front });
  const has = (label: string): boolean => names.has(`_acme-challenge.${label}${label === "" ? "" : "."}${Z}`);

  it("are those in front of names that exist, also only because of others below them", () => {
    const wanted = [
      "",
      "chat",
      "c",
      "m",
      "r",
      "front",
      "chat.front",
      "frankfurt.r",
      "ns1",
      "wild",
      "tree",
      "deep.tree",
    ];
    assert.deepEqual(
      wanted.filter((label) => !has(label)),
      [],
    );
  });
  it("are not in front of names that do not exist, are given away, or have a record of the owner's there", () => {
    const refused = ["nope", "x.c", "sub", "ns.sub", "*.wild", "other.wild", "owned", "_acme-challenge.chat"];
    assert.deepEqual(refused.filter(has), []);
    assert.equal(names.has("_acme-challenge.example.org"), false);
  });
});
