/** What a DNS name is answered with, for how long, and when it is decided anew. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { regionOf } from "#gtm/domain/decision.ts";
import type { World } from "#gtm/domain/world.ts";
import { cellOf, createCellSteer, needsDecision } from "#gtm/steering/cell.ts";
import { cellDemand } from "#gtm/steering/cell-moves.ts";
import { explain } from "#gtm/steering/explain.ts";
import { DEFAULT_POLICY } from "#gtm/steering/policy.ts";
import {
  aClient,
  aConversation,
  aPool,
  aQuery,
  aRegion,
  aWorld,
  CONVERSATION,
  decideIn,
  NOW_MS,
  regionId,
} from "#test/support/builders.ts";

const decideCellIn = (world: World, previous: string | null = null) => {
  const pool = aPool(world.regions);
  const client = aClient("frankfurt");
  const steer = createCellSteer({ world: () => world }, DEFAULT_POLICY);
  const query = aQuery(pool, { channel: "dns", kind: "cell" });
  return steer(query, client, cellOf(pool, client, 4), previous === null ? null : regionId(previous));
};

describe("a pool's name asked from Frankfurt", () => {
  it("is answered with the nearest idle region, for 20 s", () => {
    const decision = decideCellIn(aWorld([aRegion("frankfurt"), aRegion("singapore")]));
    assert.deepEqual([regionOf(decision.verdict), decision.ttlSeconds], ["frankfurt", 20]);
  });

  it("is answered for 5 s where the choice is close", () => {
    const decision = decideCellIn(aWorld([aRegion("frankfurt"), aRegion("frankfurt-2", { place: "frankfurt" })]));
    assert.equal(decision.ttlSeconds, 5);
  });

  it("is answered for 5 s while the region is degraded", () => {
    assert.equal(
      decideCellIn(aWorld([aRegion("frankfurt", { health: "degraded" }), aRegion("singapore")])).ttlSeconds,
      5,
    );
  });

  it("looks at the averaged backlog, not at this moment's", () => {
    const busyNow = aRegion("frankfurt", { placement: { backlogMs: 9_000, averageBacklogMs: 0 } });
    assert.equal(regionOf(decideCellIn(aWorld([busyNow, aRegion("paris")])).verdict), "frankfurt");
    const busyForLong = aRegion("frankfurt", { placement: { backlogMs: 0, averageBacklogMs: 9_000 } });
    assert.equal(regionOf(decideCellIn(aWorld([busyForLong, aRegion("paris")])).verdict), "paris");
  });

  it("goes by queues of minutes where it is to stay for an hour, and by the last minute's where it had no region", () => {
    const { key } = cellOf(aPool([aRegion("frankfurt"), aRegion("paris")]), aClient("frankfurt"), 4);
    let takenAtMs = NOW_MS;
    while (cellDemand(key, takenAtMs).savingMs !== 0) takenAtMs += 1_000;
    const decided = (averageBacklogMs: number, longAverageBacklogMs: number, previous?: string) => {
      const busy = aRegion("frankfurt", { placement: { averageBacklogMs, longAverageBacklogMs } });
      return regionOf(decideCellIn(aWorld([busy, aRegion("paris")], { takenAtMs }), previous).verdict);
    };
    assert.equal(decided(2_000, 0, "frankfurt"), "frankfurt", "a minute's queue is chance");
    assert.equal(decided(0, 2_000, "frankfurt"), "paris");
    assert.equal(decided(2_000, 0), "paris");
    assert.equal(decided(0, 2_000), "frankfurt");
  });

  it("moves for an hour only if it would still save where it goes once its clients have doubled the queue there", () => {
    const { key } = cellOf(aPool([aRegion("frankfurt"), aRegion("paris")]), aClient("frankfurt"), 4);
    let takenAtMs = NOW_MS;
    while (cellDemand(key, takenAtMs).savingMs !== 0) takenAtMs += 1_000;
    const decided = (frankfurtMs: number, parisMs: number) =>
      decideCellIn(
        aWorld(
          [
            aRegion("frankfurt", { placement: { averageBacklogMs: frankfurtMs } }),
            aRegion("paris", { placement: { averageBacklogMs: parisMs } }),
          ],
          { takenAtMs },
        ),
        "frankfurt",
      );
    const kept = decided(3_000, 1_600);
    assert.equal(regionOf(kept.verdict), "frankfurt");
    assert.equal(kept.marginMs, 1_600);
    assert.equal(regionOf(decided(3_500, 1_600).verdict), "paris");
  });

  const cases: readonly {
    readonly when: string;
    readonly savingMs: number;
    readonly keptAtMs: number;
    readonly leftAtMs: number;
  }[] = [
    { when: "in its minute of the hour, by more than the margin", savingMs: 0, keptAtMs: 120, leftAtMs: 2_000 },
    {
      when: "in its minutes of a quarter of an hour, by more than 5 s",
      savingMs: 5_000,
      keptAtMs: 4_900,
      leftAtMs: 5_500,
    },
    { when: "in its minutes of five, by more than 15 s", savingMs: 15_000, keptAtMs: 14_500, leftAtMs: 15_500 },
    { when: "at any other time, by more than a minute", savingMs: 60_000, keptAtMs: 59_000, leftAtMs: 61_000 },
  ];
  for (const { when, savingMs, keptAtMs, leftAtMs } of cases) {
    it(`keeps its region until another is cheaper: ${when}`, () => {
      const { key } = cellOf(aPool([aRegion("frankfurt"), aRegion("paris")]), aClient("frankfurt"), 4);
      let takenAtMs = NOW_MS;
      while (cellDemand(key, takenAtMs).savingMs !== savingMs) takenAtMs += 1_000;
      const busyBy = (averageBacklogMs: number) =>
        aWorld([aRegion("frankfurt", { placement: { averageBacklogMs } }), aRegion("paris")], { takenAtMs });
      const kept = decideCellIn(busyBy(keptAtMs), "frankfurt");
      assert.equal(regionOf(kept.verdict), "frankfurt");
      assert.equal(regionOf(decideCellIn(busyBy(leftAtMs), "frankfurt").verdict), "paris");
      assert.equal(regionOf(decideCellIn(busyBy(120), "paris").verdict), "paris");
      if (savingMs === 0) return;
      assert.equal(kept.ttlSeconds, 20, "nothing is about to change");
      assert.match(explain(kept, DEFAULT_POLICY).explanation, /paris would cost .* less, under the margin of/);
    });
  }

  it("goes where it would be without queues for a minute after a region began to serve, whatever its own minutes", () => {
    const busyBy = (averageBacklogMs: number) => [
      aRegion("frankfurt", { placement: { averageBacklogMs } }),
      aRegion("singapore"),
    ];
    const { key } = cellOf(aPool(busyBy(0)), aClient("frankfurt"), 4);
    let takenAtMs = NOW_MS;
    while (cellDemand(key, takenAtMs).savingMs !== 60_000) takenAtMs += 1_000;
    const after = (ms: number, previous: string, backlogMs = 0) =>
      regionOf(decideCellIn(aWorld(busyBy(backlogMs), { takenAtMs, openedAtMs: takenAtMs - ms }), previous).verdict);
    assert.deepEqual(
      [0, 59_999, 60_000].map((ms) => after(ms, "singapore")),
      ["frankfurt", "frankfurt", "singapore"],
    );
    assert.equal(after(0, "singapore", 9_000), "singapore", "not while it is dearer there");
    assert.equal(after(0, "frankfurt", 9_000), "frankfurt", "the shortest queue is everybody's");
  });

  it("is let go in the same minutes by instances that started at other times", () => {
    const regions = [aRegion("frankfurt", { placement: { averageBacklogMs: 2_000 } }), aRegion("paris")];
    const at = (epochMs: number, takenAtMs: number) =>
      regionOf(decideCellIn(aWorld(regions, { takenAtMs, epochAheadMs: epochMs - takenAtMs }), "frankfurt").verdict);
    const seen = new Set<string | null>();
    for (let epochMs = 1_800_000_000_000; epochMs < 1_800_003_600_000; epochMs += 30_000) {
      seen.add(at(epochMs, NOW_MS));
      assert.equal(at(epochMs, NOW_MS), at(epochMs, NOW_MS + 987_654));
    }
    assert.deepEqual([...seen].toSorted(), ["frankfurt", "paris"]);
  });

  it("leaves a region that may not serve at once, whenever that is", () => {
    const regions = [aRegion("frankfurt", { admin: "down" }), aRegion("paris")];
    for (let takenAtMs = NOW_MS; takenAtMs < NOW_MS + 1_800_000; takenAtMs += 30_000)
      assert.equal(regionOf(decideCellIn(aWorld(regions, { takenAtMs }), "frankfurt").verdict), "paris");
  });

  it("is placed, never migrated: an answer is no conversation", () => {
    const world = aWorld([aRegion("frankfurt", { placement: { averageBacklogMs: 9_000 } }), aRegion("paris")]);
    assert.equal(decideCellIn(world, "frankfurt").verdict.kind, "placed");
    assert.equal(
      decideCellIn(aWorld([aRegion("frankfurt", { admin: "down" }), aRegion("paris")]), "frankfurt").verdict.kind,
      "placed",
    );
  });
});

describe("a cell's decision", () => {
  const last = { decidedAtMs: NOW_MS, worldVersion: 7, candidacyVersion: 1 };
  const cases: readonly { when: string; world: Partial<World>; afterMs: number; expected: boolean }[] = [
    { when: "nothing is new", world: {}, afterMs: 60_000, expected: false },
    { when: "a new world is there after half a second", world: { version: 8 }, afterMs: 500, expected: false },
    { when: "a new world is there after a second", world: { version: 8 }, afterMs: 1_000, expected: true },
    { when: "a region's candidacy changed", world: { version: 8, candidacyVersion: 2 }, afterMs: 1, expected: true },
  ];
  for (const { when, world, afterMs, expected } of cases) {
    it(`${expected ? "is made anew" : "stands"} when ${when}`, () => {
      assert.equal(needsDecision(last, aWorld([], world), NOW_MS + afterMs), expected);
    });
  }
});

describe("a conversation's name", () => {
  const conversation = aConversation({ home: "singapore", contextTokens: 20_000, idleMs: 2_000_000 });
  const query = { kind: "label", channel: "dns", conversationId: CONVERSATION } as const;

  it("points home, however long the queue there: a query moves nothing", () => {
    const regions = [aRegion("singapore", { placement: { backlogMs: 60_000 } }), aRegion("frankfurt")];
    const decision = decideIn({ regions, conversation, query });
    assert.deepEqual(
      [decision.verdict.kind, regionOf(decision.verdict), decision.ttlSeconds],
      ["pinned", "singapore", 20],
    );
  });

  it("points elsewhere for 5 s while home may not serve, the same for every asker", () => {
    const regions = [
      aRegion("singapore", { admin: "drain-all" }),
      aRegion("frankfurt"),
      aRegion("paris"),
      aRegion("virginia"),
    ];
    const near = decideIn({ regions, conversation, query, from: "frankfurt" });
    const far = decideIn({ regions, conversation, query, from: "virginia" });
    assert.equal(near.verdict.kind, "displaced");
    assert.equal(regionOf(near.verdict), regionOf(far.verdict));
    assert.equal(near.ttlSeconds, 5);
  });
});
