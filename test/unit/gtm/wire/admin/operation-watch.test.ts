/** Drains that go on are looked after: progress is told, and their end is verified. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { OperationView } from "#gtm/wire/admin/operation-view.ts";
import { createOperationWatch } from "#gtm/wire/admin/operation-watch.ts";
import { carryOut, type Given, previewOf } from "#gtm/wire/admin/region-order.ts";
import { ConversationId } from "#shared/ids.ts";
import { aConversation, aRegion } from "#test/support/builders.ts";
import { recordingLog } from "#test/support/recording-log.ts";
import { fakeGtm } from "./fake-ports.ts";

const conversation = (at: number, contextTokens: number, idleMs = 30_000) => ({
  ...aConversation({ home: "frankfurt", contextTokens, idleMs }),
  id: ConversationId.parse(`abcdefgh${String(at).padStart(5, "0")}`),
});

const setUp = () => {
  const gtm = fakeGtm({
    regions: [aRegion("frankfurt", { placement: { requestsRunning: 0 } }), aRegion("paris")],
    conversations: [conversation(1, 2_000), conversation(2, 8_000), conversation(3, 30_000, 1_000_000)],
  });
  const log = recordingLog();
  const told: OperationView[] = [];
  const { ports, clock } = gtm;
  const watch = createOperationWatch({ ports, clock, log, tell: (view) => told.push(view) });
  const drain = (overMs: number | null) => {
    const [region] = gtm.state.world.regions;
    if (region === undefined) throw new Error("no region");
    const given: Given = {
      ...{ verb: "drain", region, actor: "ops", ifMatch: null, passed: [], planId: null },
      action: {
        ...{ to: "drain-all", comment: "driver", forMs: null },
        pacing: overMs === null ? null : { overMs, pace: "even" },
      },
    };
    return {
      preview: () => previewOf({ ports, clock, log }, given),
      apply: () => carryOut({ ports, clock, log }, given),
    };
  };
  const leave = (count: number): void => {
    gtm.state.conversations = gtm.state.conversations.slice(count);
  };
  return { gtm, log, told, watch, drain, leave };
};

describe("a drain over ten minutes of three conversations, one of them idle", () => {
  it("is carried out by the schedule that its plan told of", async () => {
    const { gtm, drain } = setUp();
    const { paced, conversations, displaced } = await drain(600_000).preview();
    assert.deepEqual([conversations.pinned, conversations.hot, conversations.idle], [2, 2, 1]);
    assert.equal(paced?.endsInMs, 600_000);
    assert.deepEqual(
      paced?.quarters.map(({ fraction }) => fraction),
      [0.25, 0.5, 0.75, 1],
    );
    assert.equal(displaced.conversations, 3);
    await drain(600_000).apply();
    const [order] = gtm.state.orders.regions;
    assert.equal((order?.schedule?.endsAtMs ?? 0) - (order?.schedule?.startsAtMs ?? 0), 600_000);
    assert.equal(gtm.state.orders.operations?.[0]?.id, order?.operation);
  });
  it("is told of as it begins, as conversations leave, and when nothing is held there at two looks", async () => {
    const { gtm, told, watch, drain, leave } = setUp();
    await drain(600_000).apply();
    await watch.look();
    await watch.look();
    assert.deepEqual([told.length, told[0]?.state, told[0]?.left?.pinned], [1, "running", 2]);
    assert.equal(told[0]?.etaBy, "pins-end");
    gtm.clock.pass(60_000);
    leave(1);
    await watch.look();
    assert.deepEqual([told.length, told[1]?.left?.pinned, told[1]?.moved], [2, 1, 1]);
    // Of 40 000 tokens in 600 s the dear one's turn comes after 150 s, however fast the cheap one left in 60 s.
    assert.deepEqual([told[1]?.etaMs, told[1]?.etaBy], [90_000, "pace"]);
    leave(1);
    await watch.look();
    assert.equal(told.at(-1)?.state, "running");
    gtm.clock.pass(3_000);
    await watch.look();
    assert.equal(told.at(-1)?.state, "verified-empty");
    assert.match(told.at(-1)?.because ?? "", /^Nothing is held in frankfurt any more/);
    assert.deepEqual(gtm.state.orders.operations?.[0]?.end?.atMs, gtm.clock.epochMs());
    assert.equal(gtm.state.orders.regions[0]?.admin, "drain-all");
  });
  it("is not done while engines there have requests", async () => {
    const { gtm, told, watch, drain, leave } = setUp();
    gtm.setRegion("frankfurt", aRegion("frankfurt", { admin: "active", placement: { requestsRunning: 2 } }));
    await drain(600_000).apply();
    leave(2);
    for (let look = 0; look < 3; look++) {
      await watch.look();
      gtm.clock.pass(3_000);
    }
    assert.deepEqual([told.at(-1)?.state, told.at(-1)?.left?.requests], ["running", 2]);
    assert.match(told.at(-1)?.because ?? "", /engines still have requests/);
  });
  it("goes on being looked after when the store was away", async () => {
    const { gtm, told, watch, drain, log } = setUp();
    await drain(600_000).apply();
    gtm.state.isStoreAway = true;
    await watch.look();
    assert.equal(told.length, 0);
    assert.equal(log.lines.filter(({ level }) => level === "error").length, 0);
    gtm.state.isStoreAway = false;
    await watch.look();
    assert.equal(told.length, 1);
  });
});

describe("an operation that had ended before the watch began", () => {
  it("is no news", async () => {
    const { gtm, told, watch, drain } = setUp();
    await drain(null).apply();
    await gtm.ports.orders.cancelOperation(gtm.state.orders.operations?.[0]?.id ?? "", {
      actor: "ops",
      changedAtMs: null,
    });
    await watch.look();
    assert.equal(told.length, 0);
  });
  it("is news where it ends meanwhile", async () => {
    const { gtm, told, watch, drain } = setUp();
    await drain(null).apply();
    await watch.look();
    gtm.clock.pass(1_000);
    await gtm.ports.orders.cancelOperation(gtm.state.orders.operations?.[0]?.id ?? "", {
      actor: "ops",
      changedAtMs: null,
    });
    await watch.look();
    await watch.look();
    assert.deepEqual(
      told.map(({ state }) => state),
      ["running", "cancelled"],
    );
  });
});
