import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createWhyAccess, decisionTexts, degradedTexts } from "#gtm/wire/dns/why.ts";
import { aRegion, decideIn, NOW_MS } from "#test/support/builders.ts";

describe("who may ask why", () => {
  it("is nobody by default", () => assert.equal(createWhyAccess([]).isOn, false));
  it("are the networks named, of either family", () => {
    const { isOn, allows } = createWhyAccess(["192.0.2.0/24", "2001:db8::/32"]);
    assert.ok(isOn);
    const peers = ["192.0.2.255", "192.0.3.0", "2001:db8:ffff::1", "2001:db9::1", "::1", ""];
    assert.deepEqual(peers.map(allows), [true, false, true, false, false, false]);
  });
});

describe("what is told", () => {
  it("is nothing unknown dressed up as a number, where nobody serves", () => {
    const decision = decideIn({ regions: [aRegion("frankfurt", { admin: "down" })] });
    assert.deepEqual(decisionTexts(decision, NOW_MS + 40), [
      "region=none",
      "verdict=unserved",
      "answered-with=nothing",
      "lead-ms=unknown",
      "runner-up=none",
      `decision=${decision.id}`,
      "decision-age-ms=40",
      "report-age-ms=unknown",
    ]);
  });
});

describe("what is degraded", () => {
  it("is nothing where nothing is", () => {
    assert.deepEqual(degradedTexts({ degradations: [], worldAgeMs: 80, isWorldSaved: false }), []);
  });
  it("is told with for how long, the store first by its own name, and on how old a world decisions rest", () => {
    const degradations = [
      { what: "store", ageMs: 12_400 },
      { what: "pins", ageMs: 11_600 },
    ];
    assert.deepEqual(degradedTexts({ degradations, worldAgeMs: 80.4, isWorldSaved: false }), [
      "store=away since=12s",
      "degraded=pins since=12s",
      "world-age-ms=80",
    ]);
    assert.deepEqual(
      degradedTexts({ degradations, worldAgeMs: 3_600_000, isWorldSaved: true }).at(-1),
      "saved-world-age-ms=3600000",
    );
  });
});
