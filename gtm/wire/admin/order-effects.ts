/** What an order would do to conversations and models: both worlds decided by the code that decides for real. */
import { setImmediate as nextTick } from "node:timers/promises";
import { z } from "@hono/zod-openapi";
import type { World } from "#gtm/domain/world.ts";
import type { HomeConversations } from "./home-conversations.ts";
import type { Moment } from "./models-served.ts";
import { type KnownConversation, type NextTurns, NO_TURNS, nextTurnsIn, sumOf } from "./next-turns.ts";
import type { AdminPorts } from "./ports.ts";
import { modelChanges, violationsOf } from "./safety-rules.ts";

const ModelInPool = z.looseObject({ pool: z.string(), model: z.string() });

/** Parts of every plan. */
export const ORDER_EFFECTS = {
  conversations: z.looseObject({
    /** Whose home it is, as far as was looked at. */
    home: z.int(),
    /** False: there are more than were looked at. */
    isComplete: z.boolean(),
    /** With a turn within the pin's time; the others are idle. */
    pinned: z.int(),
    idle: z.int(),
    /** Whose client's network is known from a recent decision; for the others every region is equally far. */
    located: z.int(),
  }),
  /** Where the next turns of those conversations go, now and under the order; region null: nowhere. */
  nextTurns: z.array(z.looseObject({ region: z.string().nullable(), before: z.int(), after: z.int() })),
  /** Context those next turns would compute again, now and under the order. */
  recompute: z.looseObject({
    beforeTokens: z.number(),
    afterTokens: z.number(),
    /** Prefill time, summed over the conversations. */
    beforeMs: z.number(),
    afterMs: z.number(),
  }),
  modelsWithoutRegion: z.array(ModelInPool),
  /** Models that some region would have to load first. */
  modelsToLoad: z.array(ModelInPool.extend({ region: z.string(), coldStartMs: z.number() })),
  /** Rules that forbid it; `override_rule` passes one. */
  violations: z.array(z.looseObject({ rule: z.string(), detail: z.string() })),
};
const OrderEffects = z.looseObject(ORDER_EFFECTS);
export type OrderEffects = z.infer<typeof OrderEffects>;

/** As it is, and as it would be once everybody has heard of the order. */
type Worlds = { readonly now: World; readonly ordered: World };

/** @param home the conversations that the order may concern */
export const effectsOf = async (
  ports: AdminPorts,
  { now, ordered }: Worlds,
  { known, located, isComplete }: HomeConversations,
  at: Moment,
): Promise<OrderEffects> => {
  const before = await tally(now, known, ports, at);
  const after = await tally(ordered, known, ports, at);
  const isPinned = ({ conversation }: KnownConversation): boolean =>
    at.nowMs - conversation.lastTurnAtMs <= ports.policy.pinMs;
  const pinned = known.filter(isPinned).length;
  const models = modelChanges(now, ordered, ports, at);
  return {
    conversations: { home: known.length, isComplete, pinned, idle: known.length - pinned, located },
    nextTurns: sideBySide(before, after),
    recompute: {
      beforeTokens: Math.round(before.recomputeTokens),
      afterTokens: Math.round(after.recomputeTokens),
      beforeMs: Math.round(before.recomputeMs),
      afterMs: Math.round(after.recomputeMs),
    },
    modelsWithoutRegion: models.lost.map(({ pool, model }) => ({ pool, model })),
    modelsToLoad: models.toLoad,
    violations: [...violationsOf(models)],
  };
};

/** Decisions for queries must not wait behind a preview, so it pauses this often. */
const CHUNK = 100;

const tally = async (
  world: World,
  known: readonly KnownConversation[],
  ports: AdminPorts,
  at: Moment,
): Promise<NextTurns> => {
  let sum = NO_TURNS;
  for (let i = 0; i < known.length; i += CHUNK) {
    sum = sumOf(sum, nextTurnsIn(world, known.slice(i, i + CHUNK), ports.policy, at));
    await nextTick();
  }
  return sum;
};

const sideBySide = (before: NextTurns, after: NextTurns): OrderEffects["nextTurns"] =>
  [...new Set([...before.byRegion.keys(), ...after.byRegion.keys()])].sort().map((region) => ({
    region: region === "" ? null : region,
    before: before.byRegion.get(region) ?? 0,
    after: after.byRegion.get(region) ?? 0,
  }));
