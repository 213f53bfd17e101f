/** `gtm dns check` on two GTMs as processes, alike and not. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { freePort } from "#test/support/free-port.ts";
import { houseYaml } from "#test/support/house.ts";
import { runNode } from "#test/support/program.ts";
import { type ServedGtm, serveGtm } from "#test/support/served-gtm.ts";
import { startZoneServer } from "#test/support/zone-server.ts";
import { runCli } from "#test/unit/gtm/cli/fake-io.ts";

const HOUSE = JSON.parse(houseYaml(() => "http://127.0.3.9:1", { regions: { probe: null } }));
const folder = mkdtempSync(join(tmpdir(), "gtm-dns-check-"));
after(() => rmSync(folder, { recursive: true }));
const config = join(folder, "gtm.yaml");
writeFileSync(config, JSON.stringify(HOUSE));

type Item = {
  readonly question: { readonly name: string; readonly type: string; readonly subnet: string | null };
  readonly same: boolean;
  readonly sides: readonly { readonly servers: readonly string[]; readonly data?: readonly string[] }[];
};

describe("gtm dns check", { timeout: 110_000 }, () => {
  const gtms: ServedGtm[] = [];
  before(async () => {
    const elsewhere = { ...HOUSE, dns: { ...HOUSE.dns, soa: { ...HOUSE.dns.soa, serial: 2 } } };
    const [one] = HOUSE.regions;
    const moved = { ...one, endpoint: { ...one.endpoint, a: ["127.0.3.77"] } };
    const other = {
      ...elsewhere,
      regions: HOUSE.regions.map((each: { id: string }) => (each.id === one.id ? moved : each)),
    };
    gtms.push(...(await Promise.all([HOUSE, HOUSE, other].map((settings) => serveGtm(settings)))));
  });
  after(async () => {
    for (const gtm of gtms) await gtm[Symbol.asyncDispose]();
  });
  const serverOf = (at: number): string => {
    const dns = gtms[at]?.dns;
    return `${dns?.address}:${dns?.port}`;
  };
  const words = (...servers: readonly string[]): readonly string[] => [
    ...["dns", "check", "--config", config],
    ...servers.flatMap((server) => ["--server", server]),
  ];
  const asJson = async (...servers: readonly string[]) => {
    const { exitCode, out } = await runCli([...words(...servers), "-o", "json"]);
    const { items, unable } = JSON.parse(out) as { items: readonly Item[]; unable: readonly { why: string }[] };
    return { exitCode, items, unable };
  };

  it("has one answer to each question where GTMs are alike, shows it, and ends with 0", async () => {
    const { stdout, exitCode, stderr } = await runNode(["gtm/main.ts", ...words(serverOf(0), serverOf(1))], {
      NO_COLOR: "1",
    });
    const line = (question: string): string => stdout.split("\n").find((one) => one.startsWith(`${question} `)) ?? "";
    assert.match(line("QUESTION"), /^QUESTION +ASKED +CODE +TTL +SCOPE +DATA$/);
    assert.match(line("llm.test SOA"), / all 2 +NOERROR +\d+ s +- +SOA ns1\.llm\.test hostmaster\.llm\.test 1 14400 /);
    assert.match(line("chat.llm.test A from 192.0.2.0/24"), / all 2 +NOERROR +up to 1 min +\d+ +A 127\.0\.3\.\d$/);
    assert.match(line("front.llm.test A from 192.0.2.0/24"), / all 2 +NOERROR +\d+ s +0 +A 127\.0\.0\.1$/);
    assert.match(line("eu-central.r.llm.test A from 192.0.2.0/24"), / all 2 +NOERROR .* A 127\.0\.3\.1$/);
    assert.match(line("why.chat.llm.test TXT"), / all 2 +NXDOMAIN /);
    assert.match(line("stranger.c.llm.test A from 192.0.2.0/24"), / all 2 +NOERROR /);
    assert.match(line("nobody-has-this-name.llm.test A"), / all 2 +NXDOMAIN +30 s /);
    assert.match(stdout, /\n\n2 of 2 addresses answer; of (\d+) questions \1 have one answer, 0 do not\.\n$/);
    assert.match(stderr, /^Asking 2 addresses \d+ questions\.\n$/);
    assert.equal(exitCode, 0);
  });

  it("shows where one differs with both addresses, and ends with 7", async () => {
    const { exitCode, items } = await asJson(serverOf(0), serverOf(2));
    const differing = items.filter(({ same }) => !same);
    const texts = differing.map(({ question }) => `${question.name} ${question.type}`);
    assert.ok(texts.includes("llm.test SOA") && texts.includes("eu-central.r.llm.test A"), texts.join(", "));
    assert.ok(!texts.includes("llm.test NS") && !texts.includes("us-east.r.llm.test A"), texts.join(", "));
    const region = differing.find(({ question }) => question.name.startsWith("eu-central.r"));
    assert.deepEqual(
      region?.sides.map(({ servers, data }) => ({ servers, data })),
      [
        { servers: [serverOf(0)], data: ["A 127.0.3.1"] },
        { servers: [serverOf(2)], data: ["A 127.0.3.77"] },
      ],
    );
    assert.equal(exitCode, 7);
  });

  it("says who does not answer, and who answers for another zone, and compares the others", async () => {
    const nobody = `127.0.0.1:${await freePort()}`;
    const port = await freePort();
    await using _lame = await startZoneServer({ zone: "llm.test", ns: {}, address: "127.0.42.1", port, fault: "lame" });
    const { exitCode, items, unable } = await asJson(serverOf(0), serverOf(1), nobody, `127.0.42.1:${port}`);
    assert.deepEqual(unable, [
      { server: nobody, why: "nobody listens there" },
      { server: `127.0.42.1:${port}`, why: "it is not authoritative for the zone (REFUSED)" },
    ]);
    assert.ok(items.length > 10 && items.every(({ same }) => same));
    assert.equal(exitCode, 7);
  });

  it("asks for what every zone has where there is no configuration", async () => {
    const { exitCode, out } = await runCli([
      "dns",
      "check",
      "--zone",
      "LLM.test.",
      "--server",
      serverOf(0),
      "-o",
      "jsonl",
    ]);
    const names = out
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as Item).question.name);
    assert.deepEqual(
      [...new Set(names)],
      ["llm.test", "front.llm.test", "stranger.c.llm.test", "nobody-has-this-name.llm.test"],
    );
    assert.equal(exitCode, 0);
  });

  it("does not begin without knowing whom to ask for what", async () => {
    for (const wrong of [
      [],
      ["--zone", "llm.test"],
      ["--server", "127.0.0.1"],
      ["--config", config, "--server", "ns1"],
    ]) {
      const { exitCode, out } = await runCli(["dns", "check", ...wrong]);
      assert.deepEqual([exitCode, out], [2, ""], wrong.join(" "));
    }
    assert.equal((await runCli(["dns", "check", "--config", config, "--subnet", "192.0.2.0"])).exitCode, 2);
  });
});
