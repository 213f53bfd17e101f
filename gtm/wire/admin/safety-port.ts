/** The limits of orders, and a count of what they refused and of what somebody did all the same. */
import type { SafetyLimits } from "#gtm/domain/safety-limits.ts";
import type { Metrics } from "#shared/metrics.ts";

export type SafetyPort = {
  /** As they are configured now. */
  readonly limits: () => SafetyLimits;
  readonly refused: (rule: string) => void;
  readonly overridden: (rule: string) => void;
  /** An order was given although the conversations that it concerns could not be read. */
  readonly unweighed: () => void;
};

export const createSafety = (limits: () => SafetyLimits, metrics: Metrics): SafetyPort => {
  const refused = metrics.counter({
    name: "gtm_safety_rules_refused_total",
    help: "Orders that a safety rule refused, by rule.",
    labels: ["rule"],
  });
  const overridden = metrics.counter({
    name: "gtm_safety_rules_overridden_total",
    help: "Orders that were given although a safety rule forbids them, because somebody named it.",
    labels: ["rule"],
  });
  const unweighed = metrics.counter({
    name: "gtm_orders_unweighed_total",
    help: "Orders that were given although the store did not tell which conversations they concern; rules that look at those did not hold them.",
  });
  return {
    limits,
    refused: (rule) => refused.inc({ rule }),
    overridden: (rule) => overridden.inc({ rule }),
    unweighed: () => unweighed.inc(),
  };
};
