/** How full regions would be once the conversations that an order displaces have arrived: their part of what is in use goes with them. */
import { z } from "@hono/zod-openapi";
import { type Conversation, homeOf } from "#gtm/domain/conversation.ts";
import type { Placement } from "#gtm/domain/placement.ts";
import type { World } from "#gtm/domain/world.ts";
import type { ModelId } from "#shared/ids.ts";

const Use = z.looseObject({ now: z.number(), after: z.number() }).nullable();

export const RegionUse = z
  .looseObject({
    region: z.string(),
    model: z.string(),
    /** Pinned conversations whose next turn comes here by the order. */
    arriving: z.int(),
    /**
     * Of the KV memory, what running requests hold; after: with the part of it that is in use where the conversations leave, by how
     * many of those there they are. null: it is not reported here or there.
     */
    kvUsedFraction: Use,
    /** Of the prefill rate of all replicas, what the last minute used; after: the same way. Over 1: queues grow. */
    prefillUsedFraction: Use,
  })
  .openapi("RegionUse");
export type RegionUse = z.infer<typeof RegionUse>;

/** A pinned conversation and where its next turn goes, as it is and under the order; "": nowhere. */
export type Move = { readonly model: ModelId; readonly before: string; readonly after: string };

/** How many conversations of a model are pinned to a region. */
export type PinnedCount = (model: ModelId, region: string) => number;

export const pinnedAtHome = (pinned: readonly { readonly conversation: Conversation }[]): PinnedCount => {
  const counts = counted(pinned.map(({ conversation }) => [conversation.model, homeOf(conversation) ?? ""]));
  return (model, region) => counts.get(JSON.stringify([model, region])) ?? 0;
};

/**
 * @param moves those that stay may be among them
 * @param pinnedTo of whatever traffic: who leaves is a part of them
 * @returns without regions that nobody arrives in
 */
export const usesAfter = (world: World, moves: readonly Move[], pinnedTo: PinnedCount): readonly RegionUse[] => {
  const flows = flowsOf(moves, pinnedTo);
  const targets = new Set(flows.map(({ model, to }) => JSON.stringify([to, model])));
  return [...targets].sort().map((key) => {
    const [region, model]: [string, ModelId] = JSON.parse(key);
    return useOf(
      { region, model },
      flows.filter((flow) => flow.to === region && flow.model === model),
      world,
    );
  });
};

type Flow = {
  readonly model: ModelId;
  readonly from: string;
  readonly to: string;
  readonly conversations: number;
  /** Of those that are where it comes from. */
  readonly fraction: number;
};

const flowsOf = (moves: readonly Move[], pinnedTo: PinnedCount): readonly Flow[] => {
  const leaving = moves.filter(({ before, after }) => before !== after && before !== "" && after !== "");
  return [...counted(leaving.map(({ model, before, after }) => [model, before, after]))].map(([key, conversations]) => {
    const [model, from, to]: [ModelId, string, string] = JSON.parse(key);
    // What is known of homes is a moment older than what is decided.
    const fraction = conversations / Math.max(conversations, pinnedTo(model, from));
    return { model, from, to, conversations, fraction };
  });
};

const counted = (keys: readonly (readonly string[])[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const key of keys.map((one) => JSON.stringify(one))) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
};

const useOf = (
  at: { readonly region: string; readonly model: ModelId },
  flows: readonly Flow[],
  world: World,
): RegionUse => {
  const placementIn = (region: string): Placement | null =>
    world.regions.find(({ id }) => id === region)?.placements.get(at.model) ?? null;
  const here = placementIn(at.region);
  const withArrivals = (loadOf: (placement: Placement | null) => Load): RegionUse["kvUsedFraction"] => {
    const { used, capacity } = loadOf(here);
    if (used === null || capacity === null) return null;
    let arriving = 0;
    for (const { from, fraction } of flows) {
      const there = loadOf(placementIn(from)).used;
      if (there === null) return null;
      arriving += there * fraction;
    }
    return { now: rounded(used / capacity), after: rounded((used + arriving) / capacity) };
  };
  return {
    ...at,
    arriving: flows.reduce((sum, { conversations }) => sum + conversations, 0),
    kvUsedFraction: withArrivals(kvLoad),
    prefillUsedFraction: withArrivals(prefillLoad),
  };
};

/** In tokens, and in tokens per second; null: it is not known. */
type Load = { readonly used: number | null; readonly capacity: number | null };

const NOTHING_KNOWN: Load = { used: null, capacity: null };

const kvLoad = (placement: Placement | null): Load => {
  if (placement === null) return NOTHING_KNOWN;
  const { kvCapacityTokens: capacity, kvCacheUsedFraction } = placement;
  if (capacity === null || capacity <= 0 || kvCacheUsedFraction === null) return NOTHING_KNOWN;
  return { used: kvCacheUsedFraction * capacity, capacity };
};

const prefillLoad = (placement: Placement | null): Load => {
  if (placement === null || placement.prefillTokensPerSecond === null) return NOTHING_KNOWN;
  const capacity = placement.prefillTokensPerSecond * placement.replicas.length;
  return capacity > 0
    ? { used: Math.max(0, capacity - placement.sparePrefillTokensPerSecond), capacity }
    : NOTHING_KNOWN;
};

const rounded = (fraction: number): number => Math.round(fraction * 1_000) / 1_000;
