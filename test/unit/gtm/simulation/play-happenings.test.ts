import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Happening } from "#gtm/simulation/scenario.ts";
import { steered } from "#gtm/simulation/steered.ts";
import { always, chats, EAST, nearest, type Played, played, region, small, WEST } from "./small-scenario.ts";

const FROM_MS = 20_000;
const TO_MS = 40_000;
/** Of a hundred chats that ask from the first second to the last. */
const befallen = (kind: Happening["kind"], end: Happening["kind"], create = nearest): Played =>
  played(
    small({
      traffic: (seed) => chats(seed, 100),
      happenings: [
        { kind, region: EAST, atMs: FROM_MS },
        { kind: end, region: EAST, atMs: TO_MS },
      ],
    }),
    create,
  );
const inEast = ({ records }: Played) => records.filter((one) => one.region === EAST);
const servedBetween = (one: Played, fromMs: number, toMs: number) =>
  inEast(one).filter(({ firstTokenAtMs }) => firstTokenAtMs >= fromMs && firstTokenAtMs < toMs).length;

describe("a region that fails", () => {
  for (const [policy, create] of [
    ["nearest", nearest],
    ["gtm", steered()],
  ] as const) {
    it(`serves nobody until it is back; who was there asks again, and is served elsewhere (${policy})`, () => {
      const lost = befallen("fails", "returns", create);
      assert.ok(servedBetween(lost, 0, FROM_MS) > 20);
      assert.equal(servedBetween(lost, FROM_MS + 50, TO_MS), 0, "but for what was on its way to the client");
      assert.ok(servedBetween(lost, TO_MS, Number.POSITIVE_INFINITY) > 20, "it is used again");
      const again = lost.records.filter(({ failedAttempts }) => failedAttempts > 0);
      assert.ok(again.length > 0 && again.every((one) => one.region === WEST), `${again.length} asked again`);
      assert.equal(lost.totals.lost, 0);
    });
  }

  it("is known to be down after three seconds, and to be back after two", () => {
    const lost = befallen("fails", "returns");
    const failed = lost.records.filter(({ failedAttempts }) => failedAttempts > 0);
    const arrivals = failed.map(({ askedAtMs }) => askedAtMs);
    assert.ok(Math.max(...arrivals) < FROM_MS + 3_100, `${Math.max(...arrivals)}`);
    const back = inEast(lost).filter(({ askedAtMs }) => askedAtMs >= TO_MS);
    assert.ok(Math.min(...back.map(({ askedAtMs }) => askedAtMs)) > TO_MS + 1_800);
  });

  it("comes back with empty caches", () => {
    const lost = befallen("fails", "returns");
    const calm = played(small({ traffic: (seed) => chats(seed, 100) }), nearest);
    const cachedIn = (one: Played) =>
      inEast(one)
        .filter(({ askedAtMs, turn }) => turn > 1 && askedAtMs > TO_MS && askedAtMs < TO_MS + 5_000)
        .map(({ cachedTokens }) => cachedTokens > 0);
    assert.ok(cachedIn(calm).length > 0 && cachedIn(calm).every((isCached) => isCached));
    assert.ok(cachedIn(lost).filter((isCached) => !isCached).length > cachedIn(lost).length / 2);
  });

  it("loses the turns of clients who never hear of another one", () => {
    const happenings: readonly Happening[] = [{ kind: "fails", region: EAST, atMs: 0 }];
    const { records, lost, totals } = played(small({ traffic: (seed) => chats(seed, 3), happenings }), always(EAST));
    assert.equal(records.length, 0);
    assert.equal(lost.length, totals.asked);
    assert.deepEqual(new Set(lost.map(({ reason }) => reason)), new Set(["gave-up"]));
  });
});

describe("a region that is drained", () => {
  it("ends what is under way, takes no more, and is taken up again", () => {
    const drained = befallen("drains", "undrains", steered());
    const during = inEast(drained).filter(({ askedAtMs }) => askedAtMs > FROM_MS && askedAtMs < TO_MS - 500);
    assert.equal(during.length, 0);
    assert.ok(drained.records.every(({ failedAttempts }) => failedAttempts === 0));
    assert.ok(drained.records.some(({ verdict }) => verdict === "displaced"));
    assert.ok(inEast(drained).some(({ askedAtMs }) => askedAtMs > TO_MS));
  });
});

describe("a region whose agents fall silent", () => {
  it("is left by who needs reports once they expire, while it goes on serving", () => {
    const happenings: readonly Happening[] = [{ kind: "falls-silent", region: EAST, atMs: 10_000 }];
    const traffic = (seed: number) => chats(seed, 150);
    const silent = played(small({ traffic, happenings, measuredMs: 80_000 }), steered());
    assert.ok(servedBetween(silent, 20_000, 35_000) > 10, "30 s old reports still count");
    const after = inEast(silent).filter(({ askedAtMs }) => askedAtMs > 41_000);
    assert.equal(after.length, 0, "older ones do not");
    const heeded = played(small({ traffic, happenings, measuredMs: 80_000 }), nearest);
    assert.ok(servedBetween(heeded, 41_000, 85_000) > 10, "probes have nothing against it");
  });
});

describe("a region whose model is on disk", () => {
  const fleet = (one: "cold" | "loaded") => [
    { ...region("east", 8), placement: "cold" as const, engine: { ...region("east", 8).engine, coldStartMs: 10_000 } },
    { ...region("west", -77), placement: one },
  ];
  it("is not used before somebody has loaded it, and then after its cold start", () => {
    const happenings: readonly Happening[] = [{ kind: "loads", region: EAST, atMs: FROM_MS }];
    const cold = played(small({ fleet: fleet("loaded"), traffic: (seed) => chats(seed, 100), happenings }), steered());
    const first = Math.min(...inEast(cold).map(({ askedAtMs }) => askedAtMs));
    assert.ok(first > FROM_MS + 9_000 && first < FROM_MS + 16_000, `${first}`);
  });

  it("loads it for the first who comes, where it is loaded nowhere", () => {
    const all = fleet("cold").map((one) => ({ ...one, engine: { ...one.engine, coldStartMs: 10_000 } }));
    const cold = played(small({ fleet: all, traffic: (seed) => chats(seed, 4) }), steered());
    assert.equal(cold.totals.lost, 0);
    const [first] = cold.records;
    assert.ok((first?.firstTokenAtMs ?? 0) - (first?.askedAtMs ?? 0) > 10_000);
  });
});

describe("names alone", () => {
  const dns = { kind: "dns" as const, resolversPerCity: 2, areBusy: false };
  it("cost no redirect, and what is known is kept for its TTL: a dead region is asked until then", () => {
    const happenings: readonly Happening[] = [{ kind: "fails", region: EAST, atMs: FROM_MS }];
    const traffic = (seed: number) => chats(seed, 100);
    const [led, redirected] = [played(small({ traffic, leading: dns }), nearest), played(small({ traffic }), nearest)];
    const first = ({ records }: Played) => records.find(({ conversation, turn }) => conversation === 0 && turn === 1);
    const saved = (first(redirected)?.firstTokenAtMs ?? 0) - (first(led)?.firstTokenAtMs ?? 0);
    // Three round trips to the front: 20 ms and 10 to the net.
    assert.equal(Math.round(saved), 90);
    for (const create of [nearest, steered()]) {
      const lost = played(small({ traffic, leading: dns, happenings }), create);
      const failed = lost.records.filter(({ failedAttempts }) => failedAttempts > 0).map(({ askedAtMs }) => askedAtMs);
      const last = Math.max(...failed);
      assert.ok(last > FROM_MS + 3_100 && last < FROM_MS + 24_000, `${last}`);
    }
  });
});
