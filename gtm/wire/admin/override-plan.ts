/** What giving, changing or cancelling an override would do: decided by the code that decides for real. */
import type { World } from "#gtm/domain/world.ts";
import type { Clock } from "#shared/clock.ts";
import type { Logger } from "#shared/logger.ts";
import type { DrainScheduleRecord } from "#shared/operation-record.ts";
import type { Override } from "#shared/records.ts";
import { type Pacing, pacedDrainOf, storedSchedule } from "./drain-pacing.ts";
import { concernedBy, regionScope } from "./drain-scope.ts";
import { type HomeConversations, homeConversations, type OnUnread, orNobody } from "./home-conversations.ts";
import type { Moment } from "./models-served.ts";
import { decideBoth, effectsOf, leavingOf } from "./order-effects.ts";
import { resolversOf } from "./order-plan.ts";
import { askedBy } from "./override-asked.ts";
import type { OverridePlan } from "./override-body.ts";
import { overrideView } from "./override-view.ts";
import { regionsOf, withOverride, withoutOverride } from "./override-worlds.ts";
import { planIdOf, requirePlan } from "./plan-id.ts";
import type { AdminPorts } from "./ports.ts";
import { passRules, type Rule } from "./safety-rules.ts";

export type Parts = { readonly ports: AdminPorts; readonly clock: Clock; readonly log: Logger };

/** What somebody wants of an override. */
export type Wanted = {
  /** As it would stand; of one that is cancelled as it stands. */
  readonly override: Override;
  readonly deed: "give" | "change" | "cancel";
  /** As it was asked: what a plan is of. */
  readonly wish: unknown;
  readonly actor: string;
  /** null: each conversation that leaves does so at its next turn. */
  readonly pacing: Pacing;
  /** Nothing goes elsewhere by it, so that no rule stands against it: a longer stay, or another comment. */
  readonly takesNothing: boolean;
  /** The plan that it must still be as; null: as things are. */
  readonly planId: string | null;
};

export type PlannedOverride = {
  readonly plan: OverridePlan;
  readonly home: HomeConversations;
  readonly at: Moment;
  readonly schedule: DrainScheduleRecord | null;
};

/**
 * @param onUnread where the store does not tell whom it concerns: it goes on as if it were nobody. null, or where conversations
 * leave by and by: it rejects
 * @throws {ProblemError} 412 where the plan no longer holds
 */
export const planned = async (parts: Parts, wanted: Wanted, onUnread: OnUnread | null): Promise<PlannedOverride> => {
  const { ports, clock } = parts;
  const { override, pacing } = wanted;
  const now = ports.steering.world();
  const basis = { wish: wanted.wish, orders: ports.orders.current(), regions: now.regions };
  requirePlan(wanted.planId, basis, clock.epochMs());
  const at = { nowMs: clock.monotonicMs(), id: ports.newDecisionId() };
  const worlds = { now, ordered: worldAfter(now, wanted) };
  const read = (reading: Promise<HomeConversations>) => orNobody(reading, pacing === null ? onUnread : null);
  // Whom a drain sent elsewhere is at home there by now: what taking it back does concerns them all.
  const isLeaving = isDraining(override) && wanted.deed !== "cancel";
  const home = await read(isLeaving ? concernedBy(ports, override) : homeConversations(ports, null));
  const { pool, model, tenant } = override;
  const isPart = isLeaving && [pool, model, tenant].some((glob) => glob !== "*");
  const all = isPart ? await read(concernedBy(ports, regionScope(override.region))) : home;
  const decided = await decideBoth(worlds, home.known, ports, at);
  const regions = regionsOf(now, override);
  const paced =
    pacing === null
      ? null
      : pacedDrainOf(pacing, leavingOf(decided), new Set(regions), {
          ...{ ordered: worlds.ordered, policy: ports.policy, startsAtMs: override.orderedAtMs },
        });
  const asked = {
    ...askedBy(override, now),
    ...{ actor: wanted.actor, epochMs: clock.epochMs(), takesNothing: wanted.takesNothing },
  };
  const plan = {
    deed: wanted.deed,
    override: overrideView(override, clock.epochMs(), null),
    regions,
    ...effectsOf(ports, worlds, { asked, home, all, decided, overMs: paced?.plan.endsInMs ?? null }, at),
    resolvers: resolversOf(whatResolversHearOf(wanted), ports.policy),
    paced: paced?.plan ?? null,
    planId: planIdOf(basis, clock.epochMs()),
  };
  return { plan, home, at, schedule: paced === null ? null : storedSchedule(paced.schedule) };
};

/** By the plan that a dry run shows. @throws {ProblemError} 409 where a safety rule forbids it, 412 where the plan no longer holds */
export const allowed = async (parts: Parts, wanted: Wanted, passed: readonly Rule[]): Promise<PlannedOverride> => {
  const { ports, log } = parts;
  const { id } = wanted.override;
  const found = await planned(parts, wanted, (why) => {
    ports.safety.unweighed();
    log.warn("order.unweighed", { override: id, why });
  });
  for (const rule of passRules(found.plan.violations, passed, ports.safety)) {
    log.warn("override.rule-overridden", { override: id, rule, actor: wanted.actor });
  }
  return found;
};

export const isDraining = ({ kind }: Override): boolean => kind === "drain-new" || kind === "drain-all";

const worldAfter = (now: World, { deed, override }: Wanted): World =>
  deed === "cancel" ? withoutOverride(now, override.id) : withOverride(now, override);

const whatResolversHearOf = ({ deed, override }: Wanted): Parameters<typeof resolversOf>[0] => {
  if (deed === "cancel") return "active";
  return override.kind === "drain-new" ? "drain-new" : "drain-all";
};
