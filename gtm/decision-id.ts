/** Names decisions: ULIDs, so that ids sort by time and are unique over all instances. */
import { hash, randomFillSync } from "node:crypto";
import { encodeTime, monotonicFactory } from "ulid";
import type { Clock } from "#shared/clock.ts";
import type { DecisionId } from "#shared/ids.ts";

/** The package asks for octets one by one, sixteen an id; taken from the system one by one they cost ten times the rest of it. */
const DICE = 1_024;

export const createDecisionIds = (clock: Pick<Clock, "epochMs">): (() => DecisionId) => {
  const next = monotonicFactory(createDice());
  return () => next(clock.epochMs()) as DecisionId;
};

/** When a decision's epoch began, and which it is. */
type IdEpoch = { readonly atEpochMs: number; readonly world: { readonly version: number } };

const TIME_CHARACTERS = 10;
/** 80 bits in letters of 5. */
const RANDOM_CHARACTERS = 16;
const CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/**
 * Ids for what several threads decide alike: the same decision has the same id wherever it is made.
 *
 * @param salt of this process; its threads have the same, and no other process has
 * @returns of what is decided in an epoch, under a key
 */
export const createSharedIds =
  (salt: string): ((epoch: IdEpoch, key: string) => DecisionId) =>
  ({ atEpochMs, world }, key) => {
    const octets = hash("sha256", `${salt}|${world.version}|${key}`, "buffer");
    let id = encodeTime(Math.trunc(atEpochMs), TIME_CHARACTERS);
    for (let i = 0; i < RANDOM_CHARACTERS; i++) {
      const at = (i * 5) >>> 3;
      const bits = ((octets[at] ?? 0) << 8) | (octets[at + 1] ?? 0);
      id += CROCKFORD[(bits >>> (11 - ((i * 5) & 7))) & 31];
    }
    return id as DecisionId;
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
