import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Contestant, standings } from "#gtm/simulation/report/regret.ts";
import { type RunFigures, runFigures } from "#gtm/simulation/report/run-figures.ts";
import { intervalOf, pairedExcess } from "#gtm/simulation/report/student-interval.ts";
import { waitsGrow } from "#gtm/simulation/report/waits-grow.ts";
import { aTally, aTurn } from "./records.ts";

const near = (actual: number | null | undefined, expected: number): void =>
  assert.ok(Math.abs((actual ?? Number.NaN) - expected) < 1e-3 * Math.abs(expected), `${actual} is not ${expected}`);

/** One run a TTFT, by seeds from 1. */
const runsOf = (...ttfts: readonly number[]): readonly RunFigures[] =>
  ttfts.map((ttftMs, at) =>
    runFigures(aTally([aTurn({ askedAtMs: 100_000, ttftMs })]), {
      ...{ seed: at + 1, replicas: 2, measuredMs: 300_000, unfinished: 0 },
    }),
  );
const aContestant = (policy: string, runs: readonly RunFigures[], changes: Partial<Contestant> = {}): Contestant => ({
  ...{ policy, kind: "rival", waitsGrow: false, runs },
  ...changes,
});

describe("an interval over seeds", () => {
  it("is Student's: of 1, 2, 3 it is 2 ± 4.303 / √3", () =>
    near(intervalOf([1, 2, 3])?.halfWidth, 4.303 / Math.sqrt(3)));
  it("has no width of a single seed, and is nothing of none", () => {
    assert.deepEqual(intervalOf([5]), { mean: 5, halfWidth: null });
    assert.equal(intervalOf([]), null);
  });
  it("comes close to the normal one of many seeds", () => {
    const many = Array.from({ length: 200 }, (_, at) => at % 2);
    near(intervalOf(many)?.halfWidth, 1.972 * Math.sqrt(0.25 / 199));
  });
  it("of paired differences is narrow where seeds differ and policies do not", () => {
    const excess = pairedExcess([
      { ours: 11, theirs: 10 },
      { ours: 101, theirs: 100 },
      { ours: 1_001, theirs: 1_000 },
    ]);
    near(excess?.mean, 1 / 370);
    assert.equal(excess?.halfWidth, 0);
  });
});

describe("a policy's standing", () => {
  it("is against the best rival, paired by seed, the oracle and itself left out", () => {
    const [ours, good, bad, oracle] = standings([
      aContestant("gtm", runsOf(1_000, 2_000), { kind: "ours" }),
      aContestant("good", runsOf(1_250, 2_250)),
      aContestant("bad", runsOf(9_000, 9_000)),
      aContestant("oracle", runsOf(900, 1_900), { kind: "oracle" }),
    ]);
    assert.equal(ours?.rival, "good");
    near(ours?.ttftMean?.mean, -250 / 1_750);
    assert.equal(ours?.ttftMean?.halfWidth, 0);
    assert.equal(good?.rival, "bad");
    assert.equal(bad?.rival, "good");
    assert.equal(oracle?.rival, "good");
  });
  it("pairs only seeds that both have played", () => {
    const [ours] = standings([
      aContestant("gtm", runsOf(1_000), { kind: "ours" }),
      aContestant("good", runsOf(2_000, 50_000)),
    ]);
    near(ours?.ttftMean?.mean, -0.5);
  });
  it("quotes no mean against waits that grow, and still the share within the promise", () => {
    const [ours, rival] = standings([
      aContestant("gtm", runsOf(1_000, 1_500), { kind: "ours" }),
      aContestant("drowned", runsOf(9_000, 9_000), { waitsGrow: true }),
    ]);
    assert.equal(ours?.rival, null);
    assert.equal(ours?.ttftMean, null);
    assert.equal(ours?.withinSlo?.mean, 1);
    assert.equal(rival?.ttftMean, null);
  });
});

describe("waits", () => {
  /** A turn each second of the time measured, with a wait that depends on when it was asked. */
  const played = (queuedMs: (second: number) => number, isOpenLoop = true, unfinished = 0) => {
    const turns = Array.from({ length: 300 }, (_, second) =>
      aTurn({ conversation: second, askedAtMs: 100_000 + second * 1_000, queuedMs: queuedMs(second) }),
    );
    return [{ tally: aTally(turns), end: { isOpenLoop, unfinished } }];
  };
  const cases: readonly { when: string; runs: ReturnType<typeof played>; expected: boolean }[] = [
    { when: "they are longer by a tenth of the time that has passed", runs: played((s) => s * 100), expected: true },
    { when: "they had grown for long before", runs: played((s) => 60_000 + s * 100), expected: true },
    { when: "they are long and stay so", runs: played(() => 30_000), expected: false },
    { when: "a crowd came and went", runs: played((s) => (s > 100 && s < 200 ? 60_000 : 500)), expected: false },
    { when: "they double and are short", runs: played((s) => s * 10), expected: false },
    { when: "clients wait for their answers", runs: played((s) => s * 100, false), expected: false },
    { when: "one turn of fifty never ends", runs: played(() => 500, true, 10), expected: true },
  ];
  for (const { when, runs, expected } of cases) {
    it(`${expected ? "grow" : "do not grow"} when ${when}`, () => assert.equal(waitsGrow(runs), expected));
  }
});
