/** The owner's records where they meet what the GTM makes, each other, and the size of a datagram. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { RecordValue, ZoneRecord } from "#gtm/domain/zone-record.ts";
import { askTcp, askUdp, type Reply, subnetOption } from "#test/support/dns-client.ts";
import { startDns, ZONE } from "#test/support/dns-zone.ts";

const Z = ZONE.name;
const TXT = 16;
const record = (label: string, value: RecordValue): ZoneRecord => ({ name: `${label}.${Z}`, ttlSeconds: 300, value });
const alias = (label: string, target: string): ZoneRecord => record(label, { type: "CNAME", target: `${target}.${Z}` });
const startWith = (records: readonly ZoneRecord[]) => startDns({ zone: { ...ZONE, records } });

const shape = ({ octets, rcode }: Reply) => ({
  rcode,
  isTruncated: ((octets[2] ?? 0) & 2) !== 0,
  counts: [6, 8, 10].map((at) => octets.readUInt16BE(at)),
});

describe("aliases without an end", () => {
  it("that go in a circle are given eight times, and whoever asks goes on", async () => {
    await using dns = await startWith([alias("a", "b"), alias("b", "a"), alias("*.w", "x.w")]);
    for (const name of [`a.${Z}`, `y.w.${Z}`]) {
      assert.deepEqual(shape(await askUdp(dns, { name })), { rcode: 0, isTruncated: false, counts: [8, 0, 0] });
    }
  });
  it("that are many are followed for eight steps, and an address at the eighth is given", async () => {
    const chain = Array.from({ length: 9 }, (_, i) => alias(`a${i}`, `a${i + 1}`));
    await using dns = await startWith([...chain, record("a9", { type: "A", address: "192.0.2.9" })]);
    assert.deepEqual(shape(await askUdp(dns, { name: `a0.${Z}` })).counts, [8, 0, 0]);
    const { data } = await askUdp(dns, { name: `a1.${Z}` });
    assert.deepEqual([data.length, data.at(-1)], [9, "192.0.2.9"]);
  });
});

describe("a referral whose glue does not fit (RFC 9471)", () => {
  const hosts = Array.from({ length: 12 }, (_, i) => `ns${i}.sub`);
  const records = hosts.flatMap((host, i) => [
    record("sub", { type: "NS", host: `${host}.${Z}` }),
    record(host, { type: "A", address: `198.51.100.${i}` }),
    record(host, { type: "AAAA", address: `2001:db8::${i}` }),
  ]);
  it("is TC over UDP, for it would lead nowhere, and whole over TCP", async () => {
    await using dns = await startWith(records);
    const query = { name: `www.sub.${Z}`, opt: {} };
    assert.deepEqual(shape(await askUdp(dns, query)), { rcode: 0, isTruncated: true, counts: [0, 0, 1] });
    assert.deepEqual(shape(await askTcp(dns, query)), { rcode: 0, isTruncated: false, counts: [0, 12, 25] });
  });
});

describe("a name server that is the name given away", () => {
  it("is in the glue", async () => {
    await using dns = await startWith([
      record("sub", { type: "NS", host: `sub.${Z}` }),
      record("sub", { type: "A", address: "198.51.100.7" }),
    ]);
    assert.deepEqual(shape(await askUdp(dns, { name: `sub.${Z}` })), {
      rcode: 0,
      isTruncated: false,
      counts: [0, 1, 1],
    });
  });
});

describe("a wildcard for the whole zone", () => {
  const CASES: readonly (readonly [what: string, name: string, data: readonly string[] | "nxdomain"])[] = [
    ["is every name's that is not there", `nope.${Z}`, ["203.0.113.1"]],
    ["at any depth", `a.b.nope.${Z}`, ["203.0.113.1"]],
    ["not a pool's", `chat.${Z}`, ["192.0.2.10"]],
    ["nor of names below it", `x.chat.${Z}`, "nxdomain"],
    ["not a conversation's label", `abc.c.${Z}`, ["192.0.2.10"]],
    ["nor of names below that", `x.abc.c.${Z}`, "nxdomain"],
    ["not the models'", `no-such-model.m.${Z}`, "nxdomain"],
  ];
  for (const [what, name, data] of CASES) {
    it(what, async () => {
      await using dns = await startWith([record("*", { type: "A", address: "203.0.113.1" })]);
      const reply = await askUdp(dns, { name, opt: { options: subnetOption(1, 24, [192, 0, 2]) } });
      assert.deepEqual(reply.rcode === 3 ? "nxdomain" : reply.data, data);
    });
  }
});

describe("an inquiry (why.<name>)", () => {
  it("of a record that the owner keeps says that nothing is decided there", async () => {
    await using dns = await startDns({ whyAllow: ["127.0.0.0/8"] });
    const { data } = await askUdp(dns, { name: `why.host.${Z}`, type: TXT });
    assert.deepEqual(data, ["steered=no"]);
  });
  it("of what is given away is the other server's, as every name below the cut", async () => {
    await using dns = await startDns({ whyAllow: ["127.0.0.0/8"] });
    for (const name of [`why.sub.${Z}`, `why.www.sub.${Z}`]) {
      assert.deepEqual(shape(await askUdp(dns, { name, type: TXT })).counts, [0, 2, 2], name);
    }
  });
  it("is a wildcard's where it stands for the name and nobody may ask", async () => {
    await using dns = await startWith([record("*.chat", { type: "TXT", texts: ["wild"] })]);
    assert.deepEqual((await askUdp(dns, { name: `why.chat.${Z}`, type: TXT })).data, ["wild"]);
  });
});
