/** A delegation from a real parent zone on Knot: as it should be, and wrong in each way. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { Finding } from "#gtm/doctor/finding.ts";
import { freePort } from "#test/support/free-port.ts";
import { houseYaml } from "#test/support/house.ts";
import { type Knot, startKnot } from "#test/support/knot.ts";
import { runNode } from "#test/support/program.ts";
import { type ServedGtm, serveGtm } from "#test/support/served-gtm.ts";
import { startZoneServer, type ZoneServerWish } from "#test/support/zone-server.ts";
import { runCli } from "#test/unit/gtm/cli/fake-io.ts";

const ZONE = "llm.example.com";
const ONE = "127.0.41.1";
const TWO = "127.0.41.2";
const folder = mkdtempSync(join(tmpdir(), "gtm-delegated-"));
after(() => rmSync(folder, { recursive: true }));

const HOUSE = JSON.parse(houseYaml(() => "http://127.0.3.9:1", { regions: { probe: null } }));
type NameServer = { readonly name: string; readonly a: readonly string[] };
const NAME_SERVERS: readonly NameServer[] = [
  { name: `ns1.${ZONE}`, a: [ONE] },
  { name: `ns2.${ZONE}`, a: [TWO] },
];
const settings = (listen: string, ns: readonly NameServer[] = NAME_SERVERS, serial = 7): object => ({
  ...HOUSE,
  dns: { ...HOUSE.dns, listen: [listen], zone: ZONE, ns, soa: { rname: "hostmaster.example.com", serial } },
});
const configFile = (name: string, ns?: readonly NameServer[]): string => {
  const path = join(folder, `${name}.yaml`);
  writeFileSync(path, JSON.stringify(settings("127.0.0.1:0", ns)));
  return path;
};

const linesIn = async (config: string): Promise<readonly string[]> => {
  const { out, exitCode } = await runCli(["zones", "delegation", "--config", config, "--form", "bind"]);
  assert.equal(exitCode, 0);
  return out.trimEnd().split("\n");
};

/** Also of zones that Knot itself would refuse. */
const startParent = (zone: string, lines: readonly string[]): Promise<Knot> => {
  const head = [
    `${zone}. 3600 IN SOA ns.${zone}. hostmaster.${zone}. 1 14400 3600 604800 300`,
    `${zone}. 3600 IN NS ns.${zone}.`,
    `ns.${zone}. 3600 IN A 127.0.0.1`,
  ];
  return startKnot(zone, `${[...head, ...lines].join("\n")}\n`, "off");
};

type Checked = { readonly exitCode: number; readonly found: readonly string[]; readonly items: readonly Finding[] };

describe("gtm zones delegation --check", { timeout: 110_000 }, () => {
  let gtms: readonly ServedGtm[] = [];
  let port = 0;
  before(async () => {
    port = await freePort();
    gtms = await Promise.all([ONE, TWO].map((address) => serveGtm(settings(`${address}:${port}`))));
  });
  after(async () => {
    for (const gtm of gtms) await gtm[Symbol.asyncDispose]();
  });

  const config = configFile("gtm");
  const checked = async (parents: readonly number[], serversPort = port, file = config): Promise<Checked> => {
    const words = ["zones", "delegation", "--check", "--config", file, "-o", "json", "--port", String(serversPort)];
    const { exitCode, out, err } = await runCli([
      ...words,
      ...parents.flatMap((one) => ["--parent", `127.0.0.1:${one}`]),
    ]);
    assert.match(err, /^Following the delegation of llm\.example\.com down from 127\.0\.0\.1 port \d+/);
    const { items } = JSON.parse(out) as { items: readonly Finding[] };
    return { exitCode, items, found: items.filter(({ severity }) => severity !== "ok").map(({ id }) => id) };
  };

  it("finds nothing amiss where the parent holds the lines that it prints, and ends with 0", async () => {
    await using parent = await startParent("example.com", await linesIn(config));
    const words = ["zones", "delegation", "--check", "--config", config, "--port", String(port)];
    const told = await runNode(["gtm/main.ts", ...words, "--parent", `127.0.0.1:${parent.port}`], { NO_COLOR: "1" });
    assert.equal(
      told.stdout.replaceAll(`:${port}`, ":PORT").replaceAll(/scope \d+/g, "scope N"),
      `PARENT ZONE
  ok       1 server of the parent zone, and the configuration: 2 name servers, the same glue; resolvers keep it for 3600 s, and the old one as long after a change.

NAME SERVERS
  ok       ${ONE}:PORT (ns1.${ZONE}) answers with authority over UDP and TCP, with EDNS, and a client subnet with scope N.
  ok       ${TWO}:PORT (ns2.${ZONE}) answers with authority over UDP and TCP, with EDNS, and a client subnet with scope N.

AGREEMENT
  ok       2 addresses answer the same SOA (serial 7), NS and addresses of name servers.

0 problems, 0 warnings, 0 unknown, 4 ok
`,
    );
    assert.equal(told.exitCode, 0, told.stderr);
  });

  type Wrong = {
    readonly what: string;
    readonly change: (lines: readonly string[]) => readonly string[];
    readonly found: readonly string[];
    readonly remedy: RegExp;
  };
  const without = (pattern: RegExp) => (lines: readonly string[]) => lines.filter((line) => !pattern.test(line));
  const wrongs: readonly Wrong[] = [
    {
      what: "does not delegate at all",
      change: () => [],
      found: ["delegation-missing"],
      remedy: /Add to the parent zone: llm\.example\.com\. 3600 IN NS ns1\.llm\.example\.com\.; .*IN A 127\.0\.41\.2$/,
    },
    {
      what: "lacks a name server",
      change: without(/ns2/),
      found: ["ns-missing"],
      remedy:
        /^Add to the parent zone: llm\.example\.com\. 3600 IN NS ns2\.llm\.example\.com\.; ns2\.llm\.example\.com\. 3600 IN A 127\.0\.41\.2$/,
    },
    {
      what: "names one too many",
      change: (lines) => [...lines, `${ZONE}. 3600 IN NS old.example.org.`],
      found: ["ns-extra"],
      remedy: /^Remove from the parent zone: llm\.example\.com\. 3600 IN NS old\.example\.org\. /,
    },
    {
      what: "lacks glue",
      change: without(/^ns2/),
      found: ["glue-missing"],
      remedy: /^In the parent zone add ns2\.llm\.example\.com\. 3600 IN A 127\.0\.41\.2$/,
    },
    {
      what: "has other glue, where nobody listens",
      change: (lines) => lines.map((line) => line.replace(TWO, "127.0.41.99")),
      found: ["glue-wrong", "server-silent"],
      remedy:
        /remove ns2\.llm\.example\.com\. 3600 IN A 127\.0\.41\.99; add ns2\.llm\.example\.com\. 3600 IN A 127\.0\.41\.2$/,
    },
  ];
  for (const { what, change, found, remedy } of wrongs) {
    it(`says what mends a parent that ${what}`, async () => {
      await using parent = await startParent("example.com", change(await linesIn(config)));
      const result = await checked([parent.port]);
      assert.deepEqual(result.found, found);
      assert.match(result.items.find(({ id }) => id === found[0])?.remedy ?? "", remedy);
      assert.equal(result.exitCode, 7);
    });
  }

  it("names the one of two parents' servers that is behind, and the one that does not have the zone", async () => {
    const lines = await linesIn(config);
    await using right = await startParent("example.com", lines);
    await using behind = await startParent("example.com", without(/ns2/)(lines));
    await using other = await startParent("example.net", []);
    const { items, found, exitCode } = await checked([right.port, behind.port, other.port]);
    assert.deepEqual(found, ["ns-missing", "parent-lame"]);
    assert.match(items[0]?.what ?? "", new RegExp(`\\(127\\.0\\.0\\.1:${behind.port}\\)\\.$`));
    assert.match(items[1]?.what ?? "", new RegExp(`answers REFUSED .*\\(127\\.0\\.0\\.1:${other.port}\\)\\.$`));
    assert.equal(exitCode, 7);
  });

  it("ends with 7 where no parent's server answers, and still looks at the name servers", async () => {
    const { found, items, exitCode } = await checked([await freePort()]);
    assert.deepEqual(found, ["parent-unreachable", "parent-silent"]);
    assert.ok(items.some(({ id }) => id === "servers-agree"));
    assert.equal(exitCode, 7);
  });

  const faults: readonly {
    readonly fault: ZoneServerWish["fault"];
    readonly found: readonly string[];
    readonly remedy: RegExp;
  }[] = [
    { fault: "none", found: [], remedy: /^$/ },
    {
      fault: "lame",
      found: ["server-lame"],
      remedy: /^Set dns\.zone: llm\.example\.com in the .* at 127\.0\.41\.2 port/,
    },
    { fault: "no-tcp", found: ["server-tcp"], remedy: /^Let TCP in to 127\.0\.41\.2 port/ },
    { fault: "no-udp", found: ["server-silent"], remedy: /^Let UDP in to 127\.0\.41\.2 port/ },
    { fault: "no-edns", found: ["edns"], remedy: /firewall/ },
    { fault: "formerr-on-edns", found: ["edns"], remedy: /firewall/ },
    { fault: "small-payload", found: ["edns-payload"], remedy: /firewall/ },
    { fault: "takes-version-1", found: ["edns-version"], remedy: /firewall/ },
    { fault: "echoes-options", found: ["edns-option"], remedy: /firewall/ },
    { fault: "no-subnet", found: ["subnet-lost"], remedy: /firewall/ },
    { fault: "aliased-ns", found: ["ns-alias", "ns-alias"], remedy: /addresses of its own/ },
  ];
  for (const { fault, found, remedy } of faults) {
    it(`finds ${found[0] ?? "nothing"} where one name server is at fault by: ${fault}`, async () => {
      await using parent = await startParent("example.com", await linesIn(config));
      const faultyPort = await freePort();
      const ns = { [`ns1.${ZONE}`]: [ONE], [`ns2.${ZONE}`]: [TWO] };
      const sound = { zone: ZONE, ns, serial: 7, port: faultyPort };
      await using _one = await startZoneServer({ ...sound, address: ONE, fault: "none" });
      await using _two = await startZoneServer({ ...sound, address: TWO, fault });
      const result = await checked([parent.port], faultyPort);
      assert.deepEqual(result.found, found);
      const first = result.items.find(({ severity }) => severity !== "ok");
      assert.match(found.length === 0 ? "" : (first?.remedy ?? ""), remedy);
      if (found.length > 0) assert.match(first?.what ?? "", new RegExp(`\\(127\\.0\\.41\\.2:${faultyPort}\\)\\.$`));
      assert.equal(result.exitCode, found.length > 0 && fault !== "small-payload" ? 7 : 0);
    });
  }

  it("says where name servers differ from one another and from the configuration", async () => {
    await using parent = await startParent("example.com", await linesIn(config));
    const otherPort = await freePort();
    const common = { zone: ZONE, port: otherPort, fault: "none" } as const;
    const ns = { [`ns1.${ZONE}`]: [ONE], [`ns2.${ZONE}`]: [TWO] };
    await using _one = await startZoneServer({ ...common, ns, serial: 7, address: ONE });
    await using _two = await startZoneServer({
      ...common,
      ...{ ns: { [`ns1.${ZONE}`]: [ONE], [`ns3.${ZONE}`]: [TWO] }, serial: 6, address: TWO },
    });
    const { found, items, exitCode } = await checked([parent.port], otherPort);
    assert.deepEqual(found, ["soa-differs", "serial-differs", "ns-differs", "ns-address-differs"]);
    const what = (id: string): string => items.find((one) => one.id === id)?.what ?? "";
    assert.match(what("soa-differs"), /127\.0\.41\.1:\d+: ns1\S+ \S+ 7 .*; 127\.0\.41\.2:\d+: ns1\S+ \S+ 6 /);
    assert.match(what("ns-differs"), /lacks ns2\.llm\.example\.com and has ns3\.llm\.example\.com besides/);
    assert.equal(exitCode, 7);
  });

  it("wants no glue for name servers outside the zone", async () => {
    const outside = configFile("outside", [
      { name: "gtm1.example.invalid", a: [ONE] },
      { name: "gtm2.example.invalid", a: [TWO] },
    ]);
    const lines = await linesIn(outside);
    assert.deepEqual(lines, [`${ZONE}. 3600 IN NS gtm1.example.invalid.`, `${ZONE}. 3600 IN NS gtm2.example.invalid.`]);
    await using parent = await startParent("example.com", lines);
    const { items } = await checked([parent.port], port, outside);
    const ids = new Set(items.map(({ id }) => id));
    assert.ok(ids.has("parent-delegates") && !ids.has("glue-missing"), [...ids].join(", "));
    // What the resolver of this host says of a name that is reserved for not being there, it may also not be able to say.
    assert.ok(ids.has("ns-unresolved") || ids.has("ns-outside"), [...ids].join(", "));
  });
});

describe("gtm zones delegation", () => {
  const file = configFile("printed");
  const run = (...words: readonly string[]) => runCli(["zones", "delegation", "--config", file, ...words]);

  it("prints every form under its heading, and one alone so that it can be piped", async () => {
    const { out, exitCode } = await run();
    assert.equal(exitCode, 0);
    const headings = ["ZONE FILE (BIND, NSD, KNOT)", "ROUTE 53 (CHANGE BATCH)", "CLOUDFLARE", "FORM OF A REGISTRAR"];
    const at = headings.map((heading) => out.indexOf(heading));
    assert.ok(
      at.every((one, i) => one > (at[i - 1] ?? -1)),
      out,
    );
    const alone = await run("--form", "route53", "--ttl", "300");
    assert.equal(JSON.parse(alone.out).Changes[0].ResourceRecordSet.TTL, 300);
    assert.match(alone.err, /aws route53 change-resource-record-sets/);
  });
  it("prints the record sets as data", async () => {
    const { items } = JSON.parse((await run("-o", "json")).out);
    assert.deepEqual(items[1], { name: `ns1.${ZONE}`, type: "A", ttl: 3_600, values: [ONE] });
    assert.equal((await run("-o", "jsonl")).out.trimEnd().split("\n").length, items.length);
  });
  it("shows how it is used, and refuses what is no form, TTL, address or port", async () => {
    const help = await runCli(["zones", "delegation", "--help"]);
    assert.match(help.out, /Examples:\n {2}gtm zones delegation --config .*within 15 s/s);
    for (const wrong of [
      ["--form", "nsd"],
      ["--ttl", "59"],
      ["--ttl", "172801"],
      ["--parent", "ns.example.com"],
      ["--port", "0"],
    ])
      assert.equal((await run(...wrong)).exitCode, 2, wrong.join(" "));
    // Without a file it asks a GTM that runs; nobody listens on port 1.
    assert.equal((await runCli(["zones", "delegation", "--server", "http://127.0.0.1:1"])).exitCode, 3);
  });
});
