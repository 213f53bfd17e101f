/** The ring of happenings: numbered, and readable from where a reader stopped. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createEventHub, type Happening } from "#gtm/wire/admin/event-hub.ts";
import { EPOCH_MS, fakeGtm } from "./fake-ports.ts";

const hubOf = (gtm: ReturnType<typeof fakeGtm>, boot = "b1") =>
  createEventHub({
    world: gtm.ports.steering.world,
    decisions: gtm.ports.decisions,
    clock: gtm.clock,
    boot,
  });
const seqs = (happenings: readonly Happening[]): number[] => happenings.map(({ seq }) => seq);

describe("an event hub", () => {
  it("tells its listeners of decisions at once", () => {
    const gtm = fakeGtm();
    const hub = hubOf(gtm);
    const heard: Happening[] = [];
    const unsubscribe = hub.subscribe((happening) => heard.push(happening));
    const entry = gtm.decide();
    unsubscribe();
    gtm.decide();
    assert.deepEqual(heard, [{ seq: 1, kind: "decision", entry }]);
  });
  it("tells of a region that changed when it looks, once", () => {
    const gtm = fakeGtm();
    const hub = hubOf(gtm);
    const heard: Happening[] = [];
    hub.subscribe((happening) => heard.push(happening));
    gtm.setRegion("paris", { health: "silent" });
    hub.look();
    hub.look();
    assert.deepEqual(heard, [
      {
        seq: 1,
        kind: "region",
        atMs: EPOCH_MS,
        change: { region: "paris", changes: [{ field: "health", from: "healthy", to: "silent" }] },
      },
    ]);
  });
  it("hears no more once stopped", () => {
    const gtm = fakeGtm();
    const hub = hubOf(gtm);
    hub.stop();
    gtm.decide();
    assert.deepEqual(hub.since("b1-0"), { kind: "found", happenings: [] });
  });
});

describe("a reader that comes back", () => {
  it("gets what followed the last event it saw", () => {
    const gtm = fakeGtm();
    const hub = hubOf(gtm);
    for (let i = 0; i < 5; i++) gtm.decide();
    const resumed = hub.since(hub.idOf({ seq: 3 }));
    assert.ok(resumed.kind === "found");
    assert.deepEqual(seqs(resumed.happenings), [4, 5]);
  });
  it("gets nothing twice where it saw everything", () => {
    const gtm = fakeGtm();
    const hub = hubOf(gtm);
    gtm.decide();
    assert.deepEqual(hub.since("b1-1"), { kind: "found", happenings: [] });
  });
  it("after 1 000 more events still gets all of them, after 1 001 a gap", () => {
    const gtm = fakeGtm();
    const hub = hubOf(gtm);
    for (let i = 0; i < 1_001; i++) gtm.decide();
    const resumed = hub.since("b1-1");
    assert.ok(resumed.kind === "found");
    assert.deepEqual([resumed.happenings.length, resumed.happenings[0]?.seq], [1_000, 2]);
    assert.deepEqual(hub.since("b1-0"), { kind: "gap" });
  });
  for (const id of ["b0-1", "b1-7", "b1-", "b1--1", "", "1", "b1-1e3", "b1-999999999999999999"]) {
    it(`with the id "${id}" gets a gap`, () => {
      const gtm = fakeGtm();
      const hub = hubOf(gtm);
      gtm.decide();
      assert.deepEqual(hub.since(id), { kind: "gap" });
    });
  }
});
