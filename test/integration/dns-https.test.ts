/** HTTPS records (RFC 9460), read by dig and kdig: dns-packet does not know them. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { aDnsSetting, type DnsWish, POOLS, type RunningDns, startDns, ZONE } from "#test/support/dns-zone.ts";

const Z = ZONE.name;
const FRANKFURT = "192.0.2.0/24";
const VIRGINIA = "198.51.100.0/24";
const WEB = POOLS.find(({ name }) => name === "web") ?? POOLS[0];
if (WEB === undefined) throw new Error("the zone has a pool called web");

const run = promisify(execFile);

/** The answer section's lines, in the one form that both programs write. */
const ask = async (program: "dig" | "kdig", dns: RunningDns, name: string, subnet: string) => {
  const options = ["+norec", `+subnet=${subnet}`, "+noall", "+answer"];
  const args = [`@${dns.address}`, "-p", String(dns.port), ...options, name, "HTTPS"];
  const { stdout } = await run(program, args);
  return stdout.split("\n").flatMap((line) => {
    const [, ttl, data] = /^\S+\s+(\d+)\s+IN\s+HTTPS\s+(.*)$/.exec(line) ?? [];
    return data === undefined ? [] : [`${ttl} ${data.replaceAll('"', "")}`];
  });
};
const askBoth = async (dns: RunningDns, name: string, subnet = FRANKFURT): Promise<readonly string[]> => {
  const read = await ask("dig", dns, name, subnet);
  assert.deepEqual(await ask("kdig", dns, name, subnet), read, "kdig reads what dig reads");
  return read;
};

const IN_FRANKFURT = "1 . alpn=h2,http/1.1 ipv4hint=192.0.2.10 ipv6hint=2001:db8:10::10";
/** Does not speak http/1.1, which clients would assume, nor on port 443. */
const IN_VIRGINIA = "1 . alpn=h2 no-default-alpn port=8443 ipv4hint=192.0.2.20 ipv6hint=2001:db8:20::20";

describe("HTTPS of a pool whose regions all say what they speak over TLS", () => {
  it("leads where A leads, with that region's protocols, port and addresses, for as long", async () => {
    await using dns = await startDns();
    assert.deepEqual(await askBoth(dns, `web.${Z}`), [`20 ${IN_FRANKFURT}`]);
    assert.deepEqual(await askBoth(dns, `web.${Z}`, VIRGINIA), [`20 ${IN_VIRGINIA}`]);
  });

  it("is the same decision as A: recorded once, counted for both, with one scope", async () => {
    await using dns = await startDns();
    const args = [`@${dns.address}`, "-p", String(dns.port), "+norec", `+subnet=${VIRGINIA}`];
    const { stdout } = await run("dig", [...args, `web.${Z}`, "A", ...args, `web.${Z}`, "HTTPS"]);
    assert.equal(stdout.match(/CLIENT-SUBNET: 198\.51\.100\.0\/24\/22/g)?.length, 2);
    assert.deepEqual(
      dns.entries.map(({ decision, answered }) => [decision.verdict.kind, answered.value]),
      [["placed", 2]],
    );
  });

  it("follows a region that goes down", async () => {
    await using dns = await startDns();
    assert.deepEqual(await askBoth(dns, `web.${Z}`), [`20 ${IN_FRANKFURT}`]);
    dns.setRegions((region) => (region.id === "frankfurt" ? { ...region, admin: "down" } : region));
    assert.deepEqual(await askBoth(dns, `web.${Z}`), [`5 ${IN_VIRGINIA}`]);
  });

  it("is the last resort's where no region serves, with extended error 22 beside it", async () => {
    await using dns = await startDns();
    dns.setRegions((region) => ({ ...region, admin: "down" }));
    assert.deepEqual(await askBoth(dns, `web.${Z}`), [`5 ${IN_VIRGINIA}`]);
    const args = [`@${dns.address}`, "-p", String(dns.port), `web.${Z}`, "HTTPS"];
    assert.match((await run("dig", args)).stdout, /EDE: 22/);
  });

  const RESORTS: readonly (readonly [string, DnsWish["pools"], RegExp])[] = [
    [
      "NODATA where the last resort is addresses, of which nothing is known",
      [{ ...WEB, lastResort: { kind: "addresses", ipv4: ["203.0.113.99"], ipv6: [] } }],
      /status: NOERROR[\s\S]*ANSWER: 0, AUTHORITY: 1[\s\S]*EDE: 22/,
    ],
    ["SERVFAIL where that is the last resort", [{ ...WEB, lastResort: { kind: "servfail" } }], /status: SERVFAIL/],
  ];
  for (const [what, pools = [], says] of RESORTS) {
    it(`is ${what}`, async () => {
      await using dns = await startDns({ pools, defaultPool: WEB });
      dns.setRegions((region) => ({ ...region, admin: "down" }));
      const args = [`@${dns.address}`, "-p", String(dns.port), `web.${Z}`, "HTTPS"];
      assert.match((await run("dig", args)).stdout, says);
    });
  }

  it("is given for the pool's models, too", async () => {
    const { options } = aDnsSetting();
    const [model] = options.models;
    await using dns = await startDns({ pools: [WEB], defaultPool: WEB });
    assert.deepEqual(await askBoth(dns, `${model?.id}.m.${Z}`), [`20 ${IN_FRANKFURT}`]);
  });
});

describe("HTTPS at the apex", () => {
  it("points to the default pool's name where the apex answers with that pool, and nowhere else", async () => {
    await using dns = await startDns({ zone: { ...ZONE, apexPool: WEB.name }, defaultPool: WEB });
    assert.deepEqual(await askBoth(dns, Z), [`60 0 web.${Z}.`]);
    assert.deepEqual(await askBoth(dns, `web.${Z}`), [`20 ${IN_FRANKFURT}`]);
  });
  it("is not there where the default pool has none", async () => {
    const { options } = aDnsSetting();
    await using dns = await startDns({ zone: { ...ZONE, apexPool: options.defaultPool.name } });
    assert.deepEqual(await askBoth(dns, Z), []);
  });
  it("is not there where the apex has no addresses", async () => {
    await using dns = await startDns({ defaultPool: WEB });
    assert.deepEqual(await askBoth(dns, Z), []);
  });
});

describe("HTTPS of another name", () => {
  const CASES: readonly (readonly [string, string])[] = [
    ["a pool of which one region does not say what it speaks", `chat.${Z}`],
    ["a pool that answers with the front, which speaks no TLS", `sdk.${Z}`],
    ["the front", `front.${Z}`],
    ["a region", `frankfurt.r.${Z}`],
    ["a conversation's label", `abc.c.${Z}`],
  ];
  for (const [what, name] of CASES) {
    it(`is NODATA: ${what}`, async () => {
      await using dns = await startDns();
      assert.deepEqual(await askBoth(dns, name), []);
    });
  }
});
