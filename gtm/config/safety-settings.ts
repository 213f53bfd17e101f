/** How far orders may go, as the configuration writes it; every key may be left out. */
import { z } from "zod";
import { DEFAULT_SAFETY, type SafetyLimits } from "#gtm/domain/safety-limits.ts";
import { duration } from "#shared/units.ts";

const regions = z
  .int("must be a whole number")
  .min(0, "must be 0 or more")
  .max(256, "must be at most 256, as regions are");

export const SafetySettings = z.strictObject({
  /** Regions that an order must leave taking new conversations; 0: any number. */
  min_active_regions: regions.default(DEFAULT_SAFETY.minActiveRegions),
  /** The same for each model of each pool; 1: no model is left without a region. */
  min_regions_per_model: regions.default(DEFAULT_SAFETY.minRegionsPerModel),
  /** Of the KV memory and the prefill rate of a region that displaced conversations go to; 0.05 to 1, null: any. */
  max_used_after_drain_fraction: z
    .number()
    .min(0.05, "must be a fraction from 0.05 to 1, or null")
    .max(1, "must be a fraction from 0.05 to 1, or null")
    .nullable()
    .default(DEFAULT_SAFETY.maxUsedAfterDrainFraction),
  /** How long somebody else must leave a region alone after it was drained, downed or returned; up to 1h, 0s: not at all. */
  cooldown: duration.pipe(z.number().max(3_600_000, "must be at most 1h")).default(DEFAULT_SAFETY.cooldownMs),
});
export type SafetySettings = z.output<typeof SafetySettings>;

export const safetyOf = (settings: SafetySettings): SafetyLimits => ({
  minActiveRegions: settings.min_active_regions,
  minRegionsPerModel: settings.min_regions_per_model,
  maxUsedAfterDrainFraction: settings.max_used_after_drain_fraction,
  cooldownMs: settings.cooldown,
});

type Configured = { readonly safety: SafetySettings; readonly regions: readonly unknown[] };

/** A number that no fleet of this size reaches would refuse every order. */
export const safetyFaults = ({ safety, regions: { length } }: Configured) =>
  (["min_active_regions", "min_regions_per_model"] as const).flatMap((key) =>
    safety[key] <= length
      ? []
      : [
          {
            path: ["safety", key],
            message: `must be at most ${length}, as many regions are configured: every drain would be refused`,
          },
        ],
  );
