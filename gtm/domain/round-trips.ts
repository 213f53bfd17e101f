/** Round trips between a client's network and a region as a gateway measures them, and what they say of the other regions. */
import type { RegionId } from "#shared/ids.ts";
import type { Location } from "./topology.ts";
import { greatCircleRttMs } from "./topology.ts";

/** The least samples of ten minutes, one a second at most. */
type Window = { readonly leastMs: number; readonly secondMs: number; readonly count: number };

export type RoundTripWindows = {
  /** Which ten minutes of the monotonic clock `now` is of. */
  readonly epoch: number;
  readonly now: Window;
  /** The ten minutes before; null: nothing was measured in them. */
  readonly before: Window | null;
  /** What was last known; null: there were never enough samples. */
  readonly knownMs: number | null;
  /** Of the newest sample, monotonic. */
  readonly atMs: number;
};

const WINDOW_MS = 600_000;
const LEAST_SAMPLES = 3;
/** What was not measured for so long is forgotten. */
export const ROUND_TRIP_KEPT_MS = 3_600_000;
/** Less than a switch takes, and more than any client waits: no round trips, and not heard. */
export const LEAST_RTT_MS = 0.01;
export const MOST_RTT_MS = 10_000;

/** @param rttMs the least of one second, so that one client with many turns is one sample; within the bounds above */
export const withRoundTrip = (before: RoundTripWindows | null, rttMs: number, atMs: number): RoundTripWindows => {
  const epoch = Math.floor(atMs / WINDOW_MS);
  const standing = before === null ? null : turnedTo(before, epoch);
  const now = withSample(standing?.now ?? null, rttMs);
  const earlier = standing?.before ?? null;
  const knownMs = secondLeast(now, earlier) ?? standing?.knownMs ?? null;
  return { epoch, now, before: earlier, knownMs, atMs: Math.max(atMs, before?.atMs ?? atMs) };
};

type Turned = { readonly now: Window | null; readonly before: Window | null; readonly knownMs: number | null };

const turnedTo = (windows: RoundTripWindows, epoch: number): Turned => {
  const { now, before, knownMs } = windows;
  if (epoch <= windows.epoch) return { now, before, knownMs };
  return { now: null, before: epoch === windows.epoch + 1 ? now : null, knownMs };
};

const withSample = (window: Window | null, rttMs: number): Window => {
  if (window === null) return { leastMs: rttMs, secondMs: Number.POSITIVE_INFINITY, count: 1 };
  const { leastMs, secondMs, count } = window;
  return rttMs < leastMs
    ? { leastMs: rttMs, secondMs: leastMs, count: count + 1 }
    : { leastMs, secondMs: Math.min(secondMs, rttMs), count: count + 1 };
};

/** Not the least: one sample that is too short to be true would stand for twenty minutes. @returns null: too few samples */
const secondLeast = (now: Window, before: Window | null): number | null => {
  if (now.count + (before?.count ?? 0) < LEAST_SAMPLES) return null;
  if (before === null) return now.secondMs;
  // Either window's least is the least of all: the other's is the second, unless the first's own second is shorter.
  return Math.min(Math.max(now.leastMs, before.leastMs), now.secondMs, before.secondMs);
};

/** What turns read: the measured round trips of one client's network, ms. */
export type MeasuredRoundTrips = {
  readonly byRegion: ReadonlyMap<RegionId, number>;
  /** How much longer than by distance its round trips are at least; added where none was measured. 0 or more. */
  readonly lastMileMs: number;
};

/**
 * A slow last mile is slow to every region: were it counted only where it was measured, the region that a client uses would
 * seem farther than those it does not. Round trips shorter than expected say that the place is wrong, and nothing of others.
 *
 * @param unknownMs what is taken where a location is not known
 */
export const lastMileMs = (
  byRegion: ReadonlyMap<RegionId, number>,
  client: Location | null,
  regions: readonly { readonly id: RegionId; readonly location: Location | null }[],
  unknownMs: number,
): number => {
  let least: number | null = null;
  for (const { id, location } of regions) {
    const measured = byRegion.get(id);
    if (measured === undefined) continue;
    const expected = client === null || location === null ? unknownMs : greatCircleRttMs(client, location);
    least = Math.min(least ?? Number.POSITIVE_INFINITY, measured - expected);
  }
  return Math.max(0, least ?? 0);
};
