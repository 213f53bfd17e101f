/** What a GTM learns from turns: how soon it is near the truth, and how little a liar moves it. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { heldCorrectionOf } from "#gtm/domain/held-observed.ts";
import { learntOutputTokens } from "#gtm/domain/learnt.ts";
import type { MeasuredTurn } from "#shared/measured-turn.ts";
import { aPool, aRegion, decideIn, MODEL, regionId } from "#test/support/builders.ts";
import { aMeasuredTurn } from "#test/support/measured-turns.ts";
import { aLearner, createPlay, heldIn, NAMES, type Name, NETWORK, playFor, TRUTH } from "./learning-play.ts";
import { aBlindLearner } from "./learning-sent.ts";

const POOL = aPool([aRegion("frankfurt")]).name;
const errorOf = (value: number, truth: number): number => Math.abs(value - truth) / truth;

describe("a play of conversations whose truth is known, from the priors", () => {
  const learner = aLearner();
  const next = createPlay(7);
  const outputOf = (promptTokens: number) => learntOutputTokens(learner.learning.learnt(), POOL, promptTokens) ?? 256;
  const rttOf = (name: Name) => learner.learning.learnt().roundTrips.get(NETWORK)?.get(regionId(name)) ?? null;
  const heldOf = (name: Name) => heldCorrectionOf(heldIn(learner.learning, name), 1);

  it("has nothing but priors after two seconds", () => {
    playFor(2, learner, next);
    assert.deepEqual(NAMES.map(rttOf), [null, null, null]);
    assert.deepEqual([outputOf(20_000), outputOf(120)], [256, 256]);
    assert.equal(learner.learning.learnt().pools.get(POOL)?.nextTurnFraction, null);
  });
  it("has the round trips within 10 % after 20 s", () => {
    playFor(18, learner, next);
    for (const name of NAMES) assert.ok(errorOf(rttOf(name) ?? 0, TRUTH.rttMs[name]) < 0.1, `${name}: ${rttOf(name)}`);
  });
  it("tells a summary from a treatise after 5 min, each within 15 %", () => {
    playFor(280, learner, next);
    assert.ok(errorOf(outputOf(20_000), TRUTH.summary.answer) < 0.15, `${outputOf(20_000)}`);
    assert.ok(errorOf(outputOf(120), TRUTH.treatise.answer) < 0.15, `${outputOf(120)}`);
  });
  it("has c_r of each region within 0.08 after 15 min", () => {
    playFor(600, learner, next);
    for (const name of NAMES) {
      assert.ok(Math.abs(heldOf(name) - TRUTH.heldCorrection[name]) < 0.08, `${name}: ${heldOf(name)}`);
    }
  });
  it("has pNext within 0.05 after an hour: whether a turn is the last is known when its pin is over", () => {
    assert.equal(learner.learning.learnt().pools.get(POOL)?.nextTurnFraction, null);
    playFor(2_700, learner, next);
    const known = learner.learning.learnt().pools.get(POOL)?.nextTurnFraction ?? 0;
    assert.ok(Math.abs(known - TRUTH.nextTurnFraction) < 0.05, `${known}`);
  });
  it("is visible in the decision: a treatise takes longer to write and holds more of the cache than a summary", () => {
    const world = { learnt: learner.learning.learnt() };
    const regions = NAMES.map((name) => aRegion(name));
    const asked = (promptTokens: number) =>
      decideIn({
        regions,
        world,
        policy: { decodeWeight: 0.1 },
        query: { promptTokens, clientSubnet: NETWORK },
        client: { subnet: NETWORK },
      });
    const [summary, treatise] = [asked(20_000), asked(120)];
    assert.deepEqual([summary.turn.outputSource, treatise.turn.outputSource], ["learnt", "learnt"]);
    const plan = (decision: typeof summary) => {
      const [first] = decision.considered;
      assert.ok(first?.kind === "candidate");
      return first.plan;
    };
    assert.ok((plan(treatise).writingMs ?? 0) > 8 * (plan(summary).writingMs ?? 0));
    assert.equal(plan(summary).rttSource, "measured");
  });
  it("expects what was learnt of a request that allows more, and no more than it allows where that is less", () => {
    const expected = (outputLimitTokens: number | null, outputTokens: number | null = null) => {
      const query = { promptTokens: 20_000, outputTokens, outputLimitTokens };
      const { turn } = decideIn({ regions: [aRegion("paris")], world: { learnt: learner.learning.learnt() }, query });
      return [Math.round(turn.outputTokens), turn.outputSource, turn.outputLimitTokens];
    };
    const usual = Math.round(outputOf(20_000));
    assert.ok(usual > 50 && usual < 4_096, `${usual}`);
    assert.deepEqual(expected(null), [usual, "learnt", null]);
    assert.deepEqual(expected(4_096), [usual, "learnt", 4_096]);
    assert.deepEqual(expected(16), [16, "limited", 16]);
    assert.deepEqual(expected(4_096, 2_000), [2_000, "claimed", 4_096]);
    assert.deepEqual(expected(100, 2_000), [100, "claimed", 100]);
  });
  it("fades back to the priors when nobody says anything any more", () => {
    learner.clock.advance(7_200_000);
    learner.learning.fold();
    assert.equal(learner.learning.learnt().roundTrips.size, 0);
    for (const name of NAMES) assert.ok(heldOf(name) > 0.95);
  });
});

describe("the same turns in another order within a second", () => {
  it("teach the same", () => {
    const taught = (order: (turns: readonly MeasuredTurn[]) => readonly MeasuredTurn[]) => {
      const learner = aLearner();
      const next = createPlay(3);
      playFor(120, learner, (nowMs) => order(next(nowMs)));
      return NAMES.map((name) => heldCorrectionOf(heldIn(learner.learning, name), 1));
    };
    const [forth, back] = [taught((turns) => turns), taught((turns) => turns.toReversed())];
    for (const [at, value] of forth.entries()) assert.ok(Math.abs(value - (back[at] ?? 0)) < 1e-9);
  });
});

describe("a gateway that lies", () => {
  const lie = (change: Parameters<typeof aMeasuredTurn>[0]): readonly MeasuredTurn[] =>
    Array.from({ length: 500 }, (_, at) =>
      aMeasuredTurn({
        ...{ region: "virginia", model: MODEL, clientPrefix: NETWORK, replica: null, atAgeMs: 0 },
        conversation: (at % 2).toString(32).padStart(13, "0"),
        ...change,
      }),
    );

  it("moves c_r of its region by at most a fifth of the way with all it says in one second, and no other region's", () => {
    const learner = aLearner();
    playFor(1, learner, () => lie({ promptTokens: 50_000, cachedTokens: 0, completionTokens: 0 }));
    const moved = heldCorrectionOf(heldIn(learner.learning, "virginia"), 1);
    assert.ok(moved >= 0.8 - 1e-9 && moved < 1, `${moved}`);
    assert.equal(heldIn(learner.learning, "frankfurt"), null);
  });
  it("does not move what a pool's answers are like, beside two regions that tell the truth", () => {
    const learner = aLearner();
    const honest = createPlay(5);
    const liar = lie({ promptTokens: 20_000, cachedTokens: 0, completionTokens: 130_000 });
    playFor(300, learner, (nowMs) => [...honest(nowMs).filter(({ region }) => region !== "virginia"), ...liar]);
    const summary = learntOutputTokens(learner.learning.learnt(), POOL, 20_000) ?? 0;
    assert.ok(errorOf(summary, TRUTH.summary.answer) < 0.2, `${summary}`);
  });
  it("is not believed a round trip by one sample, nor by two", () => {
    const learner = aLearner();
    playFor(2, learner, () => lie({ rttMs: 0.1 }));
    assert.equal(learner.learning.learnt().roundTrips.size, 0);
    playFor(3, learner, () => lie({ rttMs: 140 }));
    playFor(1, learner, () => lie({ rttMs: 0.02 }));
    assert.equal(learner.learning.learnt().roundTrips.get(NETWORK)?.get(regionId("virginia")), 0.1);
  });
  it("pushes no other region's networks out, however many it names", () => {
    const learner = aLearner();
    const honest = createPlay(9);
    let named = 0;
    playFor(12, learner, (nowMs) => [
      ...honest(nowMs).filter(({ region }) => region !== "virginia"),
      ...lie({}).map((turn) => {
        named += 1;
        return { ...turn, rttMs: 5, clientPrefix: `10.${(named >> 8) & 255}.${named & 255}.0/24` };
      }),
    ]);
    const known = learner.learning.learnt().roundTrips.get(NETWORK);
    assert.deepEqual([...(known?.keys() ?? [])].toSorted(), ["frankfurt", "paris"]);
  });
  it("is heard of no pool that is not configured", () => {
    const learner = aLearner();
    playFor(5, learner, () => lie({ pool: "nobody" }));
    assert.deepEqual([...learner.learning.learnt().pools.keys()], [POOL]);
    assert.equal(learner.learning.learnt().pools.get(POOL)?.outputTokens[2], null);
  });
});

describe("a region without a gateway", () => {
  it("is held to what its engines say of the turns that were sent there", () => {
    const { learning, clock, sent } = aBlindLearner();
    for (let second = 0; second < 300; second++) {
      clock.advance(1_000);
      sent();
      learning.fold();
    }
    // Its engines find 0.3 of all prompt tokens cached; the ledger promised 0.8 of them.
    const [held] = learning.heldObserved();
    assert.ok(held !== undefined);
    const known = heldCorrectionOf(held.tally, 0.25);
    assert.ok(Math.abs(known - 0.3 / 0.8) < 0.03, `${known}`);
  });
});
