/** Second tiers of the prefix cache, followed from round to round and put to the models whose contexts they hold. */
import type { CacheTierReport, ReportFault } from "#shared/report.ts";
import { NOTHING_SAID, type TierReading } from "./engines/cache-tiers.ts";
import { NO_COUNTERS } from "./engines/engine.ts";
import { type History, observe } from "./history.ts";
import { ratesOf } from "./rates.ts";

export type KnownTier = TierReading & { readonly history: History };

/** One scraped address. */
export type TierSource = { readonly address: string; readonly cacheTiers: readonly KnownTier[] };

type Look = { readonly atMs: number; readonly atEpochMs: number };

/** @param seen null: the page could not be had, and what was read of it is not known; @param windowMs as learn has it */
export const learnTiers = (
  before: readonly KnownTier[],
  seen: readonly TierReading[] | null,
  { atMs, atEpochMs }: Look,
  windowMs?: number,
): readonly KnownTier[] => {
  if (seen === null) return before.map((tier) => ({ ...tier, ...NOTHING_SAID }));
  return seen.map((tier) => {
    const known = before.find((one) => one.tier === tier.tier && one.model === tier.model);
    const counters = { ...NO_COUNTERS, prefixCache: tier.lookups };
    return {
      ...tier,
      history: observe(known?.history ?? null, { atMs, atEpochMs, startedAt: null, counters }, windowMs),
    };
  });
};

/** @param names what the model is called; its tiers name it by one of these, or where there is one model alone, not at all */
export const tiersOf = (
  names: readonly string[],
  sources: readonly TierSource[],
  isAlone: boolean,
): CacheTierReport[] =>
  sources.flatMap(({ address, cacheTiers }) =>
    cacheTiers
      .filter(({ model }) => names.includes(model) || (model === "" && isAlone))
      .map((tier) => tierReport(address, tier)),
  );

export const tierReport = (address: string, tier: KnownTier): CacheTierReport => {
  const { prefixCache } = tier.lookups.length === 0 ? { prefixCache: null } : ratesOf(tier.history);
  const [looked = 0, found = 0] = tier.lookups[0]?.values ?? [];
  return {
    tier: tier.tier,
    source: address,
    hitFraction: prefixCache === null ? null : shareOf(prefixCache.hits, prefixCache.queries),
    hitFractionSinceStart: shareOf(found, looked),
    usedFraction: tier.usedFraction,
    memoryUsedBytes: tier.memoryUsedBytes,
    storageUsedBytes: tier.storageUsedBytes,
    remoteUsedBytes: tier.remoteUsedBytes,
  };
};

const shareOf = (part: number, whole: number): number | null => (whole > 0 ? Math.min(1, part / whole) : null);

/** Tiers of models that nobody here serves, or that name none beside several. */
export const strayTiers = (
  names: ReadonlySet<string>,
  sources: readonly TierSource[],
  isAlone: boolean,
): ReportFault[] =>
  sources.flatMap(({ address, cacheTiers }) =>
    cacheTiers
      .filter(({ model }) => !names.has(model) && !(model === "" && isAlone))
      .map(() => ({ source: address, field: "cacheTiers", code: "model-unknown" })),
  );
