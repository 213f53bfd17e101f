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
      has: [/status: NOERROR/, /CLIENT-SUBNET: 0.0.0.0\/0\/0/, /COOKIE: 0102030405060708[0-9a-f]{32} \(good\)/],
    },
    {
      line: `+norec +noad +nsid +subnet=0.0.0.0/0 +expire +cookie=0102030405060708 +tcp soa ${Z}`,
      has: [/status: NOERROR/, /CLIENT-SUBNET: 0.0.0.0\/0\/0/, /COOKIE: 0102030405060708[0-9a-f]{32} \(good\)/],
    },
    {
      line: `+norec +nocookie alias.${Z}`,
      has: [/alias\S+\s+300\s+IN\s+CNAME\s+host/, /host\S+\s+300\s+IN\s+A\s+192\.0\.2\.61/],
    },
    { line: `+norec x.wild.${Z} txt`, has: [/x\.wild\.gslb\S+\s+300\s+IN\s+TXT\s+"wild"/] },
    { line: `+norec mail.${Z} mx`, has: [/MX\s+10 host\./, /MX\s+20 mx\.example\.net\./, /ADDITIONAL: 2/] },
    { line: `+norec no-mail.${Z} mx`, has: [/MX\s+0 \.\n/] },
    { line: `+norec ${Z} caa`, has: [/CAA\s+0 issue "ca\.example\.net"/, /CAA\s+128 issuewild ";"/] },
    { line: `+norec _sip._tcp.${Z} srv`, has: [/SRV\s+1 2 5060 host\./] },
    {
      line: `+norec www.sub.${Z}`,
      has: [/flags: qr;/, /ANSWER: 0, AUTHORITY: 2, ADDITIONAL: 3/, /ns1\.sub\S+\s+300\s+IN\s+AAAA\s+2001:db8::53/],
    },
    { line: `+norec +tcp long.${Z} txt`, has: [/TXT\s+"[a-j]{255}" "[a-j]{255}" "[a-j]{90}"\n/] },
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
