/**
 * How many answers over UDP a network gets a second: a bucket of tokens for each /24 and /56, in a table that never grows.
 * Spoofed floods come from more networks than any table holds, so a network that finds no room takes the place, among four,
 * whose bucket is fullest. That forgives the one that leaves; it never charges one network for another.
 */
import { randomFillSync } from "node:crypto";
import { addressSet } from "./address-set.ts";
import { prefixText } from "./prefix.ts";

export type RateLimitSettings = {
  /** Answers a second, and at once after a second's silence; null: no limit. */
  readonly perPrefixQps: number | null;
  /** Of the queries over the limit, one in so many is answered with TC, so that the network's real resolvers come by TCP. */
  readonly slip: number;
  /** Networks that are never limited, CIDR notation. */
  readonly exempt: readonly string[];
};

export type RateVerdict = "pass" | "slip" | "drop";

export type RateLimiter = {
  /** @param octets as readAddress leaves it, and what it returned; 0 passes: no address, nobody to answer */
  readonly take: (octets: Uint8Array, length: 0 | 4 | 16) => RateVerdict;
  /** The time by which buckets fill: to read the clock for each query would allocate. */
  readonly tick: (nowMs: number) => void;
  /** The network that was limited last; null: none yet. IPv6 as /48, finer than which nothing is logged. */
  readonly lastLimited: () => string | null;
};

/** How often `tick` is called. */
export const TICK_MS = 50;

const SETS = 16_384;
const WAYS = 4;
const SLOTS = SETS * WAYS;
const IS_IPV4 = 0x8000_0000;
const IS_IPV6 = 0x4000_0000;

const SEED_OCTETS = 8;
/** A slot: its tokens and since when, the network in two words, how often it was over. */
export const RATE_TABLE_OCTETS = SEED_OCTETS + SLOTS * (8 + 8 + 4 + 4 + 1);

/**
 * The seed is random: nobody outside can tell which networks share a set.
 *
 * @param memory RATE_TABLE_OCTETS, all 0 or filled by another limiter: threads that share it limit a network together.
 * They take no locks: two that count one network in the same instant may count one query for both.
 */
const tableIn = (memory: ArrayBufferLike) => {
  const seeds = new Uint32Array(memory, 0, 2);
  // Whoever is first.
  if (seeds[0] === 0) randomFillSync(seeds);
  const at = (slot: number): number => SEED_OCTETS + slot * SLOTS;
  return {
    seeds,
    tokens: new Float64Array(memory, at(0), SLOTS),
    filledAtMs: new Float64Array(memory, at(8), SLOTS),
    high: new Uint32Array(memory, at(16), SLOTS),
    low: new Uint32Array(memory, at(20), SLOTS),
    overs: new Uint8Array(memory, at(24), SLOTS),
  };
};

export const createRateLimiter = (
  settings: RateLimitSettings,
  memory: ArrayBufferLike = new ArrayBuffer(RATE_TABLE_OCTETS),
): RateLimiter => {
  const { perPrefixQps, slip, exempt } = settings;
  const limit = perPrefixQps ?? 0;
  const isExempt = addressSet(exempt);
  const { seeds, high, low, tokens, filledAtMs, overs } = tableIn(memory);
  let nowMs = 0;
  let lastSlot = -1;

  const levelOf = (slot: number): number =>
    Math.min(limit, (tokens[slot] ?? 0) + Math.max(0, nowMs - (filledAtMs[slot] ?? 0)) * (limit / 1_000));
  const slotOf = (keyHigh: number, keyLow: number): number => {
    const first = (mixed(keyHigh ^ (seeds[0] ?? 0), keyLow ^ (seeds[1] ?? 0)) & (SETS - 1)) * WAYS;
    let fullest = first;
    let most = -1;
    for (let slot = first; slot < first + WAYS; slot++) {
      if (high[slot] === keyHigh && low[slot] === keyLow) return slot;
      const level = high[slot] === 0 ? Number.POSITIVE_INFINITY : levelOf(slot);
      if (level > most) {
        most = level;
        fullest = slot;
      }
    }
    high[fullest] = keyHigh;
    low[fullest] = keyLow;
    tokens[fullest] = limit;
    filledAtMs[fullest] = nowMs;
    overs[fullest] = 0;
    return fullest;
  };

  return {
    take: (octets, length) => {
      if (limit === 0 || length === 0 || isExempt(octets, length)) return "pass";
      const slot =
        length === 4
          ? slotOf(IS_IPV4, numberOf(octets, 0, 3))
          : slotOf((IS_IPV6 | numberOf(octets, 0, 3)) >>> 0, numberOf(octets, 3, 7) >>> 0);
      // Another thread's time may be a tick ahead of ours.
      if ((filledAtMs[slot] ?? 0) < nowMs) {
        tokens[slot] = levelOf(slot);
        filledAtMs[slot] = nowMs;
      }
      const left = tokens[slot] ?? 0;
      if (left >= 1) {
        tokens[slot] = left - 1;
        return "pass";
      }
      lastSlot = slot;
      overs[slot] = ((overs[slot] ?? 0) + 1) % slip;
      return overs[slot] === 0 ? "slip" : "drop";
    },
    tick: (ms) => {
      nowMs = ms;
    },
    lastLimited: () => {
      if (lastSlot < 0) return null;
      const [keyHigh, keyLow] = [high[lastSlot] ?? 0, low[lastSlot] ?? 0];
      if (keyHigh === IS_IPV4) return prefixText({ family: 4, value: keyLow, bits: 24 });
      const value = (keyHigh & 0xff_ffff) * 2 ** 24 + (keyLow >>> 8);
      return prefixText({ family: 6, value, bits: 48 });
    },
  };
};

const numberOf = (octets: Uint8Array, from: number, to: number): number => {
  let value = 0;
  for (let i = from; i < to; i++) value = (value << 8) | (octets[i] ?? 0);
  return value;
};

/** Every bit of the result depends on every bit of both (the last steps of MurmurHash3). */
const mixed = (a: number, b: number): number => {
  let hash = Math.imul(a ^ (a >>> 16), 0x85eb_ca6b) ^ b;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
};
