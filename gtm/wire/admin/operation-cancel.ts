/** Taking back the order that a drain carries out: an undrain, or the cancelling of an override, by another name. */
import type { OperationRecord } from "#shared/operation-record.ts";
import type { OrderPlan } from "./order-plan.ts";
import type { OverridePlan } from "./override-body.ts";
import { mustBeAllowed as mustOverrideBeAllowed, planDoing, standingOverride } from "./override-change.ts";
import type { Parts } from "./override-plan.ts";
import { type Given, mustBeAllowed, previewOf } from "./region-order.ts";
import { regionNamed } from "./routes/regions.ts";
import { mustSayWhy, type Rule } from "./safety-rules.ts";

type By = {
  readonly actor: string;
  readonly passed: readonly Rule[];
  readonly comment: string | null;
  readonly planId: string | null;
};

/** @throws {ProblemError} 404, 409, 412 as the order by its own name */
export const planCancel = async (
  parts: Parts,
  operation: OperationRecord,
  by: By,
): Promise<OrderPlan | OverridePlan> =>
  operation.override === null
    ? previewOf(parts, undrainOf(parts, operation, by))
    : planDoing(parts, cancelOf(parts, operation.override, by));

/** @throws {ProblemError} as planCancel, and 409 where a safety rule forbids it */
export const mustBeCancellable = async (parts: Parts, operation: OperationRecord, by: By): Promise<void> => {
  if (operation.override === null) return mustBeAllowed(parts, undrainOf(parts, operation, by));
  mustSayWhy(by.passed, by.comment);
  return mustOverrideBeAllowed(parts, cancelOf(parts, operation.override, by), by.passed);
};

const undrainOf = ({ ports }: Parts, { region }: OperationRecord, { comment, ...by }: By): Given => ({
  ...{ verb: "undrain", region: regionNamed(ports, region), ifMatch: null, ...by },
  action: { to: "active", comment, forMs: null, pacing: null },
});

const cancelOf = ({ ports }: Parts, id: string, { actor, comment, planId }: By) => ({
  ...({ deed: "cancel", actor, comment, planId, ifMatch: null } as const),
  standing: standingOverride({ ports }, id, null),
});
