/** How long a model took to load at one address, as it was seen: from loading to loaded, or from the process's start to its first answer. */
import type { PlacementState } from "#shared/report.ts";

export type LoadWatch = {
  readonly state: PlacementState;
  /** Monotonic ms since when it has this state; null: it had it when it was first looked at. */
  readonly sinceMs: number | null;
  /** Of the newest load that was seen from its beginning to its end, in ms; null: none was. */
  readonly tookMs: number | null;
};

export type Look = {
  readonly state: PlacementState;
  /** On the agent's monotonic clock. */
  readonly atMs: number;
  readonly atEpochMs: number;
  /** Epoch ms, by the page; null: it does not say. */
  readonly processStartedAtMs: number | null;
};

/** A process that replaces another begins a little before anybody sees that the other is gone. */
const EARLIER_THAN_SEEN_MS = 5_000;

/** Looks come once a second: a load is longer than it seems by that much at most. */
export const watchLoad = (before: LoadWatch | null, look: Look): LoadWatch => {
  const { state, atMs } = look;
  if (before === null) return { state, sinceMs: null, tookMs: null };
  if (before.state === state) return before;
  return { state, sinceMs: atMs, tookMs: loadEnded(before, look) ?? before.tookMs };
};

const loadEnded = ({ state: was, sinceMs }: LoadWatch, look: Look): number | null => {
  if (look.state !== "loaded" || sinceMs === null) return null;
  if (was === "loading") return look.atMs - sinceMs;
  // Engines that listen only once they have loaded are away until then: their process knows since when.
  if (was !== "down" || look.processStartedAtMs === null) return null;
  const sinceStart = look.atEpochMs - look.processStartedAtMs;
  const sinceDown = look.atMs - sinceMs;
  return sinceStart > 0 && sinceStart <= sinceDown + EARLIER_THAN_SEEN_MS ? sinceStart : null;
};
