/** An override from the request to the store: made, previewed, placed. */
import type { OrdersRecord, Override } from "#shared/records.ts";
import { pacingOf } from "./drain-pacing.ts";
import { operationOf } from "./operation-start.ts";
import type { OverrideBody, OverridePlan } from "./override-body.ts";
import { allowed, isDraining, type Parts, planned, type Wanted } from "./override-plan.ts";
import { mustMatch } from "./override-worlds.ts";
import type { Rule } from "./safety-rules.ts";

/** @throws {ProblemError} 400 where it concerns nothing that there is */
export const overrideOf = ({ ports, clock }: Parts, body: OverrideBody, actor: string): Override => {
  const { kind, share, region, pool, model, tenant, comment, for: forMs } = body;
  const nowMs = Math.floor(clock.epochMs());
  const id = ports.newDecisionId();
  mustMatch(ports, body, "body");
  return {
    ...{ id, kind, region, pool, model, tenant, comment, actor },
    ...(share === undefined ? {} : { share }),
    orderedAtMs: nowMs,
    expiresAtMs: nowMs + forMs,
  };
};

/** An override before it is given: with the plan that it must still be as (null: as things are). */
export type Given = { readonly override: Override; readonly body: OverrideBody; readonly planId: string | null };

const wantedOf = ({ override, body, planId }: Given): Wanted => ({
  ...{ override, deed: "give", wish: body, actor: override.actor, planId },
  ...{ pacing: pacingOf(body), takesNothing: false },
});

export const planOverride = async (parts: Parts, given: Given): Promise<OverridePlan> =>
  (await planned(parts, wantedOf(given), null)).plan;

/**
 * By the plan that a dry run shows.
 *
 * @throws {ProblemError} 409 where a safety rule forbids it, 412 where the plan no longer holds
 */
export const placeOverride = async (parts: Parts, given: Given, passed: readonly Rule[]): Promise<OrdersRecord> => {
  const { ports } = parts;
  const { override, body } = given;
  const { home, at, schedule } = await allowed(parts, wantedOf(given), passed);
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
