import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Epoch, Facts } from "#gtm/dns-workers/messages.ts";
import { createMirror } from "#gtm/dns-workers/mirror.ts";
import { createLabels, ephemeralLabelKeys } from "#shared/pin-token.ts";
import { aRegion, aWorld, regionId } from "#test/support/builders.ts";
import { createManualClock } from "#test/support/manual-clock.ts";

const labelKeys = ephemeralLabelKeys();
const aFact = (some: Partial<Facts> = {}): Facts =>
  // As they travel: copies.
  structuredClone({
    degradations: [],
    savedAtMs: null,
    areAgesFrozen: false,
    cookieKeys: [new Uint8Array(16).fill(1)],
    labelKeys,
    ...some,
  });
const anEpoch = (some: Partial<Epoch> = {}): Epoch => ({
  world: aWorld([aRegion("frankfurt")]),
  learnt: null,
  atEpochMs: 0,
  cells: [],
  ...some,
});

describe("what a thread knows of the GTM", () => {
  it("is nothing before it was told, and then nobody may be answered", () => {
    const mirror = createMirror(createManualClock());
    assert.throws(() => mirror.world(), /has not said anything yet/);
    assert.throws(() => mirror.labels.read("p1"), /has not said anything yet/);
  });

  it("has the cells of all epochs, the newest word of each", () => {
    const mirror = createMirror(createManualClock());
    mirror.hearEpoch(anEpoch({ cells: [["a", regionId("frankfurt")]] }));
    mirror.hearEpoch(anEpoch({ cells: [["b", regionId("virginia")]] }));
    mirror.hearEpoch(anEpoch({ cells: [["a", regionId("paris")]] }));
    assert.deepEqual([mirror.regionOf("a"), mirror.regionOf("b"), mirror.regionOf("c")], ["paris", "virginia", null]);
  });

  it("keeps its secrets the same objects until they change, since cookies compute from them", () => {
    const mirror = createMirror(createManualClock());
    mirror.hearFacts(aFact());
    const before = mirror.cookieKeys();
    mirror.hearFacts(aFact({ savedAtMs: 1 }));
    assert.equal(mirror.cookieKeys(), before);
    mirror.hearFacts(aFact({ cookieKeys: [new Uint8Array(16).fill(2)] }));
    assert.deepEqual(mirror.cookieKeys(), [new Uint8Array(16).fill(2)]);
  });

  it("reads labels with the keys of now", () => {
    const mirror = createMirror(createManualClock());
    mirror.hearFacts(aFact());
    const next = {
      ...labelKeys,
      signingKeys: [{ id: (labelKeys.signingKeys[0].id + 1) % 256, key: new Uint8Array(32).fill(3) }] as const,
    };
    const conversation = createLabels(next).conversationIdOf("tenant", "name");
    const label = createLabels(next).mint({
      pool: "chat" as never,
      region: regionId("frankfurt"),
      conversation,
      issuedAtMs: 0,
    });
    assert.equal(mirror.labels.read(label).kind, "stranger");
    mirror.hearFacts(aFact({ labelKeys: next }));
    assert.equal(mirror.labels.read(label).kind, "ours");
  });

  it("says at once that ages stand still, in the same world", () => {
    const mirror = createMirror(createManualClock());
    mirror.hearFacts(aFact());
    mirror.hearEpoch(anEpoch());
    const { version } = mirror.world();
    mirror.hearFacts(aFact({ areAgesFrozen: true }));
    assert.deepEqual([mirror.world().areAgesFrozen, mirror.world().version], [true, version]);
  });

  it("tells what is degraded, and since when", () => {
    const clock = createManualClock();
    const mirror = createMirror(clock);
    mirror.hearEpoch(anEpoch({ world: aWorld([], { takenAtMs: clock.monotonicMs() }) }));
    mirror.hearFacts(aFact({ degradations: [{ what: "store", sinceMs: clock.epochMs() }] }));
    clock.advance(400);
    assert.deepEqual(mirror.degraded(), {
      degradations: [{ what: "store", ageMs: 400 }],
      worldAgeMs: 400,
      isWorldSaved: false,
    });
    mirror.hearFacts(aFact({ savedAtMs: clock.monotonicMs() - 9_000 }));
    const { worldAgeMs, isWorldSaved } = mirror.degraded();
    assert.deepEqual([worldAgeMs, isWorldSaved], [9_000, true]);
  });
});
