/** The listing of the zone against what the server answers over its sockets: every name that is listed is answered so. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createZones } from "#gtm/start-zones.ts";
import { type ListedRecord, zoneListing } from "#gtm/wire/dns/zone-listing.ts";
import { systemClock } from "#shared/clock.ts";
import { MODEL } from "#test/support/builders.ts";
import { askTcp } from "#test/support/dns-client.ts";
import { CHAT, CODER, POOLS, REGIONS, startDns, ZONE } from "#test/support/dns-zone.ts";
import { startKnot } from "#test/support/knot.ts";

const model = { aliases: [], weightBytes: null, coldStartMs: null };
const CONTENTS = {
  ...{
    zone: ZONE,
    defaultPool: CHAT,
    pools: POOLS,
    models: [
      { ...model, id: MODEL },
      { ...model, id: CODER },
    ],
  },
  ...{ regions: REGIONS, front: { ipv4: ["198.51.100.1"], ipv6: [] }, hasWhy: true },
};
const LISTED = zoneListing(CONTENTS);
const find = (name: string, type: string): ListedRecord => {
  const found = LISTED.find((one) => one.name === name && one.type === type);
  assert.ok(found !== undefined, `${name} ${type} is not listed`);
  return found;
};

describe("the listing of a zone", () => {
  it("begins with the zone itself, SOA first, and has every kind", () => {
    assert.deepEqual([LISTED[0]?.name, LISTED[0]?.type], ["gslb.example.org", "SOA"]);
    const kinds = new Set(LISTED.map(({ kind }) => kind));
    assert.deepEqual([...kinds].sort(), [
      "delegated",
      "front",
      "label",
      "model",
      "pool",
      "region",
      "static",
      "why",
      "zone",
    ]);
  });
  it("writes values as zone files do", () => {
    assert.deepEqual(find("host.gslb.example.org", "TXT").values, ['"first string" "second string"']);
    assert.deepEqual(find("gslb.example.org", "CAA").values, ['0 issue "ca.example.net"', '128 issuewild ";"']);
    assert.deepEqual(find("mail.gslb.example.org", "MX").values, ["10 host.gslb.example.org.", "20 mx.example.net."]);
    assert.deepEqual(find("_sip._tcp.gslb.example.org", "SRV").values, ["1 2 5060 host.gslb.example.org."]);
    assert.match(
      find("gslb.example.org", "SOA").values[0] ?? "",
      /^ns1\.gslb\.example\.org\. hostmaster\.example\.org\. 7 /,
    );
  });
  it("tells of a steered name who decides, among which regions, and nothing of a TTL", () => {
    assert.deepEqual(find("chat.gslb.example.org", "AAAA"), {
      ...{ name: "chat.gslb.example.org", kind: "pool", type: "AAAA", ttlSeconds: null, values: [] },
      steered: { pool: "chat", model: null, family: "ipv6" },
      how: "By the client's network and what regions report, one of frankfurt, virginia.",
    });
    assert.equal(find("qwen-qwen3-coder.m.gslb.example.org", "A").steered?.model, CODER);
    assert.equal(
      LISTED.some(({ name, type }) => name === "asia.gslb.example.org" && type === "AAAA"),
      false,
    );
  });
  it("is what the server answers: each fixed set with its values and its TTL", async () => {
    await using server = await startDns({ frontAddresses: CONTENTS.front });
    const fixed = LISTED.filter(
      ({ name, kind, ttlSeconds }) => kind !== "delegated" && ttlSeconds !== null && isAsked(name),
    );
    for (const { name, type, ttlSeconds, values } of fixed) {
      const { rcode, answers } = await ask(server, name, type);
      const own = answers.filter((one) => codeOf(one.type) === codeOf(type));
      assert.deepEqual([rcode, own.length, own[0]?.ttl], [0, values.length, ttlSeconds], `${name} ${type}`);
    }
    assert.ok(fixed.length > 40, `asked ${fixed.length}`);
  });
  it("is what the server answers: each steered name with some addresses, for 20 s at most, but where it says otherwise", async () => {
    await using server = await startDns();
    const steered = LISTED.filter(({ kind, name }) => (kind === "pool" || kind === "model") && isAsked(name));
    const without: string[] = [];
    for (const { name, type, ttlSeconds } of steered.filter((one) => one.ttlSeconds === null)) {
      const { answers } = await ask(server, name, type);
      if (answers.length === 0) without.push(`${name} ${type} ${ttlSeconds}`);
      assert.ok(
        answers.every(({ ttl }) => ttl <= 20),
        `${name} ${type}`,
      );
    }
    // Where data residency leaves no region nobody is served; the spare pool has IPv6 in its last resort alone.
    assert.deepEqual(without, ["spare.gslb.example.org AAAA null", "strict.gslb.example.org A null"]);
    assert.match(find("spare.gslb.example.org", "AAAA").how ?? "", /^Only while no region serves/);
  });
});

describe("a check of the delegation by a running GTM", () => {
  it("asks the real parent, once for all who ask meanwhile, and says which line mends what is missing", async () => {
    await using server = await startDns();
    const zone = { ...ZONE, ns: ZONE.ns.map((one) => ({ ...one, ipv4: ["127.0.0.1"], ipv6: [] })) };
    const lines = [
      "example.org. 3600 IN SOA ns.example.org. hostmaster.example.org. 1 14400 3600 604800 300",
      "example.org. 3600 IN NS ns.example.org.",
      "ns.example.org. 3600 IN A 127.0.0.1",
      "gslb.example.org. 3600 IN NS ns1.gslb.example.org.",
      "ns1.gslb.example.org. 3600 IN A 127.0.0.1",
    ];
    await using parent = await startKnot("example.org", `${lines.join("\n")}\n`, "off");
    const config = { dns: { zone, defaultPool: CHAT, whyAllow: [] }, pools: POOLS, models: [], sites: REGIONS };
    const zones = createZones({
      config: () => ({ ...config, http: { addresses: CONTENTS.front } }) as never,
      ...{ clock: systemClock, parents: [parent], port: server.port },
    });
    assert.equal(zones.checked(zone.name), null);
    const [first, second] = await Promise.all([zones.check(zone.name), zones.check(zone.name)]);
    assert.equal(first, second);
    const missing = first.findings.find(({ id }) => id === "ns-missing");
    assert.deepEqual(
      [missing?.subject, missing?.severity, missing?.remedy],
      [
        "parent zone",
        "problem",
        "Add to the parent zone: gslb.example.org. 3600 IN NS ns2.gslb.example.org.; ns2.gslb.example.org. 3600 IN A 127.0.0.1",
      ],
    );
    assert.equal(zones.checked(zone.name), first);
    assert.equal(await zones.check(zone.name), first, "within 5 s nobody is asked again");
    assert.equal(zones.isChecking(zone.name), false);
    assert.equal(zones.records("example.org"), null);
  });
});

const CODES: Readonly<Record<string, number>> = {
  ...{ A: 1, NS: 2, CNAME: 5, SOA: 6, MX: 15, TXT: 16, AAAA: 28, SRV: 33, HTTPS: 65, CAA: 257 },
};

const codeOf = (type: string): string => String(CODES[type] ?? type);
/** Wildcards, labels and inquiries stand for names without end. */
const isAsked = (name: string): boolean => !name.startsWith("*.") && !name.includes("<");

const ask = async (server: { readonly address: string; readonly port: number }, name: string, type: string) => {
  const { rcode, packet } = await askTcp(server, { name, type: CODES[type] ?? 0 });
  const answers = (packet.answers ?? []) as readonly { readonly type: string; readonly ttl: number }[];
  return { rcode, answers };
};
