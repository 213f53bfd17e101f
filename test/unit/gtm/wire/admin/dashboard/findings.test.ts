/** What the page says is wrong, and what it asks for: the parts of it that need no browser. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findingsOf } from "#gtm/wire/admin/dashboard/app/findings.ts";
import { hrefOf, placeOf } from "#gtm/wire/admin/dashboard/app/place.ts";
import { orderAsked, ordersAfter, REGION_ORDERS } from "#gtm/wire/admin/dashboard/app/region-orders.ts";
import type { RecentView } from "#gtm/wire/admin/routes/recent.ts";
import type { Status } from "#gtm/wire/admin/routes/status.ts";

const NOW = Date.UTC(2026, 10, 30, 4);
type RegionOfStatus = Status["regions"][number];
const region = (id: string, wish: Partial<RegionOfStatus> = {}): RegionOfStatus => ({
  ...{
    id,
    admin: "active",
    health: "healthy",
    takesNew: true,
    keepsHeld: true,
    because: "In service.",
    reportAgeMs: 400,
  },
  ...wish,
});
const status = (wish: Partial<Status>): Status => ({
  ...{ instance: "gtm-1", version: "0.1.0", state: "ready", degradedSince: null, reasons: [], degradations: [] },
  ...{
    uptimeMs: 1,
    isStoreUp: true,
    world: { version: 1, ageMs: 1, areAgesFrozen: false, savedAgeMs: null },
    pools: [],
  },
  ...{ regions: [region("paris")], orders: { rev: 0, regions: 0, overrides: 0 } },
  ...wish,
});
const recent = (wish: Partial<RecentView>): RecentView => ({
  ...{ bucketMs: 10_000, buckets: [], areas: [], changes: [], since: [] },
  ...wish,
});
const turns = (all: number, overThreeSeconds: number, failed = 0): RecentView["buckets"] => [
  { at: new Date(NOW).toISOString(), verdicts: {}, turns: [{ region: "paris", turns: all, overThreeSeconds, failed }] },
];

describe("what the page finds wrong", () => {
  it("is nothing where every region is in service and turns are quick", () => {
    assert.deepEqual(findingsOf(status({}), recent({ buckets: turns(100, 4) }), NOW), []);
  });
  it("names a region that is not well, why, for how long, and leads there", () => {
    const regions = [region("paris", { health: "unhealthy", because: "Does not answer its probe: serves nothing." })];
    const since = [{ region: "paris", healthSince: new Date(NOW - 42_000).toISOString(), adminSince: "" }];
    assert.deepEqual(findingsOf(status({ regions }), recent({ since }), NOW), [
      {
        tone: "bad",
        text: "paris, for 42 s: Does not answer its probe: serves nothing.",
        href: "#/regions/paris",
      },
    ]);
  });
  it("says of such a region what it did to users: turns there over three seconds", () => {
    const regions = [region("paris", { health: "degraded", because: "In service, though degraded." })];
    const [finding] = findingsOf(status({ regions }), recent({ buckets: turns(200, 7) }), NOW);
    assert.equal(
      finding?.text,
      "paris: In service, though degraded. 7 of 200 turns there waited over 3 s, last 5 min.",
    );
  });
  it("names what is degraded, with its age", () => {
    const degradations = [
      { what: "store", reason: "The store is away", since: "", ageMs: 180_000 },
      { what: "regions", reason: "region paris is degraded", since: "", ageMs: 1_000 },
    ];
    assert.deepEqual(findingsOf(status({ degradations }), null, NOW), [
      { tone: "warn", text: "The store is away (for 3 min)", href: null },
    ]);
  });
  it("tells what it did to users: turns over three seconds from a twentieth on, and any that failed", () => {
    const texts = (buckets: RecentView["buckets"]) =>
      findingsOf(status({}), recent({ buckets }), NOW).map(({ text }) => text);
    assert.deepEqual(texts(turns(100, 5)), ["5 of 100 turns (5 %) waited over 3 s for their first token, last 5 min"]);
    assert.deepEqual(texts(turns(100, 0, 2)), ["2 turns failed at their engine, last 5 min"]);
  });
});

describe("an order of the page", () => {
  const said = { region: "eu central", comment: "driver update", lasting: "2h", over: "" };
  it("is the same to the API and on the command line", () => {
    const drain = REGION_ORDERS["drain-all"];
    assert.ok(drain !== undefined);
    assert.deepEqual(orderAsked(drain, said), {
      path: "/regions/eu%20central/drain",
      body: { mode: "drain-all", comment: "driver update", for: "2h" },
      words: ["drain", "eu central", "--mode", "drain-all", "--comment", "driver update", "--for", "2h"],
    });
  });
  it("that moves conversations by and by says by when, and no other does", () => {
    const [all, down] = [REGION_ORDERS["drain-all"], REGION_ORDERS["down"]];
    assert.ok(all !== undefined && down !== undefined);
    const asked = orderAsked(all, { ...said, over: "10m" });
    assert.deepEqual([asked.body["over"], asked.words.slice(-2)], ["10m", ["--over", "10m"]]);
    assert.deepEqual(orderAsked(down, { ...said, over: "10m" }), orderAsked(down, said));
  });
  it("that takes something back needs no reason and has no end", () => {
    const undrain = REGION_ORDERS["undrain"];
    assert.ok(undrain !== undefined);
    assert.deepEqual(orderAsked(undrain, { ...said, comment: "" }), {
      ...{ path: "/regions/eu%20central/undrain", body: {}, words: ["undrain", "eu central"] },
    });
  });
  it("is never one that the region's state does not allow: drain is not down", () => {
    assert.deepEqual(ordersAfter("down"), ["up"]);
    assert.ok(!ordersAfter("drain-all").includes("up"));
    assert.deepEqual(ordersAfter("a state of a later version"), []);
  });
});

describe("an address of the page", () => {
  it("holds the screen, what it is about, and its filters", () => {
    const place = placeOf(hrefOf("conversations", "a/b c", { region: "paris", cursor: "" }));
    assert.deepEqual(
      [place.screen, place.subject, place.filters.toString()],
      ["conversations", "a/b c", "region=paris"],
    );
  });
  it("that somebody typed may be anything", () => {
    for (const hash of ["", "#", "#/", "#/decision/%", "#//", "#/?x"])
      assert.equal(typeof placeOf(hash).screen, "string");
    assert.equal(placeOf("#/decision/%zz").subject, "%zz");
  });
});
