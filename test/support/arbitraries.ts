/** Arbitrary worlds, turns and policies for fast-check: everything the types allow, the odd and the extreme included. */
import fc from "fast-check";
import type { Conversation } from "#gtm/domain/conversation.ts";
import { type Learnt, NOTHING_LEARNT } from "#gtm/domain/learnt.ts";
import { PROMPT_SIZE_CLASSES } from "#gtm/domain/output-lengths.ts";
import type { Placement, Replica } from "#gtm/domain/placement.ts";
import type { Region } from "#gtm/domain/region.ts";
import { LEAST_RTT_MS, MOST_RTT_MS } from "#gtm/domain/round-trips.ts";
import type { SendList } from "#gtm/domain/world.ts";
import { DEFAULT_POLICY, type Policy } from "#gtm/steering/policy.ts";
import type { Query } from "#gtm/steering/ports.ts";
import type { Situation } from "./builders.ts";
import {
  aClient,
  aPlacement,
  aPool,
  aRegion,
  aReplica,
  CONVERSATION,
  MODEL,
  NOW_MS,
  PLACES,
  regionId,
  replicaId,
} from "./builders.ts";

const NAMES = ["frankfurt", "paris", "virginia", "singapore"] as const;

/** Mostly plausible, sometimes anything finite that is 0 or more. */
const nonNegative = (usualMax: number): fc.Arbitrary<number> =>
  fc.oneof(
    { weight: 9, arbitrary: fc.double({ min: 0, max: usualMax, noNaN: true }) },
    { weight: 1, arbitrary: fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }) },
  );
const positive = (usualMax: number): fc.Arbitrary<number> =>
  nonNegative(usualMax).map((value) => Math.max(value, 1e-9));
const orNull = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(arbitrary, { nil: null, freq: 6 });
/** The first as often as nine others: worlds in which hardly any region may serve teach little. */
const mostly = <T>(usual: T, ...rare: readonly T[]): fc.Arbitrary<T> =>
  fc.oneof({ weight: 9, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...rare) });

const replicaOf = (region: string, at: number): fc.Arbitrary<Replica> =>
  fc
    .record({
      backlogMs: nonNegative(20_000),
      speed: fc.record({ linMs: positive(1), attnMs: nonNegative(1e-5) }),
      kvCapacityTokens: orNull(nonNegative(1e6)),
      kvPinnedTokens: orNull(nonNegative(1e6)),
      startedAtMs: orNull(fc.double({ min: 0, max: NOW_MS, noNaN: true })),
    })
    .map((wish) => aReplica(region, at, wish));

const placementOf = (region: string): fc.Arbitrary<Placement> =>
  fc
    .record({
      state: mostly("loaded", "loading", "asleep", "on-disk", "down"),
      replicas: fc
        .integer({ min: 1, max: 4 })
        .chain((n) => fc.tuple(...Array.from({ length: n }, (_, at) => replicaOf(region, at)))),
      averageBacklogMs: nonNegative(20_000),
      longAverageBacklogMs: nonNegative(20_000),
      contextLimitTokens: orNull(fc.integer({ min: 60_000, max: 200_000 })),
      kvCapacityTokens: orNull(nonNegative(1e6)),
      newTokensPerSecond: orNull(nonNegative(20_000)),
      prefillConfidence: mostly(1, 0, 0.1, 0.5),
      itlMs: orNull(nonNegative(100)),
      coldStartMs: orNull(nonNegative(100_000)),
      weightBytes: orNull(nonNegative(1e12)),
      liveTokens: nonNegative(1e6),
      leastOccupancy: mostly(0, 0.3, 1),
      heldCorrection: fc.double({ min: 0, max: 1, noNaN: true }),
      isHeldCorrectionLearnt: fc.boolean(),
      sparePrefillTokensPerSecond: positive(40_000),
    })
    .map((wish) => aPlacement(region, wish as Partial<Placement>));

const regionOfName = (name: (typeof NAMES)[number]): fc.Arbitrary<Region> =>
  fc
    .record({
      admin: mostly("active", "drain-new", "drain-all", "down", "forced-up"),
      health: mostly("healthy", "degraded", "unhealthy", "silent"),
      jurisdiction: mostly("eu", "us", null),
      location: mostly(PLACES[name], null),
      reportAgeMs: orNull(nonNegative(31_000)),
      gpuMemoryFreeBytes: orNull(nonNegative(1e12)),
      placement: orNull(placementOf(name)),
    })
    .map(({ placement, ...wish }) => ({
      ...aRegion(name, wish as Partial<Region>),
      placements: new Map(placement === null ? [] : [[MODEL, placement]]),
    }));

const conversation: fc.Arbitrary<Conversation> = fc
  .record({
    regions: fc.shuffledSubarray([...NAMES], { minLength: 1, maxLength: 3 }),
    tokens: nonNegative(100_000).map(Math.floor),
    idleMs: fc.double({ min: 0, max: 1_000_000, noNaN: true }),
    replica: fc.boolean(),
    refusedBy: mostly<readonly string[]>([], ["paris"], ["frankfurt", "virginia"]),
  })
  .map(({ regions, tokens, idleMs, replica, refusedBy }) => {
    const [home = NAMES[0], ...others] = regions;
    const holding = (name: string) => ({
      region: regionId(name),
      replica: replica ? replicaId(name, 0) : null,
      tokens,
      atMs: NOW_MS - idleMs,
    });
    return {
      id: CONVERSATION,
      model: MODEL,
      holdings: [holding(home), ...others.map(holding)],
      turns: 2,
      lastTurnAtMs: NOW_MS - idleMs,
      rev: 2,
      refusedBy: refusedBy.map(regionId),
    };
  });

const sends: fc.Arbitrary<SendList | null> = fc
  .array(
    fc.record({
      name: fc.constantFrom(...NAMES),
      afterMs: nonNegative(1_000),
      workMs: nonNegative(10_000),
      at: fc.integer({ min: 0, max: 4 }),
    }),
    { maxLength: 8 },
  )
  .map((list) =>
    list.reduce<SendList | null>(
      (earlier, { name, afterMs, workMs, at }) => ({
        region: regionId(name),
        model: MODEL,
        send: { replica: at === 4 ? null : replicaId(name, at), arrivalAtMs: NOW_MS + afterMs, workMs },
        earlier,
      }),
      null,
    ),
  );

/** Whatever turns may have taught: of some regions and classes, and of none. */
const learnt: fc.Arbitrary<Learnt> = fc
  .record({
    rtts: fc.dictionary(fc.constantFrom(...NAMES), fc.double({ min: LEAST_RTT_MS, max: MOST_RTT_MS, noNaN: true })),
    outputTokens: fc.array(orNull(nonNegative(131_072)), {
      minLength: PROMPT_SIZE_CLASSES,
      maxLength: PROMPT_SIZE_CLASSES,
    }),
    nextTurnFraction: orNull(fc.double({ min: 0, max: 1, noNaN: true })),
    reuseFraction: orNull(fc.double({ min: 0, max: 1, noNaN: true })),
  })
  .map(({ rtts, ...ofPool }) => ({
    pools: new Map([[aPool([]).name, ofPool]]),
    roundTrips: new Map([
      [aClient().subnet, new Map(Object.entries(rtts).map(([name, ms]) => [regionId(name), ms] as const))],
    ]),
  }));

const policy: fc.Arbitrary<Policy> = fc
  .record({
    marginMs: nonNegative(2_000),
    marginFraction: fc.double({ min: 0, max: 0.9, noNaN: true }),
    bucketMs: nonNegative(100),
    memoryPriceFactor: nonNegative(8),
    decodeWeight: fc.constantFrom(0, 1),
    msPerCent: fc.constantFrom(0, 10),
    laterTurns: fc.integer({ min: 0, max: 3 }),
  })
  .map((wish) => ({ ...DEFAULT_POLICY, ...wish }));

export const situation: fc.Arbitrary<Situation & { readonly regions: readonly Region[] }> = fc
  .record({
    regions: fc.shuffledSubarray([...NAMES], { minLength: 1 }).chain((names) => fc.tuple(...names.map(regionOfName))),
    conversation: orNull(conversation),
    from: fc.constantFrom(...NAMES),
    promptTokens: orNull(nonNegative(100_000).map(Math.floor)),
    jurisdictions: fc.constantFrom(null, null, ["eu"]),
    sends,
    learnt: fc.oneof(fc.constant(NOTHING_LEARNT), learnt),
    policy,
    pinnedTo: fc.constantFrom(null, regionId("paris")),
    outputTokens: orNull(nonNegative(4_000)),
    outputLimitTokens: orNull(nonNegative(4_000)),
  })
  .map(
    ({
      promptTokens,
      pinnedTo,
      outputTokens,
      outputLimitTokens,
      jurisdictions,
      sends: sendList,
      learnt: taught,
      ...rest
    }) => ({
      ...rest,
      query: { promptTokens, pinnedTo, outputTokens, outputLimitTokens } satisfies Partial<Query>,
      pool: { jurisdictions },
      world: { sends: sendList, learnt: taught },
    }),
  );
