/** Durations and sizes as configurations write them: a number with its unit. */
import { z } from "zod";

const MS_PER_UNIT = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const BYTES_PER_UNIT = {
  B: 1,
  kB: 1e3,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
} as const;

const inUnit = (text: string, perUnit: Readonly<Record<string, number>>): number => {
  const [, amount = "", unit = ""] = /^([0-9.]+) ?([A-Za-z]+)$/.exec(text) ?? [];
  return Number(amount) * (perUnit[unit] ?? Number.NaN);
};

/** Ten digits at most: what a configuration can mean stays far from where numbers lose their last digits. */
const pattern = (units: Readonly<Record<string, number>>): RegExp =>
  new RegExp(`^[0-9]{1,10}(?:\\.[0-9]{1,9})? ?(?:${Object.keys(units).join("|")})$`);

/** "800ms", "20s", "5m", "2h", "1d" → milliseconds, 0 or more. */
export const duration = z
  .string({ error: "must be a duration with its unit, such as 800ms, 20s, 5m or 2h" })
  .regex(pattern(MS_PER_UNIT), "must be a duration with its unit, such as 800ms, 20s, 5m or 2h")
  .transform((text) => inUnit(text, MS_PER_UNIT));

/** "141 GB", "80GiB", "0 B" → whole bytes, 0 or more; kB to TB are powers of 1 000, KiB to TiB of 1 024. */
export const size = z
  .string({ error: "must be a size with its unit, such as 141 GB or 80GiB" })
  .regex(pattern(BYTES_PER_UNIT), "must be a size with its unit, such as 141 GB or 80GiB")
  .transform((text) => Math.round(inUnit(text, BYTES_PER_UNIT)));
