/** The policy's numbers as the configuration writes them: durations with a unit, fractions and counts as they are. */
import { z } from "zod";
import { DEFAULT_POLICY, type Policy } from "#gtm/steering/policy.ts";
import { duration } from "#shared/units.ts";

const fraction = z.number().min(0).max(1);
const factor = z.number().min(0).max(1_000);
const tokens = z.int().min(0).max(10_000_000);
const wholeSeconds = duration.pipe(
  z.number().multipleOf(1_000, "must be whole seconds").max(86_400_000, "must be at most a day"),
);

/** Every key may be left out; what stands there replaces the default. */
export const PolicySettings = z
  .strictObject({
    margin: duration,
    /** Below 1, or nothing would ever move. */
    margin_fraction: z.number().min(0).max(0.9),
    bucket: duration,
    memory_price_factor: factor,
    next_turn_fraction: fraction,
    reuse_fraction: fraction,
    decode_weight: factor,
    ms_per_cent: z.number().min(0).max(1e6),
    replica_cents_per_hour: z.number().min(0).max(1e6),
    staleness_ms_per_second: factor,
    staleness_free: duration,
    stale_after: duration,
    expired_after: duration,
    connection_idle: duration,
    round_trips_open: z.number().min(0).max(20),
    round_trips_new: z.number().min(0).max(20),
    unknown_rtt: duration,
    pin: duration,
    assumed_context_tokens: tokens,
    cell_prompt_tokens: tokens,
    label_prompt_tokens: tokens,
    assumed_output_tokens: tokens,
    holder_patience: duration,
    confidence_floor: fraction,
    assumed_cold_start: duration,
    blind_after: duration,
    later_turns: z.int().min(0).max(3),
    ttl_steady: wholeSeconds,
    ttl_unsettled: wholeSeconds,
    slo_base: duration,
    slo_per_1000_tokens: z.number().min(0).max(1e6),
  })
  .partial();
export type PolicySettings = z.output<typeof PolicySettings>;

export const policyOf = (settings: PolicySettings): Policy => {
  const own: { [Field in keyof Policy]: number | undefined } = {
    marginMs: settings.margin,
    marginFraction: settings.margin_fraction,
    bucketMs: settings.bucket,
    memoryPriceFactor: settings.memory_price_factor,
    nextTurnFraction: settings.next_turn_fraction,
    reuseFraction: settings.reuse_fraction,
    decodeWeight: settings.decode_weight,
    msPerCent: settings.ms_per_cent,
    replicaCentsPerHour: settings.replica_cents_per_hour,
    stalenessMsPerSecond: settings.staleness_ms_per_second,
    stalenessFreeMs: settings.staleness_free,
    staleAfterMs: settings.stale_after,
    expiredAfterMs: settings.expired_after,
    connectionIdleMs: settings.connection_idle,
    roundTripsOpen: settings.round_trips_open,
    roundTripsNew: settings.round_trips_new,
    unknownRttMs: settings.unknown_rtt,
    pinMs: settings.pin,
    assumedContextTokens: settings.assumed_context_tokens,
    cellPromptTokens: settings.cell_prompt_tokens,
    labelPromptTokens: settings.label_prompt_tokens,
    assumedOutputTokens: settings.assumed_output_tokens,
    holderPatienceMs: settings.holder_patience,
    confidenceFloor: settings.confidence_floor,
    assumedColdStartMs: settings.assumed_cold_start,
    blindAfterMs: settings.blind_after,
    laterTurns: settings.later_turns,
    ttlSteadySeconds: seconds(settings.ttl_steady),
    ttlUnsettledSeconds: seconds(settings.ttl_unsettled),
    sloBaseMs: settings.slo_base,
    sloPer1000TokensMs: settings.slo_per_1000_tokens,
  };
  const given = Object.entries(own).filter(([, value]) => value !== undefined);
  return { ...DEFAULT_POLICY, ...Object.fromEntries(given) };
};

const seconds = (ms: number | undefined): number | undefined => (ms === undefined ? undefined : ms / 1_000);
