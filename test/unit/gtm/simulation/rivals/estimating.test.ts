import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Contender } from "#gtm/simulation/rival.ts";
import { createGorgoLike, GORGO_LIKE, GORGO_PLAYED, GORGO_PROXY } from "#gtm/simulation/rivals/gorgo-like.ts";
import { createOracle } from "#gtm/simulation/rivals/oracle.ts";
import { createSkywalkerLike, SKYWALKER_LIKE } from "#gtm/simulation/rivals/skywalker-like.ts";
import { createStargateLike, STARGATE_LIKE } from "#gtm/simulation/rivals/stargate-like.ts";
import { anArena, aTurn, recordOf } from "./an-arena.ts";

const FRANKFURT = 0;
const VIRGINIA = 1;
const SINGAPORE = 2;

/** Serves a turn of the conversation there, so that whoever listens knows what is held. */
const served = (rival: Contender, region: number, conversation: number, promptTokens: number): void => {
  const turn = aTurn({ conversation, promptTokens });
  rival.onFirstToken(turn, recordOf(turn, region));
  rival.onFinished(turn, recordOf(turn, region));
};

describe("GORGO-like: 10 000 tokens, 2 s to compute, Frankfurt 60 ms, Virginia 300 ms, Singapore 600 ms away", () => {
  it("goes to Virginia where 2 000 tokens of it are held there, and stays near where 1 000 are", () => {
    for (const { heldTokens, expected } of [
      { heldTokens: 2_000, expected: VIRGINIA },
      { heldTokens: 1_000, expected: FRANKFURT },
    ]) {
      const rival = createGorgoLike(anArena().arena, GORGO_LIKE);
      served(rival, VIRGINIA, 7, heldTokens);
      assert.equal(rival.choose(aTurn())?.region, expected, `${heldTokens} tokens held`);
    }
  });
  it("forgets what a region that died had held", () => {
    const rival = createGorgoLike(anArena().arena, GORGO_LIKE);
    served(rival, VIRGINIA, 7, 5_000);
    rival.onFailed(aTurn(), VIRGINIA);
    assert.equal(rival.choose(aTurn())?.region, FRANKFURT);
  });
  it("with reports: counts the reported backlog and what it sent since, and neither drains", () => {
    const { arena, busy, report, passUntil } = anArena();
    const rival = createGorgoLike(arena, GORGO_LIKE);
    busy(FRANKFURT, 2_000, 1);
    report(FRANKFURT);
    // 2 000 tokens are 400 ms: Virginia, 240 ms further, is cheaper.
    assert.equal(rival.choose(aTurn())?.region, VIRGINIA);
    passUntil(900);
    const choice = rival.choose(aTurn({ conversation: 8 }));
    assert.equal(choice?.region, FRANKFURT, "Virginia has 2 s on its way");
    assert.deepEqual(choice?.prediction, { queueMs: 400, ttftMs: 60 + 400 + 2_000 });
  });
  it("as a proxy: counts what has no first token yet, without any report", () => {
    const rival = createGorgoLike(anArena().arena, GORGO_PROXY);
    const first = aTurn({ conversation: 1 });
    assert.equal(rival.choose(first)?.region, FRANKFURT);
    assert.equal(rival.choose(aTurn({ conversation: 2 }))?.region, VIRGINIA);
    rival.onFirstToken(first, recordOf(first, FRANKFURT));
    assert.equal(rival.choose(aTurn({ conversation: 3 }))?.region, FRANKFURT);
  });
  it("as a proxy that weighs running requests: still counts half of it after the first token, none at the end", () => {
    const rival = createGorgoLike(anArena().arena, { ...GORGO_PROXY, runningFactor: 0.5 });
    const first = aTurn({ conversation: 1 });
    rival.choose(first);
    rival.onFirstToken(first, recordOf(first, FRANKFURT));
    const second = aTurn({ conversation: 2 });
    assert.equal(rival.choose(second)?.region, VIRGINIA);
    rival.onFinished(first, recordOf(first, FRANKFURT));
    assert.equal(rival.choose(aTurn({ conversation: 3 }))?.region, FRANKFURT);
  });
  it("with our backlogs: they drain, and a full replica is told from an idle one beside it", () => {
    const { arena, busy, report, passUntil } = anArena({ replicas: 2 });
    busy(FRANKFURT, 10_000, 1, 0);
    report(FRANKFURT);
    const pooled = createGorgoLike(arena, GORGO_LIKE).choose(aTurn());
    assert.equal(pooled?.region, VIRGINIA, "1 s on average");
    const played = createGorgoLike(arena, GORGO_PLAYED);
    assert.deepEqual(played.choose(aTurn()), {
      region: FRANKFURT,
      prediction: { queueMs: 0, ttftMs: 60 + 2_000 },
      verdict: null,
    });
    // The second replica has the turn above from 50 ms on, the first its 2 s from 0 on.
    passUntil(950);
    const next = played.choose(aTurn({ conversation: 8 }));
    assert.equal(next?.region, VIRGINIA, "both queue another second");
    passUntil(1_900);
    assert.equal(played.choose(aTurn({ conversation: 9 }))?.region, FRANKFURT);
  });
});

describe("SkyWalker-like", () => {
  const waiting = (region: number, setting: ReturnType<typeof anArena>): void => {
    setting.busy(region, 10_000, 100 + region);
    setting.busy(region, 10_000, 200 + region);
  };
  it("stays local while nobody waits there, whatever others hold", () => {
    const setting = anArena();
    const rival = createSkywalkerLike(setting.arena, SKYWALKER_LIKE);
    served(rival, SINGAPORE, 7, 9_000);
    setting.busy(FRANKFURT, 10_000, 1);
    assert.equal(rival.choose(aTurn())?.region, FRANKFURT);
  });
  it("goes to the longest prefix where somebody waits, of equals to the nearest", () => {
    const setting = anArena();
    waiting(FRANKFURT, setting);
    const rival = createSkywalkerLike(setting.arena, SKYWALKER_LIKE);
    assert.equal(rival.choose(aTurn({ conversation: 8 }))?.region, VIRGINIA);
    setting.passUntil(100);
    served(rival, SINGAPORE, 7, 9_000);
    assert.equal(rival.choose(aTurn())?.region, SINGAPORE);
  });
  it("counts what it sent since it looked: one replica takes one", () => {
    const rival = createSkywalkerLike(anArena().arena, SKYWALKER_LIKE);
    const chosen = [1, 2, 3].map((conversation) => rival.choose(aTurn({ conversation }))?.region);
    assert.deepEqual(chosen, [FRANKFURT, VIRGINIA, SINGAPORE]);
  });
  it("waits at home where somebody waits everywhere", () => {
    const setting = anArena();
    for (const region of [FRANKFURT, VIRGINIA, SINGAPORE]) waiting(region, setting);
    const rival = createSkywalkerLike(setting.arena, SKYWALKER_LIKE);
    served(rival, SINGAPORE, 7, 9_000);
    assert.equal(rival.choose(aTurn())?.region, FRANKFURT);
  });
});

describe("Stargate-like", () => {
  it("compares two regions of the conversation's order: at most two ever serve it, and the sooner does", () => {
    const { arena } = anArena();
    const rival = createStargateLike(arena, STARGATE_LIKE);
    const chosen = Array.from({ length: 6 }, (_, at) => rival.choose(aTurn({ turn: at + 1 }))?.region);
    assert.equal(new Set(chosen).size, 2);
    const single = createStargateLike(arena, { ...STARGATE_LIKE, groupSize: 1 });
    assert.equal(new Set([1, 2, 3].map((turn) => single.choose(aTurn({ turn }))?.region)).size, 1);
  });
  it("estimates round trip, queue and the discounted prompt", () => {
    const rival = createStargateLike(anArena().arena, { groupSize: 3, affinityInputScale: 0.1 });
    assert.deepEqual(rival.choose(aTurn()), {
      region: FRANKFURT,
      prediction: { queueMs: 0, ttftMs: 60 + 200 },
      verdict: null,
    });
  });
});

describe("the oracle", () => {
  it("knows true caches: what no report and no message said", () => {
    const { arena, busy, passUntil } = anArena();
    busy(SINGAPORE, 9_000, 7);
    passUntil(10_000);
    assert.equal(createOracle(arena).choose(aTurn())?.region, SINGAPORE);
  });
  it("knows true queues, and what is left of them when the turn arrives", () => {
    const { arena, busy } = anArena();
    busy(FRANKFURT, 10_000, 1);
    const choice = createOracle(arena).choose(aTurn());
    assert.equal(choice?.region, VIRGINIA);
    const near = createOracle(arena).choose(aTurn({ previous: FRANKFURT, idleMs: 10, turn: 2 }));
    assert.equal(near?.region, VIRGINIA);
  });
  it("knows what is on its way, its own sends", () => {
    const oracle = createOracle(anArena().arena);
    assert.equal(oracle.choose(aTurn({ conversation: 1 }))?.region, FRANKFURT);
    assert.deepEqual(oracle.choose(aTurn({ conversation: 2 }))?.region, VIRGINIA);
  });
});

describe("looking at engines between their events", () => {
  it("the oracle sees that a prefill of 2 s has 500 ms left after 1.5 s, and loses no event by looking", () => {
    const { arena, busy } = anArena();
    busy(FRANKFURT, 10_000, 1);
    arena.agenda.runUntil(1_500);
    const choice = createOracle(arena).choose(aTurn({ turn: 2, previous: FRANKFURT, idleMs: 10 }));
    // The redirect takes 10 ms back to the client, the request 10 ms to Frankfurt: 480 ms of it are left: Virginia, 300 ms away, is sooner.
    assert.deepEqual(choice, { region: VIRGINIA, prediction: { queueMs: 0, ttftMs: 2_300 }, verdict: null });
    arena.agenda.runUntil(1_900);
    const later = createOracle(arena).choose(aTurn({ turn: 3, previous: FRANKFURT, idleMs: 10 }));
    assert.deepEqual(later?.prediction, { queueMs: 80, ttftMs: 20 + 80 + 2_000 });
    const events = arena.regions[FRANKFURT]?.advanceTo(2_000).map(({ event }) => event.kind);
    assert.deepEqual(events, ["prefill-started", "first-token", "finished"]);
  });
});
