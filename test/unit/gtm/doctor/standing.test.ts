/** What the doctor says of orders, keys, the world file and a running GTM. */
import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { KeySettings, keyFilesOf } from "#gtm/config/key-settings.ts";
import { worldFileText } from "#gtm/datalayer/world-file-format.ts";
import type { Finding } from "#gtm/doctor/finding.ts";
import { type KeyInputs, keyFindings } from "#gtm/doctor/keys.ts";
import { type KnownRevs, orderFindings } from "#gtm/doctor/orders.ts";
import { readOrdersFacts } from "#gtm/doctor/orders-facts.ts";
import { type Running, runningFindings } from "#gtm/doctor/running.ts";
import { worldFileFindings } from "#gtm/doctor/world-file.ts";
import { readWorldFileFacts } from "#gtm/doctor/world-file-facts.ts";
import { RegionId } from "#shared/ids.ts";
import { ordersKey } from "#shared/keys.ts";
import { createMemoryStore } from "#shared/store-memory.ts";
import { faultsIn } from "#test/support/doctor-builders.ts";
import { createFallibleStore } from "#test/support/fallible-store.ts";
import { createManualClock } from "#test/support/manual-clock.ts";
import { EPOCH_MS } from "#test/support/report-builders.ts";

const saying = (findings: readonly Finding[]): string => findings.map(({ what }) => what).join("\n");

describe("the orders in the store", () => {
  const NOTHING: KnownRevs = { gtm: null, worldFile: null };
  const look = async (value: string | null, known: KnownRevs = NOTHING) => {
    const store = createFallibleStore(createMemoryStore(createManualClock()));
    if (value !== null) await store.put(ordersKey(), value, null);
    return orderFindings(await readOrdersFacts(store), known);
  };
  const orders = (rev: number): string => JSON.stringify({ v: 1, rev, regions: [], overrides: [] });

  it("are in order where there are none, and where nobody knows newer ones", async () => {
    assert.equal(saying(await look(null)), "Nobody has ordered anything.");
    const findings = await look(orders(4), { gtm: 4, worldFile: 3 });
    assert.deepEqual(faultsIn(findings), []);
    assert.match(saying(findings), /revision 4: 0 regions, 0 overrides/);
  });
  it("are behind where the running GTM knows more", async () => {
    const findings = await look(orders(4), { gtm: 6, worldFile: 5 });
    assert.deepEqual(faultsIn(findings), ["warning orders-behind"]);
    assert.match(saying(findings), /revision 4 of the orders, and the running GTM has 6/);
  });
  it("are lost where the world file has some", async () => {
    const findings = await look(null, { gtm: null, worldFile: 2 });
    assert.match(saying(findings), /revision 0 of the orders, and the world file has 2/);
  });
  for (const value of ["{", '{"v":2,"rev":1,"regions":[],"overrides":[]}', '{"v":1}']) {
    it(`cannot be read out of ${value}`, async () => {
      assert.deepEqual(faultsIn(await look(value)), ["problem orders-unreadable"]);
    });
  }
  it("are unknown while the store is away", async () => {
    const store = createFallibleStore(createMemoryStore(createManualClock()));
    store.isAway = true;
    assert.deepEqual(faultsIn(orderFindings(await readOrdersFacts(store), NOTHING)), ["unknown orders"]);
  });
});

describe("the keys", () => {
  const paths = { identity_file: "/k/identity.key", signing_file: "/k/signing.keys", reports_file: "/k/reports.keys" };
  const files = keyFilesOf(KeySettings.parse(paths));
  const sound: KeyInputs = { files, fault: null, hasLabelKeys: true, unsigned: [], strange: [], readableByOthers: [] };
  const EU = RegionId.parse("eu-central");
  const cases: readonly (readonly [string, Partial<KeyInputs>, readonly string[], RegExp])[] = [
    ["there are and nobody else can read", {}, [], /Every region has a report key/],
    ["cannot be read", { fault: "a: x\nb: y" }, ["problem keys-unusable"], /a: x; b: y\.$/],
    ["are made at each start", { hasLabelKeys: false }, ["warning keys-ephemeral"], /makes its own/],
    ["lack a region", { unsigned: [EU] }, ["warning keys-unsigned-regions"], /^eu-central has no report key/m],
    [
      "have a region too many",
      { strange: [EU] },
      ["warning keys-strange-region"],
      /\/k\/reports\.keys has a key for eu-central/,
    ],
    ["lie open", { readableByOthers: ["/k/identity.key"] }, ["problem keys-readable"], /can read \/k\/identity\.key/],
  ];
  for (const [what, wish, faults, says] of cases) {
    it(`that ${what}: ${faults.join() || "in order"}`, () => {
      const findings = keyFindings({ ...sound, ...wish });
      assert.deepEqual(faultsIn(findings), faults);
      assert.match(saying(findings), says);
    });
  }
});

describe("the world file", () => {
  const folder = mkdtempSync(join(tmpdir(), "gtm-doctor-"));
  after(() => {
    chmodSync(join(folder, "locked"), 0o700);
    rmSync(folder, { recursive: true });
  });
  const look = async (path: string, nowEpochMs = EPOCH_MS) =>
    worldFileFindings({ facts: await readWorldFileFacts(path), isShared: true, nowEpochMs });
  const save = (name: string, savedAtMs: number): string => {
    const orders = { v: 1 as const, rev: 1, regions: [], overrides: [] };
    const path = join(folder, name);
    writeFileSync(path, worldFileText({ v: 1, savedAtMs, instance: "gtm-1", reports: [], orders, cells: [] }));
    return path;
  };

  it("that is written every few seconds is in order", async () => {
    const findings = await look(save("fresh", EPOCH_MS - 4_000));
    assert.deepEqual(faultsIn(findings), []);
    assert.match(saying(findings), /was saved 4\.0 s ago by gtm-1, with 0 reports/);
  });
  it("that nobody has written for two minutes is told of, and after a day is a problem", async () => {
    assert.deepEqual(faultsIn(await look(save("older", EPOCH_MS - 120_000))), ["warning world-file-old"]);
    assert.deepEqual(faultsIn(await look(save("oldest", EPOCH_MS - 90_000_000))), ["problem world-file-old"]);
  });
  it("of the future is told of", async () => {
    assert.match(saying(await look(save("ahead", EPOCH_MS + 120_000))), /in the future/);
  });
  it("that is not there yet is told of", async () => {
    assert.deepEqual(faultsIn(await look(join(folder, "none"))), ["warning world-file-absent"]);
  });
  it("that is garbage, a folder or of a later version is a problem", async () => {
    writeFileSync(join(folder, "garbage"), "{");
    writeFileSync(join(folder, "later"), '{"v":2}');
    for (const name of ["garbage", "later", "."]) {
      assert.deepEqual(faultsIn(await look(join(folder, name))), ["problem world-file-faulty"], name);
    }
  });
  it("in a folder that is not there cannot be written", async () => {
    const findings = await look(join(folder, "no-such-folder/world.json"));
    assert.deepEqual(faultsIn(findings), ["problem world-file-unwritable", "warning world-file-absent"]);
  });
  mkdirSync(join(folder, "locked"), 0o500);
  it("in a folder that this user may not write to cannot be replaced, unless nothing is forbidden to him", async () => {
    const isRoot = process.getuid?.() === 0;
    const expected = isRoot ? [] : ["problem world-file-unwritable"];
    assert.deepEqual(faultsIn(await look(join(folder, "locked/world.json"))), [
      ...expected,
      "warning world-file-absent",
    ]);
  });
  it("that is not configured is missed where the store is shared, and only there", () => {
    const look = (isShared: boolean) => worldFileFindings({ facts: null, isShared, nowEpochMs: EPOCH_MS });
    assert.deepEqual(faultsIn(look(true)), ["warning world-file-none"]);
    assert.deepEqual(faultsIn(look(false)), []);
  });
});

describe("the running GTM", () => {
  const server = "http://127.0.0.1:9443";
  const status = {
    instance: "gtm-1",
    version: "0.1.0",
    state: "ready",
    uptimeMs: 5_000,
    degradations: [],
    orders: { rev: 0 },
  };
  const look = (running: Running, isAskedFor = false) => runningFindings({ running, isAskedFor, instance: "gtm-1" });
  const answered = (wish: Partial<Extract<Running, { readonly kind: "answered" }>["status"]> = {}): Running => ({
    ...{ kind: "answered", server, status: { ...status, ...wish } },
  });

  it("that is ready is in order", () => {
    const findings = look(answered());
    assert.deepEqual(faultsIn(findings), []);
    assert.match(
      saying(findings),
      /gtm-1 at http:\/\/127\.0\.0\.1:9443, llm-gtm 0\.1\.0, is ready and up 5\.0 s; 0 parts degraded/,
    );
  });
  it("that is not ready is a problem", () => {
    assert.deepEqual(faultsIn(look(answered({ state: "not-ready" }))), ["problem gtm-not-ready"]);
  });
  it("that is degraded says since when, part by part", () => {
    const degradations = [{ what: "pins", reason: "12 wait", ageMs: 65_000 }];
    const findings = look(answered({ state: "degraded", degradations }));
    assert.deepEqual(faultsIn(findings), ["warning gtm-degraded"]);
    assert.match(saying(findings), /pins, for 65 s: 12 wait/);
  });
  it("of another name is told of", () => {
    assert.deepEqual(faultsIn(look(answered({ instance: "gtm-2" }))), ["warning gtm-other-instance"]);
  });
  it("that does not answer is unknown, and a problem where somebody asked for it", () => {
    const failed: Running = { kind: "failed", server, why: "connection refused" };
    assert.deepEqual(faultsIn(look(failed)), ["unknown gtm-away"]);
    assert.deepEqual(faultsIn(look(failed, true)), ["problem gtm-away"]);
  });
});
