/** What the doctor says of listeners, ports, certificates, geography data, keys' ages and the disk of the world file. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { askNetwork } from "#gtm/dns-check/ask.ts";
import { type CertificateFacts, certificateFindings, readCertificate } from "#gtm/doctor/certificates.ts";
import { geographyFindings, readGeography } from "#gtm/doctor/geography.ts";
import { keyAgeFindings } from "#gtm/doctor/key-ages.ts";
import { type DnsListenerFact, readDnsListener, readPort } from "#gtm/doctor/listener-facts.ts";
import { dnsListenerFindings, portFindings } from "#gtm/doctor/listeners.ts";
import { worldFileFindings } from "#gtm/doctor/world-file.ts";
import { RegionId } from "#shared/ids.ts";
import type { RingKey } from "#shared/key-ring.ts";
import { makeCertificates } from "#test/support/certificates.ts";
import { startDns } from "#test/support/dns-zone.ts";
import { faultsIn } from "#test/support/doctor-builders.ts";
import { freePort } from "#test/support/free-port.ts";
import { EPOCH_MS } from "#test/support/report-builders.ts";

const folder = mkdtempSync(join(tmpdir(), "gtm-surroundings-"));
after(() => rmSync(folder, { recursive: true }));
const DAY_MS = 86_400_000;

describe("a DNS listener of the configuration", () => {
  const zone = { zone: "gslb.example.org", large: { name: "long.gslb.example.org", type: "TXT" } } as const;
  it("is in order where the real server answers both ways, with EDNS, and large answers come whole over TCP", async () => {
    await using server = await startDns();
    const fact = await readDnsListener(server, zone, askNetwork);
    const findings = dnsListenerFindings([fact], true);
    assert.deepEqual(faultsIn(findings), []);
    assert.match(findings[0]?.what ?? "", /over UDP and TCP, with EDNS; what is too large for a datagram comes whole/);
  });
  it("is a problem where the GTM runs and nobody answers, and unknown where none runs", async () => {
    const fact = await readDnsListener({ address: "127.0.0.1", port: await freePort() }, zone, askNetwork);
    assert.deepEqual(faultsIn(dnsListenerFindings([fact], true)), ["problem dns-listener-silent"]);
    assert.deepEqual(faultsIn(dnsListenerFindings([fact], false)), ["unknown dns-listener-silent"]);
  });
  it("is named for each thing that is missing: TCP, EDNS, authority, a whole answer", async () => {
    await using server = await startDns();
    const good = await readDnsListener(server, zone, askNetwork);
    const failed = { kind: "failed", why: "nobody listens there", isLocal: false } as const;
    assert.ok(good.udp.kind === "answered" && good.large !== null);
    const { reply } = good.udp;
    const with_ = (wish: Partial<DnsListenerFact>) => faultsIn(dnsListenerFindings([{ ...good, ...wish }], true));
    assert.deepEqual(with_({ tcp: failed }), ["problem dns-listener-tcp"]);
    assert.deepEqual(with_({ udp: failed, large: null }), ["problem dns-listener-udp"]);
    assert.deepEqual(with_({ udp: { kind: "answered", reply: { ...reply, opt: null } } }), [
      "problem dns-listener-edns",
    ]);
    assert.deepEqual(with_({ udp: { kind: "answered", reply: { ...reply, answers: [] } } }), [
      "problem dns-listener-other",
    ]);
    assert.deepEqual(with_({ large: { ...good.large, whole: failed } }), ["problem dns-listener-large"]);
  });
});

describe("a port of the configuration", () => {
  const look = async (port: number, isRunning: boolean) =>
    faultsIn(portFindings([await readPort("the front door", { address: "127.0.0.1", port })], isRunning));
  it("is in order where the GTM listens, or where it is free and none runs", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const at = server.address();
    assert.ok(at !== null && typeof at === "object");
    assert.deepEqual(await look(at.port, true), []);
    assert.deepEqual(await look(at.port, false), ["unknown port-taken"]);
    server.close();
    await once(server, "close");
    assert.deepEqual(await look(at.port, false), []);
    assert.deepEqual(await look(at.port, true), ["problem port-silent"]);
  });
  it("is a problem where this host has no such address", () => {
    const state = { kind: "unusable", why: "EADDRNOTAVAIL" } as const;
    const findings = portFindings([{ what: "metrics", place: "192.0.2.77:9153", state }], false);
    assert.deepEqual(faultsIn(findings), ["problem port-unusable"]);
    assert.match(findings[0]?.remedy ?? "", /This host has no such address/);
  });
});

describe("the certificate of the front door", () => {
  it("is read from its files, and said to be for which names it is not", async () => {
    const { server, client } = await makeCertificates(folder);
    const facts = await readCertificate(server, ["localhost", "front.llm.test"]);
    assert.ok(facts.kind === "read");
    assert.deepEqual([facts.fitsKey, facts.missingNames], [true, ["front.llm.test"]]);
    const mixed = await readCertificate({ certFile: server.certFile, keyFile: client.keyFile }, []);
    assert.equal(mixed.kind === "read" && mixed.fitsKey, false);
  });
  const good: CertificateFacts = {
    ...{ kind: "read", path: "/c.pem", fromMs: EPOCH_MS - DAY_MS, toMs: EPOCH_MS + 60.5 * DAY_MS },
    ...{ fitsKey: true, missingNames: [] },
  };
  const cases: readonly (readonly [what: string, wish: Partial<CertificateFacts>, says: readonly string[]])[] = [
    ["has 60 days left", {}, []],
    ["has 20 days left", { toMs: EPOCH_MS + 20.5 * DAY_MS }, ["warning certificate-ends"]],
    ["ended yesterday", { toMs: EPOCH_MS - DAY_MS }, ["problem certificate-expired"]],
    ["begins tomorrow", { fromMs: EPOCH_MS + DAY_MS }, ["problem certificate-early"]],
    ["is for another name", { missingNames: ["front.llm.test"] }, ["problem certificate-names"]],
    ["is for another key", { fitsKey: false }, ["problem certificate-key"]],
  ];
  for (const [what, wish, says] of cases) {
    it(`that ${what}: ${says.join(", ") || "in order"}`, () => {
      assert.deepEqual(faultsIn(certificateFindings({ ...good, ...wish } as CertificateFacts, EPOCH_MS)), says);
    });
  }
  it("that cannot be read is a problem that names the file", async () => {
    const files = { certFile: join(folder, "none.pem"), keyFile: join(folder, "none.key") };
    const findings = certificateFindings(await readCertificate(files, []), EPOCH_MS);
    assert.deepEqual(faultsIn(findings), ["problem certificate-unreadable"]);
    assert.match(findings[0]?.what ?? "", /none\.pem/);
  });
});

describe("geography data", () => {
  const look = async (env: Record<string, string>, nowMs: number) =>
    faultsIn(geographyFindings(await readGeography({ provider: "builtin", static: [] }, env), nowMs));
  it("that the package brings are old by licence, and say so", async () => {
    assert.deepEqual(await look({}, Date.now()), ["warning geo-bundled"]);
  });
  it("that somebody updated are in order for 90 days", async () => {
    const data = join(folder, "geo");
    mkdirSync(data);
    writeFileSync(join(data, "city.checksum"), "0123");
    writeFileSync(join(data, "geoip-city.dat"), "");
    assert.deepEqual(await look({ GEODATADIR: data }, Date.now() + 89 * DAY_MS), []);
    assert.deepEqual(await look({ GEODATADIR: data }, Date.now() + 92 * DAY_MS), ["warning geo-old"]);
  });
  it("that are not there are a problem, and none where only configured networks have a place", async () => {
    assert.deepEqual(await look({ GEODATADIR: join(folder, "nowhere") }, 0), ["problem geo-missing"]);
    assert.deepEqual(faultsIn(geographyFindings(await readGeography({ provider: "static", static: [] }, {}), 0)), []);
  });
});

describe("the ages of keys", () => {
  const key = (state: RingKey["state"], days: number, id = 1): RingKey => ({
    ...{ id, state, madeAtMs: EPOCH_MS - days * DAY_MS, key: new Uint8Array(32) },
  });
  const NONE = { identity: null, signing: null, ticket: null, cookie: null, reports: null };
  it("are in order up to a year", () => {
    const findings = keyAgeFindings({ ...NONE, signing: [key("current", 300)], cookie: [key("current", 2)] }, EPOCH_MS);
    assert.deepEqual(faultsIn(findings), []);
    assert.match(findings[0]?.what ?? "", /the oldest 300 days/);
  });
  it("are told where a key is older, of which region, and where a change was begun and forgotten", () => {
    const reports = new Map([[RegionId.parse("eu"), [key("current", 400)]]]);
    const findings = keyAgeFindings({ ...NONE, reports, signing: [key("current", 1), key("next", 40, 2)] }, EPOCH_MS);
    assert.deepEqual(faultsIn(findings), ["warning keys-unfinished", "warning keys-old"]);
    assert.match(findings[1]?.what ?? "", /report key of eu has been in use for 400 days/);
  });
  it("are not told where there are none", () => assert.deepEqual(keyAgeFindings(NONE, EPOCH_MS), []));
});

describe("the disk of the world file", () => {
  it("is a problem when it is nearly full", () => {
    const content = { kind: "sound", savedAtMs: EPOCH_MS, instance: "gtm-1", reports: 1, ordersRev: 1 } as const;
    const look = (freeBytes: number | null) =>
      faultsIn(
        worldFileFindings({
          facts: { path: "/w.json", writeFault: null, freeBytes, content },
          ...{ isShared: true, nowEpochMs: EPOCH_MS },
        }),
      );
    assert.deepEqual([look(49e6), look(51e6), look(null)], [["problem world-file-disk"], [], []]);
  });
});
