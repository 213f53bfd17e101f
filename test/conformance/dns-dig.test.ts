/** The same server asked with dig: EDNS compliance as the ednscomp pages ask for it, and what operators will type. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { type RunningDns, startDns, ZONE } from "#test/support/dns-zone.ts";

const Z = ZONE.name;

describe("dig", () => {
  let dns: RunningDns;
  before(async () => {
    dns = await startDns({ whyAllow: ["127.0.0.0/8"] });
  });
  after(() => dns[Symbol.asyncDispose]());

  const dig = async (line: string): Promise<string> => {
    const at = [`@${dns.address}`, "-p", String(dns.port), "+tries=1", "+time=5"];
    return (await promisify(execFile)("dig", [...at, ...line.split(" ")])).stdout;
  };

  const CASES: readonly {
    readonly line: string;
    readonly has: readonly RegExp[];
    readonly lacks?: readonly RegExp[];
  }[] = [
    {
      line: `+nocookie +norec +noad +ednsopt=100 soa ${Z}`,
      has: [/status: NOERROR/, /EDNS: version: 0, flags:;/, /IN\s+SOA\s+ns1/],
      lacks: [/OPT=100/],
    },
    { line: `+nocookie +norec +noad +ednsflags=0x80 soa ${Z}`, has: [/status: NOERROR/], lacks: [/MBZ/] },
    {
      line: `+nocookie +norec +noad +edns=1 +noednsneg soa ${Z}`,
      has: [/status: BADVERS/, /EDNS: version: 0/, /ANSWER: 0/],
    },
    {
      line: `+nocookie +norec +noad +edns=1 +noednsneg +ednsopt=100 soa ${Z}`,
      has: [/status: BADVERS/, /EDNS: version: 0/],
      lacks: [/OPT=100/],
    },
    {
      line: `+nocookie +norec +noad +bufsize=512 +ignore many.${Z}`,
      has: [/flags: qr aa tc;/, /ANSWER: 0/, /EDNS: version: 0/],
    },
    {
      line: `+norec +noad +nsid +subnet=0.0.0.0/0 +expire +cookie=0102030405060708 soa ${Z}`,
      has: [/status: NOERROR/, /CLIENT-SUBNET: 0.0.0.0\/0\/0/],
    },
    {
      line: `+norec +noad +nsid +subnet=0.0.0.0/0 +expire +cookie=0102030405060708 +tcp soa ${Z}`,
      has: [/status: NOERROR/, /CLIENT-SUBNET: 0.0.0.0\/0\/0/],
    },
    { line: `+noedns +norec +header-only +opcode=15 ${Z}`, has: [/status: NOTIMP/] },
    { line: `+subnet=2001:db8:5::/56 chat.${Z}`, has: [/CLIENT-SUBNET: 2001:db8:5::\/56\/40/, /192\.0\.2\.30/] },
    { line: `+dnssec chat.${Z}`, has: [/flags: do;/] },
    { line: `axfr ${Z}`, has: [/Transfer failed/], lacks: [/IN\s+SOA/] },
    { line: "www.example.com", has: [/status: REFUSED/, /EDE: 20 \(Not Authoritative\)/] },
    { line: `+subnet=192.0.2.0/24 txt why.chat.${Z}`, has: [/"region=frankfurt"/, /"verdict=placed"/] },
  ];
  for (const { line, has, lacks = [] } of CASES) {
    it(`${line}`, async () => {
      const said = await dig(line);
      for (const pattern of has) assert.match(said, pattern);
      for (const pattern of lacks) assert.doesNotMatch(said, pattern);
      assert.doesNotMatch(said, /WARNING: (?!recursion requested)/);
      assert.doesNotMatch(said, /malformed|extra bytes|bad packet/i);
    });
  }
});
