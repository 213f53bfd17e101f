/** What a zone's owner may keep in it, and what is refused before it is served. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { SOA_TIMERS, type Zone } from "#gtm/domain/zone.ts";
import type { RecordValue, ZoneRecord } from "#gtm/domain/zone-record.ts";
import { zoneRecordsFaults } from "#gtm/domain/zone-records-faults.ts";
import { RECORDS } from "#test/support/dns-records.ts";

const Z = "gslb.example.org";
const ZONE: Zone = {
  name: Z,
  ns: [
    { name: `ns1.${Z}`, ipv4: ["198.51.100.1"], ipv6: [] },
    { name: `a.dns.${Z}`, ipv4: ["198.51.100.2"], ipv6: [] },
  ],
  soa: { rname: "hostmaster.example.org", serial: 1, ...SOA_TIMERS },
  apexPool: null,
  records: [],
};
const faultsOf = (records: readonly ZoneRecord[]) =>
  zoneRecordsFaults({ zone: { ...ZONE, records }, pools: ["chat"] }).map(({ at, message }) => `${at}: ${message}`);

const at = (name: string, value: RecordValue, ttlSeconds = 300): ZoneRecord => ({ name, ttlSeconds, value });
const a = (name: string, address = "192.0.2.1", ttlSeconds = 300) => at(name, { type: "A", address }, ttlSeconds);
const text = (name: string, ...texts: readonly string[]) => at(name, { type: "TXT", texts });
const alias = (name: string, target: string) => at(name, { type: "CNAME", target });
const ns = (name: string, host: string) => at(name, { type: "NS", host });
const mx = (name: string, exchange: string) => at(name, { type: "MX", preference: 1, exchange });

describe("records that can be served", () => {
  it("are those of the conformance table", () => assert.deepEqual(faultsOf(RECORDS), []));
  it("may stand at a pool's name and at the zone's, where they are no addresses", () =>
    assert.deepEqual(faultsOf([text(`chat.${Z}`, "x"), mx(`chat.${Z}`, "mx.example.net"), mx(Z, ".")]), []));
  it("may name a server of the zone itself for what is given away", () =>
    assert.deepEqual(faultsOf([ns(`sub.${Z}`, `ns1.${Z}`)]), []));
  it("may have the cut's own name for a server, with its address", () =>
    assert.deepEqual(faultsOf([ns(`sub.${Z}`, `sub.${Z}`), a(`sub.${Z}`)]), []));
});

describe("records that are refused", () => {
  const CASES: readonly { readonly when: string; readonly records: readonly ZoneRecord[]; readonly says: RegExp }[] = [
    { when: "outside the zone", records: [a("www")], says: /^0: www lies outside the zone gslb/ },
    { when: "the trailing dot", records: [a(`www.${Z}.`)], says: /^0: "www\S*" is no name: .*without a dot/ },
    { when: "upper case", records: [a(`WWW.${Z}`)], says: /^0: "WWW\S*" is no name: lower-case/ },
    { when: "an asterisk that is not the first label", records: [a(`x.*.${Z}`)], says: /is no name/ },
    { when: "a name too long", records: [a(`${"a".repeat(60)}.`.repeat(4) + Z)], says: /is no name/ },
    {
      when: "a target with a dot at its end",
      records: [alias(`a.${Z}`, "b.example.net.")],
      says: /points to "b\S*", which is no/,
    },
    {
      when: "the root as an alias's target",
      records: [alias(`a.${Z}`, ".")],
      says: /points to "\.", which is no name/,
    },
    { when: "a TTL of more than a week", records: [a(`a.${Z}`, "192.0.2.1", 604_801)], says: /TTL of 604801 s: whole/ },
    { when: "a TTL of half a second", records: [a(`a.${Z}`, "192.0.2.1", 0.5)], says: /TTL of 0\.5 s: whole seconds/ },
    { when: "the same record twice", records: [a(`a.${Z}`), a(`a.${Z}`)], says: /^1: a\S* has this A record already$/ },
    {
      when: "two TTLs in one set (RFC 2181 §5.2)",
      records: [a(`a.${Z}`), text(`a.${Z}`, "x"), a(`a.${Z}`, "192.0.2.2", 60)],
      says: /^2: a\S* has A records with TTLs of 300 s and 60 s/,
    },
    {
      when: "a set that no message holds",
      records: [text(`a.${Z}`, "x".repeat(16_384)), text(`a.${Z}`, "y".repeat(16_384)), text(`a.${Z}`, "z")],
      says: /^1: a\S* has more than 32768 octets of TXT records$/,
    },
    {
      when: "an alias beside others",
      records: [alias(`a.${Z}`, `b.${Z}`), text(`a.${Z}`, "x")],
      says: /^0: a\S* is an alias and has other/,
    },
    {
      when: "two aliases",
      records: [alias(`a.${Z}`, "b.example.net"), alias(`a.${Z}`, "c.example.net")],
      says: /^0: .*\n1: /,
    },
    { when: "an alias at the zone's top", records: [alias(Z, "b.example.net")], says: /top, which cannot be an alias/ },
    { when: "an alias of itself", records: [alias(`a.${Z}`, `a.${Z}`)], says: /leads back to itself/ },
    {
      when: "aliases in a circle",
      records: [alias(`a.${Z}`, `b.${Z}`), alias(`b.${Z}`, `a.${Z}`), alias(`d.${Z}`, `a.${Z}`)],
      says: /^0: a\S* is an alias that leads back to itself\n1: b\S* is an alias that leads back to itself$/,
    },
    {
      when: "an alias at a pool's name",
      records: [alias(`chat.${Z}`, "b.example.net")],
      says: /is a pool's name, which is steered/,
    },
    {
      when: "an address at a pool's name",
      records: [a(`chat.${Z}`)],
      says: /a pool's name, which is steered: A cannot/,
    },
    { when: "an address at the zone's top", records: [a(Z)], says: /is the zone's top/ },
    {
      when: "an address at a name server",
      records: [a(`ns1.${Z}`)],
      says: /is a name server, whose addresses stand in dns\.ns/,
    },
    { when: "NS at the zone's top", records: [ns(Z, "ns.example.net")], says: /is the zone's top/ },
    { when: "an address of a region", records: [a(`eu.r.${Z}`)], says: /among the names that the GTM makes in r\./ },
    { when: "an alias of the front", records: [alias(`front.${Z}`, "b.example.net")], says: /GTM makes in front\./ },
    { when: "models given away", records: [ns(`m.${Z}`, "ns.example.net")], says: /GTM makes in m\./ },
    { when: "a text at a label", records: [text(`abc.c.${Z}`, "x")], says: /would hide a conversation's label/ },
    { when: "a text below a label", records: [text(`_x.abc.c.${Z}`, "x")], says: /would hide a conversation's label/ },
    {
      when: "a wildcard among the labels",
      records: [text(`*.c.${Z}`, "x")],
      says: /would hide a conversation's label/,
    },
    { when: "why", records: [text(`why.chat.${Z}`, "x")], says: /begins with "why"/ },
    { when: "a wildcard given away", records: [ns(`*.sub.${Z}`, "ns.example.net")], says: /a wildcard has no NS/ },
    {
      when: "the zone's own name server below a cut",
      records: [ns(`dns.${Z}`, "ns.example.net")],
      says: /a name server of the zone itself lies below it/,
    },
    {
      when: "data at a cut",
      records: [ns(`sub.${Z}`, "ns.example.net"), text(`sub.${Z}`, "x")],
      says: /^1: sub\S* is given away by sub\S* NS: only addresses/,
    },
    {
      when: "data below a cut, also where a deeper one is given away",
      records: [ns(`sub.${Z}`, "ns.example.net"), a(`www.sub.${Z}`), ns(`x.sub.${Z}`, "ns.example.net")],
      says: /^1: www.*\n2: x\.sub\S* is given away by sub\./,
    },
    {
      when: "a name server here without an address",
      records: [ns(`sub.${Z}`, `ns1.sub.${Z}`)],
      says: /give it an A or AAAA record/,
    },
    { when: "a pool as name server", records: [ns(`sub.${Z}`, `chat.${Z}`)], says: /give it an A or AAAA record/ },
    {
      when: "mail to an alias (RFC 2181 §10.3)",
      records: [mx(`a.${Z}`, `b.${Z}`), alias(`b.${Z}`, "c.example.net")],
      says: /^0: .*which is an alias/,
    },
  ];
  for (const { when, records, says } of CASES) {
    it(`say why: ${when}`, () => assert.match(faultsOf(records).join("\n"), says));
  }
});
