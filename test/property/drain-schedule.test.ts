/** Whatever is drained by whatever schedule: the cheapest first, nobody stays beyond the end, and every GTM says the same. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { Decision } from "#gtm/domain/decision.ts";
import { regionOf } from "#gtm/domain/decision.ts";
import { type Leaver, type PaceWish, pacedDrain } from "#gtm/domain/drain-pace.ts";
import { leavesAtMs, leavingKey } from "#gtm/domain/drain-schedule.ts";
import { ConversationId } from "#shared/ids.ts";
import { OrdersRecord } from "#shared/records.ts";
import { aConversation, aRegion, decideIn, NOW_MS, regionId } from "#test/support/builders.ts";

const leaver: fc.Arbitrary<Leaver> = fc
  .record({
    tokens: fc.oneof(fc.integer({ min: 0, max: 200_000 }), fc.constant(4_096)),
    name: fc.string({ minLength: 1, maxLength: 12 }),
    recomputed: fc.double({ min: 0, max: 1, noNaN: true }),
    model: fc.constantFrom("a", "b"),
  })
  .map(({ tokens, name, recomputed, model }) => ({
    key: leavingKey(tokens, name),
    recomputeTokens: tokens * recomputed,
    model,
  }));
const wish: fc.Arbitrary<PaceWish> = fc
  .record({
    startsAtMs: fc.integer({ min: 1, max: 2e12 }),
    overMs: fc.integer({ min: 1_000, max: 86_400_000 }),
    pace: fc.constantFrom("spare" as const, "even" as const),
    leavers: fc.array(leaver, { maxLength: 80 }),
    spares: fc.record({
      a: fc.oneof(fc.constant(0), fc.double({ min: 1, max: 1e6, noNaN: true })),
      b: fc.double({ min: 0, max: 1e6, noNaN: true }),
    }),
  })
  .map(({ spares, ...rest }) => ({ ...rest, spareOf: (model) => (model === "a" ? spares.a : spares.b) }));
const RUNS = { numRuns: 300 };

describe("a schedule of leaving", () => {
  it("lets everything leave by its end, which is not after the deadline, and nothing before its start", () => {
    fc.assert(
      fc.property(wish, fc.double({ min: 0, max: 1e7, noNaN: true }), (given, key) => {
        const { schedule } = pacedDrain(given);
        assert.ok(schedule.endsAtMs <= given.startsAtMs + given.overMs);
        for (const one of [key, ...given.leavers.map((who) => who.key)]) {
          const atMs = leavesAtMs(schedule, one);
          assert.ok(schedule.startsAtMs <= atMs && atMs <= schedule.endsAtMs, `${one} leaves at ${atMs}`);
        }
      }),
      RUNS,
    );
  });
  it("never lets a dearer conversation leave before a cheaper one", () => {
    const two = fc.tuple(fc.double({ min: 0, max: 3e5, noNaN: true }), fc.double({ min: 0, max: 3e5, noNaN: true }));
    fc.assert(
      fc.property(wish, two, (given, [a, b]) => {
        const { schedule } = pacedDrain(given);
        assert.ok(leavesAtMs(schedule, Math.min(a, b)) <= leavesAtMs(schedule, Math.max(a, b)));
      }),
      RUNS,
    );
  });
  it("is the same whatever order the conversations are listed in, and still is once it was stored and read", () => {
    fc.assert(
      fc.property(wish, (given) => {
        const { schedule } = pacedDrain(given);
        assert.deepEqual(pacedDrain({ ...given, leavers: given.leavers.toReversed() }).schedule, schedule);
        const order = {
          ...{ region: regionId("frankfurt"), admin: "drain-all", comment: "c", actor: "a", orderedAtMs: 1 },
          ...{ expiresAtMs: null, schedule },
        };
        const stored = OrdersRecord.parse(
          JSON.parse(JSON.stringify({ v: 1, rev: 1, regions: [order], overrides: [] })),
        );
        for (const { key } of given.leavers) {
          const read = stored.regions[0]?.schedule;
          assert.equal(read === undefined ? null : leavesAtMs(read, key), leavesAtMs(schedule, key));
        }
      }),
      RUNS,
    );
  });
  it("ends early where the others have much to spare, and says how long it would have taken where it is hurried", () => {
    fc.assert(
      fc.property(wish, (given) => {
        const { schedule, wantedMs } = pacedDrain(given);
        if (given.pace === "even" || given.leavers.length === 0) return;
        const tookMs = schedule.endsAtMs - schedule.startsAtMs;
        assert.equal(tookMs, wantedMs === null ? given.overMs : Math.min(given.overMs, wantedMs));
      }),
      RUNS,
    );
  });
});

describe("a conversation at home in a region that is drained by a schedule", () => {
  const regions = [aRegion("frankfurt", { admin: "drain-all" }), aRegion("paris")];
  const schedule = {
    startsAtMs: NOW_MS,
    endsAtMs: NOW_MS + 600_000,
    steps: [
      [300_000, 10_000],
      [600_000, 40_000],
    ] as const,
  };
  const drains = { byRegion: new Map([["frankfurt", schedule]]), byOverride: new Map() };
  const decideAt = (passedMs: number, contextTokens: number, name: string): Decision =>
    decideIn({
      regions,
      conversation: {
        ...aConversation({ home: "frankfurt", contextTokens, idleMs: 30_000 - passedMs }),
        id: ConversationId.parse(name),
      },
      query: { receivedAtMs: NOW_MS + passedMs },
      // A GTM whose own clock started at another time, with the same wall clock.
      world: { drains, takenAtMs: NOW_MS + passedMs },
    });
  const turn = fc.record({
    passedMs: fc.integer({ min: 0, max: 900_000 }),
    tokens: fc.integer({ min: 0, max: 60_000 }),
    name: fc.stringMatching(/^[0-9a-hjkmnp-tv-z]{13}$/).filter((text) => ConversationId.safeParse(text).success),
  });

  it("stays exactly until its turn to leave, and the record says so either way", () => {
    fc.assert(
      fc.property(turn, ({ passedMs, tokens, name }) => {
        const dueAtMs = leavesAtMs(schedule, leavingKey(tokens, name));
        const decision = decideAt(passedMs, tokens, name);
        const home = decision.considered.find(({ region }) => region === "frankfurt");
        if (NOW_MS + passedMs >= dueAtMs) {
          assert.equal(regionOf(decision.verdict), "paris");
          assert.deepEqual(home?.kind === "excluded" && home.exclusion, {
            ...{ reason: "draining", admin: "drain-all", dueAtMs },
          });
        } else {
          assert.equal(home?.kind === "candidate" && home.leavesAtMs, dueAtMs);
        }
        if (passedMs >= 600_000) assert.notEqual(regionOf(decision.verdict), "frankfurt");
      }),
      RUNS,
    );
  });
  it("is decided alike by GTMs whose monotonic clocks differ", () => {
    fc.assert(
      fc.property(turn, fc.integer({ min: -500_000, max: 500_000 }), ({ passedMs, tokens, name }, aheadMs) => {
        const here = decideAt(passedMs, tokens, name);
        const conversation = {
          ...aConversation({ home: "frankfurt", contextTokens: tokens, idleMs: 30_000 - passedMs - aheadMs }),
          id: ConversationId.parse(name),
        };
        const there = decideIn({
          regions,
          conversation,
          query: { receivedAtMs: NOW_MS + passedMs + aheadMs },
          world: { drains, takenAtMs: NOW_MS + passedMs + aheadMs, epochAheadMs: -aheadMs },
        });
        assert.deepEqual(there.verdict, here.verdict);
      }),
      RUNS,
    );
  });
});
