/**
 * How many answers over UDP a network gets a second: a bucket of tokens for each /24 and /56, in a table that never grows.
 * Spoofed floods come from more networks than any table holds, so a network that finds no room takes the place, among four,
 * whose bucket is fullest. That forgives the one that leaves; it never charges one network for another.
 */
import { randomBytes } from "node:crypto";
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

/** @param seed 8 random octets: nobody outside can tell which networks share a set */
export const createRateLimiter = (settings: RateLimitSettings, seed: Uint8Array = randomBytes(8)): RateLimiter => {
  const { perPrefixQps, slip, exempt } = settings;
  const limit = perPrefixQps ?? 0;
  const isExempt = addressSet(exempt);
  const seeds = new Uint32Array(new Uint8Array(seed).buffer);
  const high = new Uint32Array(SLOTS);
  const low = new Uint32Array(SLOTS);
  const tokens = new Float64Array(SLOTS);
  const filledAtMs = new Float64Array(SLOTS);
  const overs = new Uint8Array(SLOTS);
  let nowMs = 0;
  let lastSlot = -1;

  const levelOf = (slot: number): number =>
    Math.min(limit, (tokens[slot] ?? 0) + (nowMs - (filledAtMs[slot] ?? 0)) * (limit / 1_000));
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
      if (filledAtMs[slot] !== nowMs) {
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
