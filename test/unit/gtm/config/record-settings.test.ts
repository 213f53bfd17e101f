/** Records and TLS protocols as the configuration writes them, and where its faults are told. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { httpsWarnings } from "#gtm/config/https-warnings.ts";
import { parseGtmConfig } from "#gtm/config.ts";
import { OperationalError } from "#shared/errors.ts";

const EXAMPLE = readFileSync("deploy/config/gtm.yaml", "utf8");
const Z = "llm.example.com";

/** The example with these lines of `dns.records`, and this region's endpoint instead of the second's. */
const parse = (records: readonly string[], endpoint = "{ a: [192.0.2.20] }") => {
  const why = "  why: { allow: [] }\n";
  assert.ok(EXAMPLE.includes(why) && EXAMPLE.includes("endpoint: { a: [192.0.2.20] }"));
  const lines = records.map((line) => `    - { ${line} }\n`).join("");
  const text = EXAMPLE.replace(why, `${why}  records:${lines === "" ? " []\n" : `\n${lines}`}`);
  return parseGtmConfig(text.replace("endpoint: { a: [192.0.2.20] }", `endpoint: ${endpoint}`), "gtm.yaml", {});
};
const faultsIn = (records: readonly string[], endpoint?: string): string => {
  try {
    parse(records, endpoint);
  } catch (error) {
    assert.ok(error instanceof OperationalError && error.code === "GTM_CONFIG_INVALID");
    return error.message;
  }
  return "";
};

describe("the records of the example", () => {
  it("can be used once their # is taken away", () => {
    const shown = /^ {2}# (records:)$((?:\n {2}# {3}.*)+)/m.exec(EXAMPLE);
    const lines = [...(shown?.[2] ?? "").matchAll(/^ {2}# {3}- \{ (.*) \}/gm)].map(([, line = ""]) => line);
    assert.equal(parse(lines).dns.zone.records.length, 9);
  });
});

describe("records in the configuration", () => {
  it("are none by default", () => {
    assert.deepEqual(parseGtmConfig(EXAMPLE, "gtm.yaml", {}).dns.zone.records, []);
  });
  it("are of every kind, five minutes unless they say otherwise", () => {
    const { records } = parse([
      `name: www.${Z}, type: A, address: 192.0.2.80`,
      `name: www.${Z}, type: AAAA, address: "2001:db8::80", ttl: 1h`,
      `name: docs.${Z}, type: CNAME, target: docs.example.net`,
      `name: "*.dev.${Z}", type: A, address: 192.0.2.81`,
      `name: ${Z}, type: TXT, texts: ["v=spf1 -all"]`,
      `name: ${Z}, type: MX, preference: 0, exchange: "."`,
      `name: ${Z}, type: CAA, tag: issue, value: ca.example.net`,
      `name: _sip._tcp.${Z}, type: SRV, priority: 1, weight: 2, port: 5060, target: www.${Z}`,
      `name: lab.${Z}, type: NS, host: ns.example.net`,
    ]).dns.zone;
    assert.deepEqual(
      records.map(({ ttlSeconds, value }) => [ttlSeconds, value]),
      [
        [300, { type: "A", address: "192.0.2.80" }],
        [3_600, { type: "AAAA", address: "2001:db8::80" }],
        [300, { type: "CNAME", target: "docs.example.net" }],
        [300, { type: "A", address: "192.0.2.81" }],
        [300, { type: "TXT", texts: ["v=spf1 -all"] }],
        [300, { type: "MX", preference: 0, exchange: "." }],
        [300, { type: "CAA", flags: 0, tag: "issue", value: "ca.example.net" }],
        [300, { type: "SRV", priority: 1, weight: 2, port: 5_060, target: `www.${Z}` }],
        [300, { type: "NS", host: "ns.example.net" }],
      ],
    );
  });

  const CASES: readonly { readonly what: string; readonly line: string; readonly says: RegExp }[] = [
    {
      what: "a name that is not whole",
      line: "name: www, type: A, address: 192.0.2.1",
      says: /dns\.records\[0\]: www lies outside the zone/,
    },
    {
      what: "a pool's name",
      line: `name: chat.${Z}, type: A, address: 192.0.2.1`,
      says: /dns\.records\[0\]: chat\S* is a pool's name/,
    },
    {
      what: "no address",
      line: `name: a.${Z}, type: A, address: "2001:db8::1"`,
      says: /dns\.records\[0\]\.address: must be an IPv4/,
    },
    {
      what: "a zone index",
      line: `name: a.${Z}, type: AAAA, address: "fe80::1%eth0"`,
      says: /\.address: must be an IPv6/,
    },
    {
      what: "a type that is not served",
      line: `name: a.${Z}, type: PTR, target: a.example.net`,
      says: /dns\.records\[0\]\.type: /,
    },
    { what: "a key of another type", line: `name: a.${Z}, type: A, address: 192.0.2.1, target: b`, says: /target/ },
    {
      what: "a number for a TTL",
      line: `name: a.${Z}, type: A, address: 192.0.2.1, ttl: 300`,
      says: /\.ttl: must be a duration/,
    },
    {
      what: "a TTL that is too long",
      line: `name: a.${Z}, type: A, address: 192.0.2.1, ttl: 8d`,
      says: /TTL of 691200 s/,
    },
  ];
  for (const { what, line, says } of CASES) {
    it(`are refused, with their place: ${what}`, () => assert.match(faultsIn([line]), says));
  }
});

describe("what a region speaks over TLS", () => {
  it("is kept in the order in which it is written, and nothing by default", () => {
    const { sites } = parse([], "{ a: [192.0.2.20], alpn: [h2, http/1.1] }");
    assert.deepEqual(
      sites.map(({ alpn }) => alpn),
      [[], ["h2", "http/1.1"]],
    );
  });
  it("is warned of where only some regions of a pool say it", () => {
    const warningsOf = (endpoint: string) => {
      const { pools, sites } = parse([], endpoint);
      return httpsWarnings(pools, sites);
    };
    const [warning = "", ...more] = warningsOf("{ a: [192.0.2.20], alpn: [h2] }");
    assert.match(warning, /^pool chat has no HTTPS records: .* not for eu-central$/);
    assert.deepEqual([more, warningsOf("{ a: [192.0.2.20] }")], [[], []]);
  });
  it("is refused beside a url without TLS, where it is unknown, and twice", () => {
    assert.match(faultsIn([], '{ url: "http://a.example.org", a: [192.0.2.20], alpn: [h2] }'), /spoken over TLS/);
    assert.match(faultsIn([], "{ a: [192.0.2.20], alpn: [spdy] }"), /regions\[1\]\.endpoint\.alpn\[0\]: /);
    assert.match(faultsIn([], "{ a: [192.0.2.20], alpn: [h2, h2] }"), /one alpn twice/);
  });
});
