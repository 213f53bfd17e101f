/** Decisions as people read them: instants of the instance's monotonic clock become dates. */
import { decisionView } from "#gtm/steering/decision-view.ts";
import type { Entry } from "#gtm/steering/ports.ts";
import type { Clock } from "#shared/clock.ts";
import type { DecisionSchema } from "./decision-schema.ts";
import type { AdminPorts } from "./ports.ts";

export type Viewer = (entry: Entry) => DecisionSchema;

/** @param policyAt decisions are explained by what they were made with */
export const viewer = (policyAt: AdminPorts["policyAt"], clock: Clock): Viewer => {
  const toEpochMs = (monotonicMs: number): number => clock.epochMs() - (clock.monotonicMs() - monotonicMs);
  return (entry) => {
    const view = decisionView(entry, policyAt(entry.decision.decidedAtMs), toEpochMs);
    // The schema's arrays are not read-only.
    return { ...view, considered: [...view.considered] };
  };
};
