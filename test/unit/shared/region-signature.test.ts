import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { describe, it } from "node:test";
import { isSignedWith, signedWith } from "#shared/region-signature.ts";
import { RegionReport } from "#shared/report.ts";

const key = new Uint8Array(32).fill(3);
const report = RegionReport.parse({
  v: 1,
  region: "eu-central",
  agent: "agent-1",
  boot: "b1",
  seq: 1,
  reportedAtMs: 1_796_000_000_000,
  gpus: [{ uuid: "GPU-1", memoryTotalBytes: 85_899_345_920, memoryUsedBytes: null, memoryFreeBytes: 0 }],
  models: [],
  links: [{ to: "us-east", rttMs: 88.25, bitsPerSecond: null }],
  faults: [{ source: "dcgm", field: "€", code: "missing" }],
  mac: null,
  future: { z: 1e21, a: [true] },
});

describe("a signed report", () => {
  const signed = signedWith(report, key);
  it("is the report and its mac", () => {
    assert.deepEqual({ ...signed, mac: null }, report);
    assert.equal(isSignedWith(signed, [key]), true);
  });
  it("carries the HMAC-SHA-256 of RFC 8785's form: keys sorted, numbers as JavaScript writes them, no white space", () => {
    const canonical =
      '{"agent":"agent-1","boot":"b1","faults":[{"code":"missing","field":"€","source":"dcgm"}],"future":{"a":[true],"z":1e+21},' +
      '"gpus":[{"memoryFreeBytes":0,"memoryTotalBytes":85899345920,"memoryUsedBytes":null,"uuid":"GPU-1"}],' +
      '"links":[{"bitsPerSecond":null,"rttMs":88.25,"to":"us-east"}],"models":[],"region":"eu-central","reportedAtMs":1796000000000,"seq":1,"v":1}';
    assert.equal(signed.mac, createHmac("sha256", key).update(canonical).digest("hex"));
  });
  it("holds after a journey as JSON, whatever the order of its keys", () => {
    const turned = Object.fromEntries(Object.entries(JSON.parse(JSON.stringify(signed))).reverse());
    assert.equal(isSignedWith(RegionReport.parse(turned), [key]), true);
  });
  it("signs anew to the same mac", () => {
    assert.equal(signedWith(signed, key).mac, signed.mac);
  });
  it("does not hold with another key", () => {
    assert.equal(isSignedWith(signed, [new Uint8Array(32).fill(4)]), false);
  });
  const changes: readonly (readonly [string, object])[] = [
    ["a count", { seq: 2 }],
    ["the region", { region: "us-east" }],
    ["a field that this version does not know", { future: { z: 2, a: [true] } }],
    ["a field more", { extra: null }],
    ["a number by its last digit", { reportedAtMs: 1_796_000_000_001 }],
  ];
  for (const [what, change] of changes) {
    it(`does not hold when ${what} changes`, () => {
      assert.equal(isSignedWith(RegionReport.parse({ ...signed, ...change }), [key]), false);
    });
  }
});

describe("a report that has no canonical form", () => {
  const mac = "ab".repeat(32);
  const nested = JSON.parse(`${"[".repeat(50_000)}${"]".repeat(50_000)}`);
  for (const [what, future] of [
    ["half a surrogate pair", "\ud800"],
    ["fifty thousand brackets", nested],
  ] as const) {
    it(`because of ${what} is not signed, and cannot be`, () => {
      const odd = RegionReport.parse({ ...report, future, mac });
      assert.equal(isSignedWith(odd, [key]), false);
      assert.throws(() => signedWith(odd, key), { code: "AGENT_PAYLOAD_INVALID" });
    });
  }
});

describe("a report without a usable mac", () => {
  for (const mac of [null, "", "ab", "zz".repeat(32), "AB".repeat(32), "ab".repeat(33)]) {
    it(`is not signed: ${JSON.stringify(mac)}`, () => assert.equal(isSignedWith({ ...report, mac }, [key]), false));
  }
});
