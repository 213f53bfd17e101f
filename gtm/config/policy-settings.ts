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

/** What each key is inside. */
const FIELDS = {
  margin: "marginMs",
  margin_fraction: "marginFraction",
  bucket: "bucketMs",
  memory_price_factor: "memoryPriceFactor",
  next_turn_fraction: "nextTurnFraction",
  reuse_fraction: "reuseFraction",
  decode_weight: "decodeWeight",
  ms_per_cent: "msPerCent",
  replica_cents_per_hour: "replicaCentsPerHour",
  staleness_ms_per_second: "stalenessMsPerSecond",
  staleness_free: "stalenessFreeMs",
  stale_after: "staleAfterMs",
  expired_after: "expiredAfterMs",
  connection_idle: "connectionIdleMs",
  round_trips_open: "roundTripsOpen",
  round_trips_new: "roundTripsNew",
  unknown_rtt: "unknownRttMs",
  pin: "pinMs",
  assumed_context_tokens: "assumedContextTokens",
  cell_prompt_tokens: "cellPromptTokens",
  label_prompt_tokens: "labelPromptTokens",
  assumed_output_tokens: "assumedOutputTokens",
  holder_patience: "holderPatienceMs",
  confidence_floor: "confidenceFloor",
  assumed_cold_start: "assumedColdStartMs",
  blind_after: "blindAfterMs",
  later_turns: "laterTurns",
  ttl_steady: "ttlSteadySeconds",
  ttl_unsettled: "ttlUnsettledSeconds",
  slo_base: "sloBaseMs",
  slo_per_1000_tokens: "sloPer1000TokensMs",
} as const satisfies Readonly<Record<keyof PolicySettings, keyof Policy>>;

type Key = keyof typeof FIELDS;
const KEYS = Object.keys(FIELDS) as readonly Key[];
/** Written as durations, and whole seconds inside. */
const IN_SECONDS: ReadonlySet<Key> = new Set(["ttl_steady", "ttl_unsettled"]);

export const policyOf = (settings: PolicySettings): Policy => {
  const given = KEYS.flatMap((key) => {
    const value = settings[key];
    return value === undefined ? [] : [[FIELDS[key], IN_SECONDS.has(key) ? value / 1_000 : value] as const];
  });
  return { ...DEFAULT_POLICY, ...Object.fromEntries(given) };
};

/** The same numbers with every key, as a configuration without gaps would have them. */
export const wholePolicy = (settings: PolicySettings): Required<PolicySettings> => {
  const policy = policyOf(settings);
  const all = KEYS.map(
    (key) => [key, IN_SECONDS.has(key) ? policy[FIELDS[key]] * 1_000 : policy[FIELDS[key]]] as const,
  );
  return Object.fromEntries(all) as Required<PolicySettings>;
};
