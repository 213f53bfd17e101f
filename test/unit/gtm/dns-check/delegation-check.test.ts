/** A delegation as a parent, a resolver and name servers describe it, each fault with what mends it. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Asked } from "#gtm/dns-check/ask.ts";
import { checkDelegation } from "#gtm/dns-check/delegation-check.ts";
import type { Query } from "#gtm/dns-check/message.ts";
import { UNKNOWN_OPTION } from "#gtm/dns-check/opt.ts";
import type { NameResolver } from "#gtm/dns-check/resolver.ts";
import { SOA_TIMERS, type Zone } from "#gtm/domain/zone.ts";
import { anOpt, aRecord, aReply, askOf, noAnswer } from "#test/support/dns-replies.ts";

const ZONE: Zone = {
  name: "llm.example.com",
  ns: [
    { name: "ns1.llm.example.com", ipv4: ["198.51.100.1"], ipv6: ["2001:db8::53"] },
    { name: "gtm.example.net", ipv4: ["198.51.100.2"], ipv6: [] },
  ],
  soa: { rname: "hostmaster.example.com", serial: 7, ...SOA_TIMERS },
  apexPool: null,
  records: [],
};
const PARENT = "192.0.2.53";
const { name } = ZONE;
const SOA = "ns1.llm.example.com hostmaster.example.com 7 14400 3600 604800 30";
const NS = [aRecord(name, "NS", "ns1.llm.example.com"), aRecord(name, "NS", "gtm.example.net")];
const GLUE = [
  aRecord("ns1.llm.example.com", "A", "198.51.100.1"),
  aRecord("ns1.llm.example.com", "AAAA", "2001:db8::53"),
];
const referral = aReply({ isAuthoritative: false, authority: NS, additional: GLUE });

const sound = ({ name: asked, type, opt }: Query): Asked => {
  if (opt?.version === 1) return aReply({ rcode: 16, opt: anOpt({ extendedRcode: 1 }) });
  const own = opt === null ? null : anOpt({ subnet: opt.subnet === null ? null : { sourceBits: 24, scopeBits: 20 } });
  if (asked === name) return aReply({ answers: type === "NS" ? NS : [aRecord(name, "SOA", SOA)], opt: own });
  return aReply({ answers: GLUE.filter((one) => one.name === asked && one.type === type), opt: own });
};
const RESOLVER: NameResolver = {
  nameServers: async (zone) => ({ kind: "found", value: zone === "com" ? ["a.nic.example"] : [] }),
  addresses: async (host) => ({
    kind: "found",
    value: { A: [host === "a.nic.example" ? PARENT : "198.51.100.2"], AAAA: [], alias: null },
  }),
};

type Wish = {
  readonly parent?: Asked;
  readonly server?: (address: string, query: Query) => Asked;
  readonly resolver?: Partial<NameResolver>;
  readonly isParentNamed?: boolean;
};
const check = async ({
  parent = referral,
  server = (_, query) => sound(query),
  resolver = {},
  isParentNamed,
}: Wish) => {
  const { ask, asked } = askOf((address, query) => (address === PARENT ? parent : server(address, query)));
  const parents = isParentNamed === false ? null : [{ address: PARENT, port: 53 }];
  const examined = await checkDelegation(
    { zone: ZONE, steeredName: `chat.${name}`, parents, port: 53 },
    { ask, resolver: { ...RESOLVER, ...resolver } },
  );
  const findings = examined.flatMap((one) => one.findings);
  return { asked, findings, amiss: findings.filter(({ severity }) => severity !== "ok") };
};

describe("a delegation", () => {
  it("that is as it should be has nothing amiss, also where the parent is found two labels further up", async () => {
    const { amiss, asked, findings } = await check({ isParentNamed: false });
    assert.deepEqual(amiss, []);
    assert.equal(findings.length, 5);
    assert.ok(asked.includes(`${PARENT} ${name} NS udp`));
  });

  type Case = {
    readonly when: string;
    readonly wish: Wish;
    readonly found: readonly string[];
    readonly remedy: RegExp;
  };
  const swap = (query: Query, asked: Partial<Query>, reply: Asked): Asked =>
    Object.entries(asked).every(([key, value]) => query[key as keyof Query] === value) ? reply : sound(query);
  const cases: readonly Case[] = [
    {
      when: "the parent's server is authoritative for the zone itself",
      wish: { parent: aReply({ answers: NS, additional: GLUE }) },
      found: ["warning parent-serves-zone"],
      remedy: /^Take the zone llm\.example\.com off that server/,
    },
    {
      when: "the referral is cut short",
      wish: { parent: aReply({ isAuthoritative: false, isTruncated: true, authority: NS, additional: GLUE }) },
      found: ["warning referral-large"],
      remedy: /fewer name servers/,
    },
    {
      when: "the parent's server refers to the root",
      wish: { parent: aReply({ isAuthoritative: false, authority: [aRecord("", "NS", "a.root-servers.net")] }) },
      found: ["warning parent-lame"],
      remedy: /--parent/,
    },
    {
      when: "the parent does not know the name",
      wish: { parent: aReply({ rcode: 3 }) },
      found: ["problem delegation-missing"],
      remedy: /3600 IN NS gtm\.example\.net\.; .*IN AAAA 2001:db8::53$/,
    },
    {
      when: "IPv6 glue is another",
      wish: {
        parent: aReply({
          ...{ isAuthoritative: false, authority: NS },
          additional: [...GLUE.slice(0, 1), aRecord("ns1.llm.example.com", "AAAA", "2001:db8::54", 600)],
        }),
      },
      found: ["problem glue-wrong"],
      remedy: /remove ns1\S+ 600 IN AAAA 2001:db8::54; add ns1\S+ 600 IN AAAA 2001:db8::53$/,
    },
    {
      when: "the host's resolver does not say who serves the zone above",
      wish: { isParentNamed: false, resolver: { nameServers: async () => ({ kind: "unknown", why: "it is away" }) } },
      found: ["problem parent-unknown"],
      remedy: /--parent ADDRESS/,
    },
    {
      when: "a name server outside has no address",
      wish: { resolver: { addresses: async () => ({ kind: "none" }) } },
      found: ["problem ns-unresolved"],
      remedy: /^Add gtm\.example\.net\. IN A 198\.51\.100\.2 to the zone/,
    },
    {
      when: "a name server outside is an alias",
      wish: {
        resolver: {
          addresses: async () => ({ kind: "found", value: { A: ["198.51.100.2"], AAAA: [], alias: "x.example.net" } }),
        },
      },
      found: ["problem ns-alias"],
      remedy: /RFC 2181/,
    },
    {
      when: "a name server outside is elsewhere",
      wish: {
        resolver: { addresses: async () => ({ kind: "found", value: { A: ["198.51.100.3"], AAAA: [], alias: null } }) },
      },
      found: ["problem ns-address-differs"],
      remedy: /^Set a: \[198\.51\.100\.3\] for gtm\.example\.net in dns\.ns/,
    },
    {
      when: "this host has no IPv6",
      wish: {
        server: (address, query) =>
          address.includes(":") ? noAnswer("this host has no way there", true) : sound(query),
      },
      found: ["unknown server-not-asked"],
      remedy: /has IPv6/,
    },
    {
      when: "a name server answers without authority",
      wish: { server: (_, query) => swap(query, { type: "SOA", opt: null }, aReply({ isAuthoritative: false })) },
      found: ["problem server-lame"],
      remedy: /dns\.zone: llm\.example\.com/,
    },
    {
      when: "a name server sends back what it does not know",
      wish: {
        server: (_, query) =>
          query.opt?.withUnknownOption === true
            ? aReply({ answers: [aRecord(name, "SOA", SOA)], opt: anOpt({ optionCodes: [UNKNOWN_OPTION] }) })
            : sound(query),
      },
      found: ["problem edns-option"],
      remedy: /firewall/,
    },
    {
      when: "a name server says another address of itself",
      wish: {
        server: (address, query) =>
          address === "198.51.100.2"
            ? swap(
                query,
                { name: "ns1.llm.example.com", type: "A" },
                aReply({ answers: [aRecord("ns1.llm.example.com", "A", "198.51.100.7")] }),
              )
            : sound(query),
      },
      found: ["problem ns-address-differs"],
      remedy: /^Set a: \[198\.51\.100\.1\] for ns1\.llm\.example\.com in dns\.ns there/,
    },
    {
      when: "name servers keep NS for different times",
      wish: {
        server: (address, query) =>
          address === "198.51.100.2"
            ? swap(query, { name, type: "NS" }, aReply({ answers: NS.map((one) => ({ ...one, ttlSeconds: 60 })) }))
            : sound(query),
      },
      found: ["problem ns-ttl-differs"],
      remedy: /same dns section/,
    },
  ];
  for (const { when, wish, found, remedy } of cases) {
    it(`has ${found.join(", ")} when ${when}`, async () => {
      const { amiss } = await check(wish);
      assert.deepEqual([...new Set(amiss.map(({ severity, id }) => `${severity} ${id}`))], found);
      assert.match(amiss[0]?.remedy ?? "", remedy);
    });
  }
});
