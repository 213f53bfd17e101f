/**
 * Round trips of client networks, learned from TLS handshakes: between our first answer and the client's `Finished` lies one
 * (RFC 8446 §2, RFC 5246 §7.3). Processors and queues only lengthen it, so the least of ten minutes is believed.
 */
import type { Clock } from "#shared/clock.ts";

export type RoundTrips = {
  /** @param network CIDR, /24 or /48 @param tookMs more than 0 */
  readonly add: (network: string, tookMs: number) => void;
  /** Milliseconds; null: fewer than three samples within ten minutes. */
  readonly of: (network: string) => number | null;
  readonly size: () => number;
};

const WINDOW_MS = 600_000;
const LEAST_SAMPLES = 3;
/** About 200 octets each. */
const MOST_NETWORKS = 50_000;
/** A handshake that took longer waited for something else. */
const MOST_MS = 10_000;
/** Of rising samples, each of which may become the least: bounded. */
const MOST_KEPT = 32;

type Sample = { readonly atMs: number; readonly tookMs: number };
type Network = {
  /** Times of the last three samples, oldest first. */
  lastAtMs: number[];
  /** Each later and longer than the one before it: the first is the least of the window. */
  rising: Sample[];
};

export const createRoundTrips = (clock: Clock, mostNetworks = MOST_NETWORKS): RoundTrips => {
  /** Least recently added to first. */
  const networks = new Map<string, Network>();

  return {
    add: (network, tookMs) => {
      if (!(tookMs > 0 && tookMs <= MOST_MS)) return;
      const atMs = clock.monotonicMs();
      const known = networks.get(network) ?? { lastAtMs: [], rising: [] };
      networks.delete(network);
      networks.set(network, known);
      const [oldest] = networks.keys();
      if (networks.size > mostNetworks && oldest !== undefined) networks.delete(oldest);
      known.lastAtMs = [...known.lastAtMs, atMs].slice(-LEAST_SAMPLES);
      known.rising = [...within(known.rising, atMs).filter((one) => one.tookMs < tookMs), { atMs, tookMs }].slice(
        0,
        MOST_KEPT,
      );
    },
    of: (network) => {
      const known = networks.get(network);
      if (known === undefined) return null;
      const nowMs = clock.monotonicMs();
      const isEnough = known.lastAtMs.length === LEAST_SAMPLES && isWithin(known.lastAtMs[0] ?? 0, nowMs);
      return isEnough ? (within(known.rising, nowMs)[0]?.tookMs ?? null) : null;
    },
    size: () => networks.size,
  };
};

const isWithin = (atMs: number, nowMs: number): boolean => nowMs - atMs <= WINDOW_MS;
const within = (samples: readonly Sample[], nowMs: number): Sample[] =>
  samples.filter(({ atMs }) => isWithin(atMs, nowMs));
