/** An override from the request to the store: checked, previewed, placed, changed, cancelled. */
import { ruleOf } from "#gtm/domain/override-rule.ts";
import type { World } from "#gtm/domain/world.ts";
import { matchesGlob } from "#gtm/steering/overrides.ts";
import type { Clock } from "#shared/clock.ts";
import type { Logger } from "#shared/logger.ts";
import type { OrdersRecord, Override } from "#shared/records.ts";
import { pacedDrainOf, pacingOf, storedSchedule } from "./drain-pacing.ts";
import { concernedBy, regionScope } from "./drain-scope.ts";
import { type HomeConversations, homeConversations, type OnUnread, orNobody } from "./home-conversations.ts";
import type { Moment } from "./models-served.ts";
import { operationOf } from "./operation-start.ts";
import { decideBoth, effectsOf, leavingOf } from "./order-effects.ts";
import { resolversOf } from "./order-plan.ts";
import { askedBy } from "./override-asked.ts";
import type { OverrideBody, OverridePlan } from "./override-body.ts";
import { overrideEtag, overrideNamed, overrideView } from "./override-view.ts";
import { planIdOf, requirePlan } from "./plan-id.ts";
import type { AdminPorts } from "./ports.ts";
import { refuse } from "./problem.ts";
import { passRules, type Rule } from "./safety-rules.ts";

export type Parts = { readonly ports: AdminPorts; readonly clock: Clock; readonly log: Logger };

export const overrideOf = ({ ports, clock }: Parts, body: OverrideBody, actor: string): Override => {
  const { kind, share, region, pool, model, tenant, comment, for: forMs } = body;
  const nowMs = Math.floor(clock.epochMs());
  const id = ports.newDecisionId();
  mustMatch(ports, body);
  return {
    ...{ id, kind, region, pool, model, tenant, comment, actor },
    ...(share === undefined ? {} : { share }),
    orderedAtMs: nowMs,
    expiresAtMs: nowMs + forMs,
  };
};

/** An override before it is given: with the plan that it must still be as (null: as things are). */
export type Wanted = { readonly override: Override; readonly body: OverrideBody; readonly planId: string | null };

export const planOverride = async (parts: Parts, wanted: Wanted): Promise<OverridePlan> =>
  (await planned(parts, wanted, null)).plan;

const planned = async (parts: Parts, { override, body, planId }: Wanted, onUnread: OnUnread | null) => {
  const { ports, clock } = parts;
  const now = ports.steering.world();
  const basis = { wish: body, orders: ports.orders.current(), regions: now.regions };
  requirePlan(planId, basis, clock.epochMs());
  const at = momentOf(parts);
  const worlds = { now, ordered: withOverride(now, override) };
  const pacing = pacingOf(body);
  const read = (reading: Promise<HomeConversations>) => orNobody(reading, pacing === null ? onUnread : null);
  const home = await read(isDraining(override) ? concernedBy(ports, override) : homeConversations(ports, null));
  const { pool, model, tenant } = override;
  const isPart = isDraining(override) && [pool, model, tenant].some((glob) => glob !== "*");
  const all = isPart ? await read(concernedBy(ports, regionScope(override.region))) : home;
  const decided = await decideBoth(worlds, home.known, ports, at);
  const regions = regionsOf(now, override);
  const paced =
    pacing === null
      ? null
      : pacedDrainOf(pacing, leavingOf(decided), new Set(regions), {
          ...{ ordered: worlds.ordered, policy: ports.policy, startsAtMs: override.orderedAtMs },
        });
  const plan = {
    override: overrideView(override, clock.epochMs(), null),
    regions,
    ...effectsOf(
      ports,
      worlds,
      { asked: askedBy(override, now), home, all, decided, overMs: paced?.plan.endsInMs ?? null },
      at,
    ),
    resolvers: resolversOf(override.kind === "drain-new" ? "drain-new" : "drain-all", ports.policy),
    paced: paced?.plan ?? null,
    planId: planIdOf(basis, clock.epochMs()),
  };
  return { plan, home, at, schedule: paced === null ? null : storedSchedule(paced.schedule) };
};

/**
 * By the plan that a dry run shows.
 *
 * @throws {ProblemError} 409 where a safety rule forbids it, 412 where the plan no longer holds
 */
export const placeOverride = async (parts: Parts, wanted: Wanted, passed: readonly Rule[]): Promise<OrdersRecord> => {
  const { ports, log } = parts;
  const { override, body } = wanted;
  const { plan, home, at, schedule } = await planned(parts, wanted, (why) => {
    ports.safety.unweighed();
    log.warn("order.unweighed", { override: override.id, why });
  });
  for (const rule of passRules(plan.violations, passed, ports.safety)) {
    log.warn("override.rule-overridden", { override: override.id, rule, actor: override.actor });
  }
  if (!isDraining(override)) return ports.orders.override(override, null);
  const { id, kind, region, pool, model, tenant, comment, actor } = override;
  const start = {
    ...{
      id,
      mode: kind === "drain-new" ? ("drain-new" as const) : ("drain-all" as const),
      override: id,
      scope: { region, pool, model, tenant },
    },
    ...{ comment, actor, startedAtMs: override.orderedAtMs, overMs: pacingOf(body)?.overMs ?? null },
  };
  const operation = operationOf(start, home, { nowMs: at.nowMs, pinMs: ports.policy.pinMs });
  return ports.orders.override({ ...override, operation: id, ...(schedule === null ? {} : { schedule }) }, operation);
};

const isDraining = ({ kind }: Override): boolean => kind === "drain-new" || kind === "drain-all";

/** @throws {ProblemError} 404 where it stands no more, 412 where somebody changed it */
export const standingOverride = ({ ports }: Parts, id: string, ifMatch: string | null): Override => {
  const override = overrideNamed(ports.orders.current(), id);
  if (override === null) throw noOverride(id);
  if (ifMatch === null || ifMatch === "*" || ifMatch === overrideEtag(override)) return override;
  throw refuse("precondition-failed", `${override.actor} changed override ${id} meanwhile.`);
};

/** @throws {ProblemError} 400 where a share is said of what is none */
export const mustBeShare = ({ id, kind }: Override, share: number | null): void => {
  if (share === null || kind === "share") return;
  const message = `override ${id} is of the kind ${kind}, which has no share`;
  throw refuse("malformed-request", `body.share: ${message}`, { faults: [{ at: "body.share", message }] });
};

export const noOverride = (id: string) =>
  refuse("not-found", `No override ${id} stands: it was never given, was cancelled, or has expired.`);

/** An order that concerns nothing is a slip of the pen. */
const mustMatch = ({ steering, pools, models }: AdminPorts, { region, pool, model }: OverrideBody): void => {
  const { regions } = steering.world();
  const none = (what: string, asked: string, there: readonly string[]) =>
    refuse("malformed-request", `${what}: ${asked} matches none of ${there.join(", ")}`, {
      faults: [{ at: `body.${what}`, message: `${asked} matches none of ${there.join(", ")}` }],
    });
  const regionIds = regions.map(({ id }) => id);
  const poolNames = pools.map(({ name }) => name);
  const modelIds = models.map(({ id }) => id);
  if (!regionIds.some((id) => matchesGlob(region, id))) throw none("region", region, regionIds);
  if (!poolNames.some((name) => matchesGlob(pool, name))) throw none("pool", pool, poolNames);
  if (!modelIds.some((id) => matchesGlob(model, id))) throw none("model", model, modelIds);
};

const regionsOf = (world: World, { region }: Override): string[] =>
  world.regions.filter(({ id }) => matchesGlob(region, id)).map(({ id }) => id);

/** The world as it would be once everybody has heard of it. */
const withOverride = (world: World, override: Override): World => {
  const others = world.overrides.filter(({ id }) => id !== override.id);
  const rule = ruleOf(override);
  return { ...world, overrides: rule === null ? others : [...others, rule] };
};

const momentOf = ({ ports, clock }: Parts): Moment => ({ nowMs: clock.monotonicMs(), id: ports.newDecisionId() });
