/** Names decisions: ULIDs, so that ids sort by time and are unique over all instances. */
import { monotonicFactory } from "ulid";
import type { Clock } from "#shared/clock.ts";
import type { DecisionId } from "#shared/ids.ts";

export const createDecisionIds = (clock: Pick<Clock, "epochMs">): (() => DecisionId) => {
  const next = monotonicFactory();
  return () => next(clock.epochMs()) as DecisionId;
};
