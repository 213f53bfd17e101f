import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type LoadWatch, watchLoad } from "#edge-agent/load-time.ts";
import type { PlacementState } from "#shared/report.ts";

const EPOCH_MS = 1_796_000_000_000;

/** @param states one a second; a number with it is the process's start, in seconds of the same clock */
const watched = (...states: readonly (PlacementState | readonly [PlacementState, startedAt: number])[]): LoadWatch => {
  let watch: LoadWatch | null = null;
  for (const [at, one] of states.entries()) {
    const [state, startedAt] = typeof one === "string" ? [one, null] : one;
    const atMs = at * 1_000;
    const processStartedAtMs = startedAt === null ? null : EPOCH_MS + startedAt * 1_000;
    watch = watchLoad(watch, { state, atMs, atEpochMs: EPOCH_MS + atMs, processStartedAtMs });
  }
  assert.ok(watch);
  return watch;
};

describe("the time that a load took", () => {
  const cases: readonly { readonly when: string; readonly watch: LoadWatch; readonly tookMs: number | null }[] = [
    { when: "it is seen from its beginning", watch: watched("on-disk", "loading", "loading", "loaded"), tookMs: 2_000 },
    { when: "it began after sleep", watch: watched("asleep", "loading", "loaded"), tookMs: 1_000 },
    { when: "it was under way at the first look", watch: watched("loading", "loading", "loaded"), tookMs: null },
    { when: "it was never seen", watch: watched("loaded", "loaded"), tookMs: null },
    { when: "it is not over", watch: watched("on-disk", "loading", "loading"), tookMs: null },
    { when: "it failed", watch: watched("on-disk", "loading", "down"), tookMs: null },
    {
      when: "another one is newer",
      watch: watched("down", "loading", "loaded", "loading", "loading", "loaded"),
      tookMs: 2_000,
    },
    { when: "later states are others", watch: watched("down", "loading", "loaded", "asleep"), tookMs: 1_000 },
    {
      when: "the engine listens only afterwards, and its process says since when",
      watch: watched("loaded", "down", "down", "down", ["loaded", 1.5]),
      tookMs: 2_500,
    },
    {
      when: "the process is older than its absence, so that the way there was broken",
      watch: watched(["loaded", -600], "down", "down", ["loaded", -600]),
      tookMs: null,
    },
    { when: "nobody says since when", watch: watched("loaded", "down", "loaded"), tookMs: null },
  ];
  for (const { when, watch, tookMs } of cases) {
    it(`is ${tookMs === null ? "not known" : `${tookMs} ms`} when ${when}`, () => assert.equal(watch.tookMs, tookMs));
  }
});
