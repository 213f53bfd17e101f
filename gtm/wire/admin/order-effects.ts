/** What an order would do to conversations and models: both worlds decided by the code that decides for real. */
import { setImmediate as nextTick } from "node:timers/promises";
import { z } from "@hono/zod-openapi";
import type { World } from "#gtm/domain/world.ts";
import { type ChangeTarget, lateChangeOf } from "./cooldown.ts";
import { type Decided, Displaced, displacedOf, isDisplaced, Target, targetsOf } from "./displaced.ts";
import type { Leaving } from "./drain-pacing.ts";
import type { HomeConversations } from "./home-conversations.ts";
import type { KnownConversation } from "./known-conversation.ts";
import { modelChanges, tenantsOf } from "./model-changes.ts";
import type { Moment } from "./models-served.ts";
import { type NextTurns, nextTurnsIn, sumOf } from "./next-turns.ts";
import type { AdminPorts } from "./ports.ts";
import { Violation, violationsOf } from "./safety-rules.ts";
import { pinnedAtHome, RegionUse, usesAfter } from "./use-after.ts";

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
    /** Of the pinned ones, those whose last turn is so recent that their connection may be open. */
    hot: z.int(),
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
  displaced: Displaced,
  /** Where those go, and what is left there. */
  targets: z.array(Target),
  modelsWithoutRegion: z.array(ModelInPool),
  /** Models that some region would have to load first. */
  modelsToLoad: z.array(ModelInPool.extend({ region: z.string(), coldStartMs: z.number() })),
  /** How full the regions are that pinned conversations go to, and how full they would be with them. */
  uses: z.array(RegionUse),
  /** Rules that forbid it; `override_rule` passes those that it names. */
  violations: z.array(Violation),
};
const OrderEffects = z.looseObject(ORDER_EFFECTS);
export type OrderEffects = z.infer<typeof OrderEffects>;

/** As it is, and as it would be once everybody has heard of the order. */
export type Worlds = { readonly now: World; readonly ordered: World };

/** Decisions for queries must not wait behind a preview, so it pauses this often. */
const CHUNK = 100;

/** The next turn of each, in both worlds. */
export const decideBoth = async (
  { now, ordered }: Worlds,
  known: readonly KnownConversation[],
  { policy }: Pick<AdminPorts, "policy">,
  at: Moment,
): Promise<readonly Decided[]> => {
  const decided: Decided[] = [];
  for (let i = 0; i < known.length; i += CHUNK) {
    const some = known.slice(i, i + CHUNK);
    const before = nextTurnsIn(now, some, policy, at);
    const after = nextTurnsIn(ordered, some, policy, at);
    for (const [k, one] of some.entries()) {
      const [was, will] = [before[k], after[k]];
      if (was !== undefined && will !== undefined) decided.push({ known: one, before: was, after: will });
    }
    await nextTick();
  }
  return decided;
};

/** What is asked, as far as safety rules look at it. */
export type Asked = {
  readonly target: ChangeTarget;
  readonly actor: string;
  /** By the wall clock. */
  readonly epochMs: number;
  /** It takes out what serves nothing already: no rule stands against that. */
  readonly takesNothing: boolean;
};

export type Weighed = {
  readonly asked: Asked;
  readonly home: HomeConversations;
  /** Everybody at home where those are, of whatever traffic. */
  readonly all: HomeConversations;
  /** Of these conversations. */
  readonly decided: readonly Decided[];
  /** Over how long they leave; null: as their next turns come. */
  readonly overMs: number | null;
};

export const effectsOf = (
  ports: AdminPorts,
  { now, ordered }: Worlds,
  { asked, home: { known, located, isComplete }, all, decided, overMs }: Weighed,
  at: Moment,
): OrderEffects => {
  const before = sumOf(decided.map((one) => one.before));
  const after = sumOf(decided.map((one) => one.after));
  const isWithin =
    (ms: number) =>
    ({ conversation }: KnownConversation): boolean =>
      at.nowMs - conversation.lastTurnAtMs <= ms;
  const isPinned = isWithin(ports.policy.pinMs);
  const pinned = known.filter(isPinned).length;
  const displaced = decided.filter(isDisplaced);
  // Whoever has a next turn has it within the pin's time, or is placed anew then.
  const leavingMs = overMs ?? ports.policy.pinMs;
  const models = modelChanges(now, ordered, ports, { ...at, tenants: tenantsOf(asked.target.tenant) });
  const leaving = displaced.filter((one) => isPinned(one.known));
  const uses = usesAfter(now, leaving.map(moveOf), pinnedAtHome(all.known.filter(isPinned)));
  const limits = ports.safety.limits();
  const late = lateChangeOf(ports.orders.record(), asked, { nowMs: asked.epochMs, cooldownMs: limits.cooldownMs });
  return {
    conversations: {
      ...{ home: known.length, isComplete, pinned, idle: known.length - pinned, located },
      hot: known.filter(isWithin(ports.policy.connectionIdleMs)).length,
    },
    nextTurns: sideBySide(before, after),
    recompute: {
      beforeTokens: Math.round(before.recomputeTokens),
      afterTokens: Math.round(after.recomputeTokens),
      beforeMs: Math.round(before.recomputeMs),
      afterMs: Math.round(after.recomputeMs),
    },
    displaced: displacedOf(displaced, leavingMs),
    targets: targetsOf(displaced, ordered, leavingMs),
    modelsWithoutRegion: models.lost.map(({ pool, model }) => ({ pool, model })),
    modelsToLoad: models.toLoad,
    uses: [...uses],
    violations: asked.takesNothing ? [] : [...violationsOf({ models, uses, late }, limits)],
  };
};

/** The conversations that would go elsewhere, each with its next turn there. */
export const leavingOf = (decided: readonly Decided[]): readonly Leaving[] =>
  decided.filter(isDisplaced).map(({ known, after }) => ({ known, next: after }));

const moveOf = ({ known, before, after }: Decided) => ({
  ...{ model: known.conversation.model, before: before.region, after: after.region },
});

const sideBySide = (before: NextTurns, after: NextTurns): OrderEffects["nextTurns"] =>
  [...new Set([...before.byRegion.keys(), ...after.byRegion.keys()])].sort().map((region) => ({
    region: region === "" ? null : region,
    before: before.byRegion.get(region) ?? 0,
    after: after.byRegion.get(region) ?? 0,
  }));
