/** How far an order may go before it is refused, unless whoever orders names the rule that it breaks. */

export type SafetyLimits = {
  /** Regions that go on taking new conversations; an integer, 0: any number. */
  readonly minActiveRegions: number;
  /** The same for each model of each pool. */
  readonly minRegionsPerModel: number;
  /** Of its KV memory and of its prefill rate, in a region that displaced conversations go to; above 0, null: any. */
  readonly maxUsedAfterDrainFraction: number | null;
  /** How long after one operator's change of a region another one must leave it alone; 0: not at all. */
  readonly cooldownMs: number;
};

/**
 * The last region of a model is never taken by a slip, two regions of which each is less than half full may be drained in turn,
 * and two people do not take back each other's orders unknowingly. `minActiveRegions` says nothing that `minRegionsPerModel: 1`
 * does not, until it is 2 or more: what that should be only the house knows.
 */
export const DEFAULT_SAFETY: SafetyLimits = {
  minActiveRegions: 0,
  minRegionsPerModel: 1,
  maxUsedAfterDrainFraction: 0.95,
  cooldownMs: 60_000,
};
