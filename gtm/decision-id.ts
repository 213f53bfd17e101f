/** Names decisions: ULIDs, so that ids sort by time and are unique over all instances. */
import { randomFillSync } from "node:crypto";
import { monotonicFactory } from "ulid";
import type { Clock } from "#shared/clock.ts";
import type { DecisionId } from "#shared/ids.ts";

/** The package asks for octets one by one, sixteen an id; taken from the system one by one they cost ten times the rest of it. */
const DICE = 1_024;

export const createDecisionIds = (clock: Pick<Clock, "epochMs">): (() => DecisionId) => {
  const next = monotonicFactory(createDice());
  return () => next(clock.epochMs()) as DecisionId;
};

/** @returns a function that yields multiples of 1/256 from 0 to below 1, each octet used once */
const createDice = (): (() => number) => {
  const octets = new Uint8Array(DICE);
  let left = 0;
  return () => {
    if (left === 0) left = randomFillSync(octets).length;
    left -= 1;
    return (octets[left] ?? 0) / 256;
  };
};
