import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isInZone, isReservedPoolName, SOA_TIMERS, type Zone, zoneFaults } from "#gtm/domain/zone.ts";

const zone = (wish: Partial<Zone> = {}): Zone => ({
  name: "gslb.example.org",
  ns: [
    { name: "ns1.gslb.example.org", ipv4: ["192.0.2.1"], ipv6: ["2001:db8::1"] },
    { name: "ns2.gslb.example.org", ipv4: ["192.0.2.2"], ipv6: [] },
  ],
  soa: { rname: "hostmaster.example.org", serial: 1, ...SOA_TIMERS },
  apexPool: null,
  records: [],
  ...wish,
});

describe("a zone that can be delegated", () => {
  it("has no faults", () => assert.deepEqual(zoneFaults(zone()), []));
  it("may have its name servers elsewhere, without addresses", () => {
    const ns = ["a.example.net", "b.example.net"].map((name) => ({ name, ipv4: [], ipv6: [] }));
    assert.deepEqual(zoneFaults(zone({ ns })), []);
  });
});

describe("a zone with a fault", () => {
  const server = (name: string, ipv4: readonly string[], ipv6: readonly string[] = []) => ({
    name: `${name}.gslb.example.org`,
    ipv4,
    ipv6,
  });
  const CASES: readonly { readonly when: string; readonly wish: Partial<Zone>; readonly says: RegExp }[] = [
    { when: "one name server", wish: { ns: [server("ns1", ["192.0.2.1"])] }, says: /two name servers, found 1/ },
    {
      when: "two name servers on one address",
      wish: { ns: [server("ns1", ["192.0.2.1"]), server("ns2", ["192.0.2.1"])] },
      says: /ns1\S* and ns2\S* share the address 192\.0\.2\.1/,
    },
    {
      when: "a lone IPv6 name server",
      wish: { ns: [server("ns1", ["192.0.2.1"]), server("ns2", [], ["2001:db8::2"])] },
      says: /ns2\S* has IPv6 addresses only/,
    },
    {
      when: "a name server of its own without an address",
      wish: { ns: [server("ns1", ["192.0.2.1"]), server("ns2", [])] },
      says: /ns2\S* lies in the zone and has no address/,
    },
    {
      when: "the same name server twice",
      wish: { ns: [server("ns1", ["192.0.2.1"]), server("ns1", ["192.0.2.2"])] },
      says: /share a name/,
    },
    { when: "a dot at the end of its name", wish: { name: "gslb.example.org." }, says: /without a dot at the end/ },
    { when: "upper case in its name", wish: { name: "GSLB.example.org" }, says: /lower-case/ },
    {
      when: "a name too long for labels in front",
      wish: { name: `${"a".repeat(60)}.`.repeat(3).slice(0, -1) },
      says: /at most 180/,
    },
  ];
  for (const { when, wish, says } of CASES) {
    it(`says so: ${when}`, () => assert.match(zoneFaults(zone(wish)).join("\n"), says));
  }
});

describe("names within a zone", () => {
  it("are its own and those below it, by whole labels", () => {
    const names = ["gslb.example.org", "a.b.gslb.example.org", "xgslb.example.org", "example.org"];
    assert.deepEqual(
      names.map((name) => isInZone(name, "gslb.example.org")),
      [true, true, false, false],
    );
  });
  it("are reserved where a pool would hide them", () => {
    const pools = ["c", "m", "r", "front", "why", "ns1", "nsx", "chat", "n", "cc"];
    assert.deepEqual(pools.filter(isReservedPoolName), ["c", "m", "r", "front", "why", "ns1", "nsx"]);
  });
});
