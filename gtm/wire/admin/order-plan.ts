/** What an order about a region would change, worked out by the code that decides for real, without changing anything. */
import { setImmediate as nextTick } from "node:timers/promises";
import { z } from "@hono/zod-openapi";
import type { AdminState } from "#gtm/domain/region.ts";
import type { World } from "#gtm/domain/world.ts";
import type { RegionId } from "#shared/ids.ts";
import { homeConversations } from "./home-conversations.ts";
import type { Moment } from "./models-served.ts";
import { type KnownConversation, type NextTurns, NO_TURNS, nextTurnsIn, sumOf } from "./next-turns.ts";
import type { AdminPorts } from "./ports.ts";
import type { Action } from "./region-action.ts";
import { modelChanges, violationsOf } from "./safety-rules.ts";

const ModelInPool = z.looseObject({ pool: z.string(), model: z.string() });

export const OrderPlan = z
  .looseObject({
    region: z.string(),
    from: z.string(),
    to: z.string(),
    /** Whether the order would change anything at all. */
    changes: z.boolean(),
    /** null: would stand until taken back. */
    expiresAt: z.string().nullable(),
    expiresInMs: z.number().nullable(),
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
    resolvers: z.looseObject({
      /** How long resolvers may go on giving the region to clients, in seconds. */
      lingerSeconds: z.number(),
      note: z.string(),
    }),
    /** Send it as If-Match, and the order is refused when somebody else was faster. */
    etag: z.string(),
  })
  .openapi("OrderPlan");
export type OrderPlan = z.infer<typeof OrderPlan>;

export type OrderContext = {
  readonly region: RegionId;
  readonly from: AdminState;
  readonly action: Action;
  readonly expiresAtMs: number | null;
  readonly etag: string;
  readonly at: Moment;
};

/** @throws {OperationalError} GTM_STORE_UNREACHABLE: without the store nobody knows whose home the region is */
export const planOrder = async (ports: AdminPorts, order: OrderContext): Promise<OrderPlan> => {
  const { region, from, action, at } = order;
  const { policy } = ports;
  const now = ports.steering.world();
  const then = withAdmin(now, region, action.to);
  const { known, located, isComplete } = await homeConversations(ports, region);
  const before = await tally(now, known, ports, at);
  const after = await tally(then, known, ports, at);
  const isPinned = ({ conversation }: KnownConversation): boolean =>
    at.nowMs - conversation.lastTurnAtMs <= policy.pinMs;
  const pinned = known.filter(isPinned).length;
  const models = modelChanges(now, then, ports, at);
  return {
    region,
    from,
    to: action.to,
    changes: from !== action.to,
    expiresAt: order.expiresAtMs === null ? null : new Date(order.expiresAtMs).toISOString(),
    expiresInMs: action.forMs,
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
    resolvers: { lingerSeconds: policy.ttlSteadySeconds, note: RESOLVERS[action.to] },
    etag: order.etag,
  };
};

/** The world as it would be once everybody has heard of the order. */
export const withAdmin = (world: World, region: RegionId, admin: AdminState): World => ({
  ...world,
  regions: world.regions.map((one) => (one.id === region ? { ...one, admin } : one)),
});

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

const sideBySide = (before: NextTurns, after: NextTurns): OrderPlan["nextTurns"] =>
  [...new Set([...before.byRegion.keys(), ...after.byRegion.keys()])].sort().map((region) => ({
    region: region === "" ? null : region,
    before: before.byRegion.get(region) ?? 0,
    after: after.byRegion.get(region) ?? 0,
  }));

const LEAVES =
  "Pool names cannot tell old clients from new: all of them get other regions, as resolvers' answers expire.";

const RESOLVERS: Readonly<Record<AdminState, string>> = {
  active: "Resolvers give the region again as their answers expire.",
  "forced-up": "Resolvers give the region again as their answers expire.",
  "drain-new": `${LEAVES} Names of conversations at home here keep pointing here.`,
  "drain-all": `${LEAVES} Names of conversations follow.`,
  down: `${LEAVES} Names of conversations follow.`,
};
