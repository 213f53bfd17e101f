import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { backOffMs, createPolls, MOST_BACK_OFF_MS, type Poll } from "#edge-agent/polls.ts";
import { createManualClock } from "#test/support/manual-clock.ts";

const NEVER = new AbortController().signal;
type Answer = "well" | "nothing";

/** Sources that answer when the test says so, on a clock that the test moves. Waiting is over when the clock is there, or at once where told. */
const scene = ({ most = 16, isHurried = false }: { most?: number; isHurried?: boolean } = {}) => {
  const clock = createManualClock();
  const asked: string[] = [];
  let isOver = isHurried;
  const open = new Map<string, (answer: Answer) => void>();
  const polls = createPolls<Answer>({
    clock,
    waitUntil: (_, signal) =>
      isOver ? Promise.resolve() : new Promise((resolve) => signal.addEventListener("abort", () => resolve())),
    random: () => 0,
    patienceMs: 750,
    firstPatienceMs: 3_000,
    spreadMs: 0,
    most,
    onAsked: () => {},
  });
  const source = (key: string): Poll<Answer> => ({
    key,
    ask: () => {
      asked.push(key);
      return new Promise((resolve) => open.set(key, resolve));
    },
    isAnswer: (answer) => answer === "well",
  });
  /** As many turns of the loop as settling takes. */
  const settled = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
  };
  const answer = async (key: string, what: Answer): Promise<void> => {
    open.get(key)?.(what);
    await settled();
  };
  const hurry = (isNow: boolean): void => {
    isOver = isNow;
  };
  return { clock, asked, polls, source, answer, settled, hurry };
};

describe("sources that are asked round after round", () => {
  it("are all asked at once, and a round has what they said", async () => {
    const { polls, source, answer, asked, settled } = scene();
    const round = polls.round([source("a"), source("b")], NEVER);
    await settled();
    assert.deepEqual(asked, ["a", "b"]);
    await answer("b", "well");
    await answer("a", "well");
    assert.deepEqual([...(await round)].sort(), [
      ["a", "well"],
      ["b", "well"],
    ]);
  });
  it("do not overlap themselves: who has not answered is not asked again, and what it says comes in later", async () => {
    const { polls, source, answer, asked } = scene({ isHurried: true });
    assert.deepEqual([...(await polls.round([source("a")], NEVER))], []);
    assert.deepEqual([...(await polls.round([source("a")], NEVER))], []);
    assert.deepEqual(asked, ["a"]);
    await answer("a", "well");
    assert.deepEqual([...(await polls.round([source("a")], NEVER))], [["a", "well"]]);
    assert.deepEqual(asked, ["a", "a"]);
  });
  it("do not wait for one that was late: its silence costs the others nothing", async () => {
    const { polls, source, answer, hurry, settled } = scene();
    hurry(true);
    await polls.round([source("late")], NEVER);
    // From here on patience has no end: waiting for the late one would never be over.
    hurry(false);
    const round = polls.round([source("late"), source("quick")], NEVER);
    await settled();
    await answer("quick", "well");
    assert.deepEqual([...(await round)], [["quick", "well"]]);
  });
  it("that are not wanted any more are forgotten, and new ones begin anew", async () => {
    const { polls, source, answer, asked } = scene({ isHurried: true });
    await polls.round([source("a")], NEVER);
    await polls.round([], NEVER);
    await answer("a", "well");
    assert.deepEqual([...(await polls.round([source("a")], NEVER))], []);
    assert.deepEqual(asked, ["a", "a"]);
  });
  it("are asked so many at once and no more", async () => {
    const { polls, source, answer, asked } = scene({ most: 2, isHurried: true });
    const wanted = ["a", "b", "c"].map(source);
    await polls.round(wanted, NEVER);
    assert.deepEqual(asked, ["a", "b"]);
    await answer("a", "well");
    assert.deepEqual(asked, ["a", "b", "c"]);
  });
});

describe("a source that is dead", () => {
  it("is asked again after 0.5, 1, 2, 4 s and then every 5 s, and at once when it is back", async () => {
    const { polls, source, answer, asked, clock } = scene({ isHurried: true });
    const gapsMs: number[] = [];
    let lastAtMs = clock.monotonicMs();
    for (let step = 0; step < 400 && gapsMs.length < 7; step += 1) {
      const before = asked.length;
      await polls.round([source("a")], NEVER);
      if (asked.length > before) {
        gapsMs.push(clock.monotonicMs() - lastAtMs);
        lastAtMs = clock.monotonicMs();
        await answer("a", "nothing");
      }
      clock.advance(100);
    }
    assert.deepEqual(gapsMs, [0, 500, 1_000, 2_000, 4_000, 5_000, 5_000]);

    clock.advance(5_000);
    await polls.round([source("a")], NEVER);
    await answer("a", "well");
    const before = asked.length;
    await polls.round([source("a")], NEVER);
    assert.equal(asked.length, before + 1);
  });
  it("is never left alone for longer than the bound, and chance takes a fifth at most", () => {
    for (let failures = 1; failures < 2_000; failures += 1) {
      assert.ok(backOffMs(failures, 0) <= MOST_BACK_OFF_MS);
      assert.equal(backOffMs(failures, 1), backOffMs(failures, 0) * 0.8);
    }
  });
});
