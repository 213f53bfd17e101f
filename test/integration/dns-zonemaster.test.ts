/** Outside judges on a delegation with real addresses: Zonemaster, our own checks beside it, and lego, which asks every name server. */
import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { complaintsAbout, EDNS_ROWS, lineOf, questionOf } from "#test/conformance/dns/ednscomp.ts";
import {
  addressesOf,
  type DelegatedZone,
  gtmAddresses,
  parentAddresses,
  ROOTS,
  startDelegatedZone,
  ZONE,
} from "#test/support/internet/delegated-zone.ts";
import { rootHints } from "#test/support/internet/name-servers.ts";
import { startUnbound } from "#test/support/internet/resolvers.ts";
import { runLego, startPebble } from "#test/support/pebble.ts";

/** A message of Zonemaster's, as `--json` gives it. */
type Message = {
  readonly level: "DEBUG" | "INFO" | "NOTICE" | "WARNING" | "ERROR" | "CRITICAL";
  readonly module: string;
  readonly testcase: string;
  readonly tag: string;
  readonly args: Readonly<Record<string, unknown>>;
};

const MODULES = ["basic", "nameserver", "delegation", "consistency", "zone", "syntax", "connectivity"] as const;

/** The test cases of version 4.6: of what was not run nothing can be said. basic03 is run only where basic02 found no server. */
const CASES = [
  ...numbered("basic", 2),
  ...numbered("nameserver", 13),
  ...numbered("delegation", 7),
  ...numbered("consistency", 6),
  ...numbered("zone", 10),
  ...numbered("syntax", 8),
  ...numbered("connectivity", 3),
];

/** All that Zonemaster may have against the zone, and why it may. */
const ALLOWED: Readonly<Record<string, string>> = {
  "NOTICE SOA_DEFAULT_TTL_MAXIMUM_VALUE_LOWER":
    "negative answers are kept for 30 s by intent: names come with the next configuration",
};

describe("a zone delegated to two GTMs in different networks", { timeout: 110_000 }, () => {
  let internet: DelegatedZone;
  const stack = new AsyncDisposableStack();
  before(async () => {
    internet = stack.use(await startDelegatedZone());
    stack.use(await startUnbound({ host: internet.host("unbound"), roots: ROOTS, subnetTo: gtmAddresses }));
    writeFileSync(join(internet.folder, "hints"), rootHints(ROOTS));
  });
  after(() => stack.disposeAsync());

  const judged = async (...words: readonly string[]): Promise<readonly Message[]> => {
    const { stdout, stderr } = await internet
      .host("asker")
      .run([
        ...[
          "zonemaster-cli",
          ZONE,
          "--hints",
          join(internet.folder, "hints"),
          "--locale",
          "C.UTF-8",
          "--level",
          "DEBUG",
        ],
        ...["--json", "--no-progress", ...MODULES.flatMap((one) => ["--test", one]), ...words],
      ]);
    assert.equal(stderr, "");
    return JSON.parse(stdout) as readonly Message[];
  };
  const against = (messages: readonly Message[]): readonly Message[] =>
    messages.filter(({ level }) => level !== "DEBUG" && level !== "INFO");

  it("has nothing against it for Zonemaster but what is allowed", async (t) => {
    const messages = await judged();
    const begun = messages.flatMap(({ tag, args }) => (tag === "TEST_CASE_START" ? [String(args["testcase"])] : []));
    assert.deepEqual([...new Set(begun)].filter((one) => one !== "basic00").toSorted(), CASES.toSorted());
    const found = new Set(against(messages).map(({ level, tag }) => `${level} ${tag}`));
    assert.deepEqual([...found], Object.keys(ALLOWED), JSON.stringify(against(messages)));
    t.diagnostic(`${CASES.length} test cases, ${messages.length} messages, against the zone: ${[...found].join(", ")}`);
  });
  it("and Zonemaster sees it when one of them does not serve it", async () => {
    const [lame = ""] = parentAddresses;
    const [sound = ""] = addressesOf("ns1");
    const messages = await judged("--ns", `ns1.${ZONE}/${sound}`, "--ns", `ns2.${ZONE}/${lame}`);
    const found = new Set(against(messages).map(({ level, tag }) => `${level} ${tag}`));
    for (const one of ["ERROR SOA_NOT_EXISTS", "ERROR IN_BAILIWICK_ADDR_MISMATCH", "WARNING IS_NOT_AUTHORITATIVE"])
      assert.ok(found.has(one), [...found].join(", "));
  });
  it("is in order for gtm zones delegation --check, which finds the parent by the resolver of its host", async () => {
    const command = ["gtm/main.ts", "zones", "delegation", "--check", "--config", internet.config];
    const { stdout, exitCode, stderr } = await internet.host("asker").run([process.execPath, ...command]);
    assert.match(stdout, /\n0 problems, 0 warnings, 0 unknown, 6 ok\n$/, stderr);
    for (const address of gtmAddresses) assert.ok(stdout.includes(`ok       ${address} (ns`), stdout);
    assert.match(stdout, /ok {7}\d servers of the parent zone, and the configuration: 2 name servers, the same glue/);
    assert.equal(exitCode, 0);
  });
  it("is answered alike by all four addresses for gtm dns check", async () => {
    const command = ["gtm/main.ts", "dns", "check", "--config", internet.config];
    const { stdout, exitCode } = await internet.host("asker").run([process.execPath, ...command]);
    assert.match(stdout, /\n4 of 4 addresses answer; of (\d+) questions \1 have one answer, 0 do not\.\n$/);
    for (const line of [
      /^llm\.example MX +all 4 +NOERROR +300 s +- +MX 10 status\.llm\.example$/m,
      /^llm\.example CAA +all 4 .* CAA 0 issue "letsencrypt\.org"$/m,
      /^docs\.llm\.example CNAME +all 4 .* CNAME status\.llm\.example$/m,
      /^any-name\.preview\.llm\.example AAAA +all 4 .* AAAA 2001:db8:80::80$/m,
      /^_sip\._tcp\.llm\.example SRV +all 4 .* SRV 10 5 5060 status\.llm\.example$/m,
      /^lab\.llm\.example NS +all 4 +NOERROR \(no authority\) .* NS ns1\.lab\.llm\.example$/m,
    ])
      assert.match(stdout, line);
    assert.equal(exitCode, 0);
  });
  describe("asked what ISC's EDNS compliance tester asks, over IPv4 and IPv6, UDP and TCP", () => {
    /** By address and transport, in the order of the rows: one dig asks them all. */
    const said = new Map<string, readonly string[]>();
    before(async () => {
      const asked = addressesOf("ns2").flatMap((server) =>
        (["udp", "tcp"] as const).map(async (over) => {
          const lines = EDNS_ROWS.map((row) => [row.flags, ...questionOf(row, ZONE, `long.${ZONE}`)].join(" "));
          const batch = join(internet.folder, `batch-${said.size}`);
          said.set(`${server} ${over}`, []);
          writeFileSync(batch, lines.map((line) => `@${server} +tries=2 +time=5 ${line}\n`).join(""));
          const { stdout } = await internet.host("asker").run(["dig", over === "tcp" ? "+tcp" : "+notcp", "-f", batch]);
          said.set(
            `${server} ${over}`,
            stdout.split(/^(?=; <<>> DiG )/m).filter((text) => text.trim() !== ""),
          );
        }),
      );
      await Promise.all(asked);
    });
    for (const [at, row] of EDNS_ROWS.entries()) {
      it(`${row.test}: dig ${row.flags} ${row.type ?? "SOA"}: ${row.status ?? "NOERROR"}`, () => {
        assert.equal(said.size, 4);
        for (const [where, texts] of said) {
          assert.equal(texts.length, EDNS_ROWS.length, where);
          assert.deepEqual(complaintsAbout(row, texts[at] ?? "", where.endsWith("tcp") ? "tcp" : "udp"), [], where);
        }
      });
    }
  });
  it("is judged by the lines that operators are given", () => {
    const page = readFileSync("docs/delegation.md", "utf8").split("\n");
    const lines = EDNS_ROWS.filter(({ test }) => !test.startsWith("opcode")).map(lineOf);
    assert.deepEqual(
      page.filter((line) => line.startsWith("dig +")),
      lines,
    );
    for (const module of MODULES)
      assert.ok(
        page.some((line) => line.includes(`--test ${module}`)),
        module,
      );
  });
  it("gets a wildcard certificate by lego once every name server has the challenge, and pebble asks through unbound", async (t) => {
    const within = internet.host("ns1");
    const resolver = `${addressesOf("unbound")[0]}:53`;
    await using authority = await startPebble(resolver, within);
    const beganAt = performance.now();
    const file = await runLego({
      ...{ authority, resolver, within, asksNameServers: true },
      domains: [`*.c.${ZONE}`],
      env: { HTTPREQ_ENDPOINT: "http://127.0.0.1:9443/acme", HTTPREQ_POLLING_INTERVAL: "1" },
    });
    t.diagnostic(`issued within ${Math.round(performance.now() - beganAt)} ms`);
    assert.equal(new X509Certificate(readFileSync(file)).subjectAltName, `DNS:*.c.${ZONE}`);
    for (const name of ["ns1", "ns2"] as const)
      assert.ok((await internet.counted("gtm_dns_queries_total", ['qtype="TXT"'], [name])) > 0, `${name} was asked`);
  });
});

function numbered(module: string, last: number): readonly string[] {
  return Array.from({ length: last }, (_, at) => `${module}${String(at + 1).padStart(2, "0")}`);
}
