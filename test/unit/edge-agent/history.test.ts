import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { NO_COUNTERS } from "#edge-agent/engines/engine.ts";
import { type History, observe } from "#edge-agent/history.ts";

/** `output` null: the engine does not count yet. */
type Seen = { readonly atMs: number; readonly output?: number | null; readonly startedAtMs?: number | null };

const EPOCH_MS = 1_796_000_000_000;

const watched = (scrapes: readonly Seen[]): History => {
  let history: History | null = null;
  for (const { atMs, output = 0, startedAtMs = null } of scrapes) {
    history = observe(history, {
      atMs,
      atEpochMs: EPOCH_MS + atMs,
      startedAt: startedAtMs === null ? null : { source: "prompt_tokens_created", atMs: startedAtMs },
      counters: {
        ...NO_COUNTERS,
        outputTokens: output === null ? [] : [{ source: "generation_tokens", values: [output] }],
      },
    });
  }
  assert.ok(history);
  return history;
};
const kept = ({ scrapes }: History): readonly (readonly number[])[] =>
  scrapes.map(({ atMs, counters }) => [atMs, counters.outputTokens[0]?.values[0] ?? -1]);

describe("a replica watched for two minutes", () => {
  it("is remembered for the last 60 s, by a scrape each 4 s and the newest", () => {
    const history = watched(Array.from({ length: 121 }, (_, at) => ({ atMs: at * 1_000, output: at })));
    assert.deepEqual(
      history.scrapes.map(({ atMs }) => atMs),
      Array.from({ length: 16 }, (_, at) => 60_000 + 4_000 * at),
    );
  });
  it("that was silent for longer begins anew", () => {
    assert.deepEqual(
      kept(
        watched([
          { atMs: 0, output: 5 },
          { atMs: 61_000, output: 9 },
        ]),
      ),
      [[61_000, 9]],
    );
  });
});

describe("a restart", () => {
  it("by a new start time begins with zeros at the scrape before", () => {
    const history = watched([
      { atMs: 0, output: 900, startedAtMs: EPOCH_MS },
      { atMs: 1_000, output: 950, startedAtMs: EPOCH_MS },
      { atMs: 2_000, output: 30, startedAtMs: EPOCH_MS + 1_500 },
    ]);
    assert.deepEqual(kept(history), [
      [1_000, 0],
      [2_000, 30],
    ]);
    assert.equal(history.restartSeenAtMs, null);
    assert.equal(history.isShared, false);
  });
  it("by a new start time is one even where the counters have overtaken the old ones", () => {
    const history = watched([
      { atMs: 0, output: 10, startedAtMs: EPOCH_MS },
      { atMs: 1_000, output: 500, startedAtMs: EPOCH_MS + 900_000 },
    ]);
    assert.deepEqual(kept(history), [
      [0, 0],
      [1_000, 500],
    ]);
  });
  it("by falling counters alone is dated by when it was seen", () => {
    const history = watched([
      { atMs: 0, output: 900 },
      { atMs: 1_000, output: 4 },
      { atMs: 2_000, output: 6 },
    ]);
    assert.equal(history.restartSeenAtMs, EPOCH_MS + 1_000);
    assert.deepEqual(kept(history), [
      [0, 0],
      [2_000, 6],
    ]);
    assert.equal(history.isShared, false);
  });
  it("of an engine that counts nothing before its first request is seen at once", () => {
    const history = watched([
      { atMs: 0, output: 900 },
      { atMs: 1_000, output: null },
      { atMs: 2_000, output: null },
      { atMs: 3_000, output: 40 },
    ]);
    assert.equal(history.restartSeenAtMs, EPOCH_MS + 1_000);
    assert.deepEqual(kept(history), [
      [0, -1],
      [3_000, 40],
    ]);
    assert.equal(history.isShared, false);
  });
  it("seen by a clock that is then set back is no later than now", () => {
    let history: History | null = null;
    const looks = [
      { atMs: 0, atEpochMs: EPOCH_MS + 3_600_000, output: 900 },
      { atMs: 1_000, atEpochMs: EPOCH_MS + 3_601_000, output: 4 },
      { atMs: 2_000, atEpochMs: EPOCH_MS + 2_000, output: 6 },
      { atMs: 3_000, atEpochMs: EPOCH_MS + 3_000, output: 8 },
    ];
    for (const { atMs, atEpochMs, output } of looks) {
      const counters = { ...NO_COUNTERS, outputTokens: [{ source: "generation_tokens", values: [output] }] };
      history = observe(history, { atMs, atEpochMs, startedAt: null, counters });
    }
    assert.equal(history?.restartSeenAtMs, EPOCH_MS + 2_000);
  });
  it("is none where an engine counts nothing yet", () => {
    const history = watched([
      { atMs: 0, output: null },
      { atMs: 1_000, output: 0 },
      { atMs: 2_000, output: 5 },
    ]);
    assert.equal(history.restartSeenAtMs, null);
  });
  it("is none where the start time trembles by less than a second", () => {
    const history = watched([
      { atMs: 0, output: 1, startedAtMs: EPOCH_MS },
      { atMs: 1_000, output: 2, startedAtMs: EPOCH_MS + 400 },
      { atMs: 2_000, output: 3, startedAtMs: EPOCH_MS - 300 },
    ]);
    assert.deepEqual(kept(history)[0], [0, 1]);
  });
  it("is none where another source tells the start", () => {
    const first = watched([{ atMs: 0, output: 1, startedAtMs: EPOCH_MS }]);
    const history = observe(first, {
      atMs: 1_000,
      atEpochMs: EPOCH_MS + 1_000,
      startedAt: { source: "process_start_time_seconds", atMs: EPOCH_MS - 60_000 },
      counters: { ...NO_COUNTERS, outputTokens: [{ source: "generation_tokens", values: [2] }] },
    });
    assert.equal(history.scrapes.length, 2);
  });
});

describe("several processes behind one address", () => {
  it("are noticed by start times that come back", () => {
    const starts = [EPOCH_MS, EPOCH_MS + 60_000, EPOCH_MS];
    const seen = starts.map((startedAtMs, at) => ({ atMs: at * 1_000, output: 100 + at, startedAtMs }));
    assert.equal(watched(seen.slice(0, 2)).isShared, false);
    assert.equal(watched(seen).isShared, true);
  });
  it("are noticed by counters that fall twice within three steps", () => {
    const seen = [900, 10, 905, 12].map((output, at) => ({ atMs: at * 1_000, output }));
    assert.equal(watched(seen.slice(0, 3)).isShared, false);
    assert.equal(watched(seen).isShared, true);
  });
  it("are not what two restarts a while apart are", () => {
    const seen = [900, 10, 20, 30, 40, 5, 10].map((output, at) => ({ atMs: at * 1_000, output }));
    assert.equal(watched(seen).isShared, false);
  });
  it("are forgotten a minute after the last sign", () => {
    const signs = [900, 10, 905, 12].map((output, at) => ({ atMs: at * 1_000, output }));
    const quiet = Array.from({ length: 61 }, (_, at) => ({ atMs: 4_000 + at * 1_000, output: 1_000 + at }));
    assert.equal(watched([...signs, ...quiet.slice(0, 60)]).isShared, true);
    assert.equal(watched([...signs, ...quiet]).isShared, false);
  });
});
