/** What an order does to the conversations whose next turn goes elsewhere by it, and to the regions that they go to. */
import { z } from "@hono/zod-openapi";
import type { World } from "#gtm/domain/world.ts";
import type { KnownConversation } from "./known-conversation.ts";
import { type NextTurn, UNSERVED } from "./next-turns.ts";

export const Displaced = z
  .looseObject({
    conversations: z.int(),
    /** Context that they hold where they are at home. */
    contextTokens: z.number(),
    recomputeTokens: z.number(),
    /** Of one replica, however many GPUs it has: prefill that is done a second time. */
    replicaSeconds: z.number(),
    /** 95 of 100 next turns have their first token within this, as it is and under the order; null: none is displaced. */
    ttftP95BeforeMs: z.number().nullable(),
    ttftP95AfterMs: z.number().nullable(),
    /** Over how long they leave: by the schedule, else within the pin's time. */
    overMs: z.number(),
  })
  .openapi("Displaced");

export const Target = z
  .looseObject({
    region: z.string(),
    /** Conversations that come. */
    conversations: z.int(),
    contextTokens: z.number(),
    recomputeTokens: z.number(),
    /** Of the models that come, tokens per second; after: while they come. */
    sparePrefillTokensPerSecond: z.number(),
    sparePrefillAfterTokensPerSecond: z.number(),
    /** The fullest of these models; after: once all have come, over 1 where caches evict. null: it is not reported. */
    kvCacheUsedFraction: z.number().nullable(),
    kvCacheUsedAfterFraction: z.number().nullable(),
  })
  .openapi("DrainTarget");
export type Target = z.infer<typeof Target>;

/** A conversation with its next turn as it is and under the order. */
export type Decided = { readonly known: KnownConversation; readonly before: NextTurn; readonly after: NextTurn };

export const isDisplaced = ({ before, after }: Decided): boolean => before.region !== after.region;

/** @param displaced only such */
export const displacedOf = (displaced: readonly Decided[], overMs: number): z.infer<typeof Displaced> => ({
  conversations: displaced.length,
  contextTokens: sum(displaced, ({ after }) => after.contextTokens),
  recomputeTokens: Math.round(sum(displaced, ({ after }) => after.recomputeTokens)),
  replicaSeconds: Math.round(sum(displaced, ({ after }) => after.recomputeMs)) / 1_000,
  ttftP95BeforeMs: p95(displaced.map(({ before }) => before.ttftMs)),
  ttftP95AfterMs: p95(displaced.map(({ after }) => after.ttftMs)),
  overMs: Math.round(overMs),
});

export const targetsOf = (displaced: readonly Decided[], world: World, overMs: number): Target[] =>
  [...new Set(displaced.map(({ after }) => after.region))]
    .filter((region) => region !== UNSERVED)
    .sort()
    .map((region) =>
      targetOf(
        region,
        displaced.filter(({ after }) => after.region === region),
        world,
        overMs,
      ),
    );

const targetOf = (region: string, coming: readonly Decided[], world: World, overMs: number): Target => {
  const placements = world.regions.find(({ id }) => id === region)?.placements;
  const models = [...new Set(coming.map(({ known }) => known.conversation.model))];
  const found = models.flatMap((model) => placements?.get(model) ?? []);
  const spare = found.reduce((total, one) => total + one.sparePrefillTokensPerSecond, 0);
  const recomputeTokens = sum(coming, ({ after }) => after.recomputeTokens);
  const used = found.map(({ model, kvCacheUsedFraction, kvCapacityTokens }) => {
    if (kvCacheUsedFraction === null || kvCapacityTokens === null || kvCapacityTokens <= 0) return null;
    const tokens = sum(
      coming.filter(({ known }) => known.conversation.model === model),
      ({ after }) => after.contextTokens,
    );
    return { before: kvCacheUsedFraction, after: kvCacheUsedFraction + tokens / kvCapacityTokens };
  });
  return {
    region,
    conversations: coming.length,
    contextTokens: sum(coming, ({ after }) => after.contextTokens),
    recomputeTokens: Math.round(recomputeTokens),
    sparePrefillTokensPerSecond: Math.round(spare),
    sparePrefillAfterTokensPerSecond: Math.round(Math.max(0, spare - recomputeTokens / Math.max(1, overMs / 1_000))),
    kvCacheUsedFraction: greatest(used.map((one) => one?.before ?? null)),
    kvCacheUsedAfterFraction: greatest(used.map((one) => one?.after ?? null)),
  };
};

const sum = (some: readonly Decided[], of: (one: Decided) => number): number =>
  some.reduce((total, one) => total + of(one), 0);

const greatest = (values: readonly (number | null)[]): number | null => {
  const known = values.filter((one) => one !== null);
  return known.length === 0 ? null : Math.round(Math.max(...known) * 1_000) / 1_000;
};

/** Nearest rank; those that no region serves have none. */
const p95 = (values: readonly (number | null)[]): number | null => {
  const known = values.filter((one) => one !== null).sort((a, b) => a - b);
  const at = known[Math.ceil(known.length * 0.95) - 1];
  return at === undefined ? null : Math.round(at);
};
