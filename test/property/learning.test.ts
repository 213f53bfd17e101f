/** Laws of what is learnt: numbers stay numbers, one round moves little, one region speaks for itself, snapshots stand. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { maturedAt, NO_FOLLOW_UPS, nextTurnFractionOf, withFollowUp, withTurn } from "#gtm/domain/follow-ups.ts";
import { HELD_HABIT, heldCorrectionOf, heldObserved } from "#gtm/domain/held-observed.ts";
import { OUTPUT_HABIT, outputObserved, outputTokensOf } from "#gtm/domain/output-lengths.ts";
import { LEAST_RTT_MS, MOST_RTT_MS, type RoundTripWindows, withRoundTrip } from "#gtm/domain/round-trips.ts";
import { agreedOn, estimateOf, fadedTo, type Tally, tallied } from "#gtm/domain/tally.ts";
import { CONVERSATION, MODEL } from "#test/support/builders.ts";
import { aMeasuredTurn } from "#test/support/measured-turns.ts";
import { aLearner, NAMES } from "../unit/gtm/datalayer/learning-play.ts";

const runs = { numRuns: Number(process.env["PROPERTY_RUNS"] ?? 1_000) };
const anyNumber = fc.oneof(fc.double(), fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, -1, 0));
const positive = fc.double({ min: 0, max: 1e9, noNaN: true });
const round = fc.record({ weight: positive, sum: positive, afterMs: fc.integer({ min: 0, max: 600_000 }) });

const taught = (rounds: readonly { weight: number; sum: number; afterMs: number }[]) => {
  let atMs = 1_000;
  let tally: Tally | null = null;
  for (const { afterMs, ...observed } of rounds) {
    atMs += afterMs;
    tally = tallied(tally, observed, atMs, HELD_HABIT);
  }
  return { tally, atMs };
};

describe("a tally", () => {
  it("is made of finite numbers, 0 or more, whatever is observed", () => {
    const odd = fc.array(fc.record({ weight: anyNumber, sum: anyNumber, afterMs: fc.nat(1e9) }));
    fc.assert(
      fc.property(odd, (rounds) => {
        const { tally, atMs } = taught(rounds);
        const { weight, sum } = fadedTo(tally, atMs + 1, HELD_HABIT);
        assert.ok(Number.isFinite(weight) && weight >= 0 && Number.isFinite(sum) && sum >= 0, `${weight} ${sum}`);
        const fraction = heldCorrectionOf(tally, 0.5);
        assert.ok(fraction >= 0 && fraction <= 1);
      }),
      runs,
    );
  });
  it("is moved by one round at most a fifth of the way to what that says", () => {
    fc.assert(
      fc.property(
        fc.array(round),
        positive,
        positive,
        fc.double({ min: 0, max: 1, noNaN: true }),
        (rounds, weight, value, prior) => {
          const { tally, atMs } = taught(rounds);
          const before = estimateOf(fadedTo(tally, atMs, HELD_HABIT), prior, HELD_HABIT);
          const after = estimateOf(
            tallied(tally, { weight, sum: weight * value }, atMs, HELD_HABIT),
            prior,
            HELD_HABIT,
          );
          // Sums beyond what is bounded are cut, and then move even less.
          assert.ok(Math.abs(after - before) <= 0.2 * Math.abs(value - before) + 1e-6 * Math.max(1, before, value));
        },
      ),
      runs,
    );
  });
  it("does not depend on the order of observations within a round", () => {
    const turn = fc.record({
      held: fc.integer({ min: 1, max: 100_000 }),
      cached: fc.integer({ min: 0, max: 100_000 }),
    });
    fc.assert(
      fc.property(fc.array(turn, { minLength: 1, maxLength: 50 }), (turns) => {
        const sumOf = (list: typeof turns) => {
          const all = list.map(({ held, cached }) => heldObserved(held, 1, cached));
          const total = { weight: all.reduce((a, b) => a + b.weight, 0), sum: all.reduce((a, b) => a + b.sum, 0) };
          return tallied(null, total, 5, HELD_HABIT);
        };
        assert.deepEqual(sumOf(turns), sumOf(turns.toReversed()));
      }),
      runs,
    );
  });
});

describe("what several regions say of a pool", () => {
  it("lies between what honest regions say, where they are more than half, or the prior", () => {
    const value = fc.nat(100_000);
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 5 }), value, value, (honest, lie, prior) => {
        const agreed = agreedOn([...honest, lie], prior);
        assert.ok(agreed !== null);
        assert.ok(agreed >= Math.min(...honest, prior) && agreed <= Math.max(...honest, prior));
      }),
      runs,
    );
  });
  it("is an answer between the shortest and the longest that was seen, or the prior", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1e9), { minLength: 1, maxLength: 40 }), (lengths) => {
        const tally = lengths.reduce<Tally | null>(
          (before, tokens) => tallied(before, outputObserved(tokens), 1_000, OUTPUT_HABIT),
          null,
        );
        const tokens = outputTokensOf([tally], 256);
        if (lengths.length < 5) return assert.equal(tokens, null);
        const seen = lengths.map((one) => Math.min(one, 131_072));
        assert.ok(
          tokens !== null && tokens >= Math.min(256, ...seen) - 1e-6 && tokens <= Math.max(256, ...seen) + 1e-6,
        );
      }),
      runs,
    );
  });
});

describe("pNext", () => {
  it("is a fraction, and open turns stay within the pin's time, whatever follows what", () => {
    const event = fc.record({ isFollowUp: fc.boolean(), afterMs: fc.nat(400_000) });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        let atMs = 0;
        let one = NO_FOLLOW_UPS;
        for (const { isFollowUp, afterMs } of events) {
          atMs += afterMs;
          one = maturedAt(isFollowUp ? withFollowUp(one, atMs) : withTurn(one, atMs), atMs, 900_000);
          assert.ok(one.open.length <= 17);
        }
        const fraction = nextTurnFractionOf([one], 0.75, atMs);
        assert.ok(fraction === null || (fraction >= 0 && fraction <= 1));
      }),
      runs,
    );
  });
});

describe("a measured round trip", () => {
  it("is one of the samples, never the least of them alone, and known from the third on", () => {
    const sample = fc.double({ min: LEAST_RTT_MS, max: MOST_RTT_MS, noNaN: true });
    fc.assert(
      fc.property(fc.uniqueArray(sample, { minLength: 1, maxLength: 20 }), (samples) => {
        const windows = samples.reduce<RoundTripWindows | null>(
          (before, ms, at) => withRoundTrip(before, ms, at),
          null,
        );
        const known = windows?.knownMs ?? null;
        assert.equal(known, samples.length < 3 ? null : (samples.toSorted((a, b) => a - b)[1] ?? null));
      }),
      runs,
    );
  });
});

describe("the snapshot that decisions read", () => {
  const turn = fc.record({
    region: fc.constantFrom(...NAMES),
    promptTokens: fc.nat(100_000),
    cachedTokens: fc.nat(100_000),
    completionTokens: fc.nat(10_000),
    rttMs: fc.double({ min: 0, max: 1e6, noNaN: true }),
    clientPrefix: fc.constantFrom("198.51.1.0/24", "198.51.2.0/24", "2001:db8::/48", "nowhere"),
  });
  const seconds = fc.array(fc.array(turn, { maxLength: 8 }), { minLength: 2, maxLength: 12 });
  const teach = ({ clock, learning }: ReturnType<typeof aLearner>, turns: readonly object[]): void => {
    clock.advance(1_000);
    const same = { model: MODEL, conversation: CONVERSATION, atAgeMs: 0 };
    learning.measured(turns.map((one) => aMeasuredTurn({ ...one, ...same })));
    learning.fold();
  };

  it("stands as it was taken, whatever is learnt afterwards", () => {
    fc.assert(
      fc.property(seconds, (all) => {
        const learner = aLearner();
        const taken = all.map((turns) => {
          teach(learner, turns);
          const learnt = learner.learning.learnt();
          return { learnt, copy: structuredClone(learnt) };
        });
        for (const { learnt, copy } of taken) assert.deepEqual(learnt, copy);
      }),
      { numRuns: Math.ceil(runs.numRuns / 10) },
    );
  });
  it("says of a region only what its own turns taught", () => {
    fc.assert(
      fc.property(seconds, (all) => {
        const learner = aLearner();
        for (const turns of all) teach(learner, turns);
        const told = new Set<string>(all.flat().map(({ region }) => region));
        const trips = [...learner.learning.learnt().roundTrips.values()].flatMap((byRegion) => [...byRegion]);
        for (const { region } of learner.learning.heldObserved()) assert.ok(told.has(region));
        for (const [region, ms] of trips) assert.ok(told.has(region) && ms >= LEAST_RTT_MS && ms <= MOST_RTT_MS);
      }),
      { numRuns: Math.ceil(runs.numRuns / 10) },
    );
  });
});
