/** Which other GTMs are on the store: listed in an index, there as long as their `sent` is. */
import type { Clock } from "#shared/clock.ts";
import { InstanceId } from "#shared/ids.ts";
import { instancesKey } from "#shared/keys.ts";
import type { Store } from "#shared/store.ts";

export type Instances = {
  /** As they were listed last. */
  readonly others: () => readonly InstanceId[];
  /** Lists this one and finds the others, at most every 2 s. @throws {OperationalError} the store did not answer, or refused */
  readonly look: () => Promise<void>;
  /** Whether the other's `sent` was there just now. */
  readonly saw: (other: InstanceId, isThere: boolean) => void;
};

/** Who are the others changes rarely. */
const LOOK_EVERY_MS = 2_000;
/** An instance that was away this long, by our own clock, is taken off the list: no two clocks need to agree. */
const REMEMBERED_MS = 600_000;
/** More than anybody runs: whoever invents names does not make every GTM read them. */
const MOST_OTHERS = 128;

/** @param onForgotten the store no longer lists this instance, which had been listed: it was wiped, or we were away for long */
export const createInstances = (
  { store, clock, instance }: { readonly store: Store; readonly clock: Clock; readonly instance: InstanceId },
  onForgotten: () => void,
): Instances => {
  const absentSinceMs = new Map<InstanceId, number>();
  let others: readonly InstanceId[] = [];
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  let isListed = false;

  const forget = async (): Promise<void> => {
    const nowMs = clock.monotonicMs();
    for (const [other, sinceMs] of absentSinceMs) {
      if (nowMs - sinceMs <= REMEMBERED_MS) continue;
      absentSinceMs.delete(other);
      await store.indexRemove(instancesKey(), other);
    }
  };
  return {
    others: () => others,
    look: async () => {
      const nowMs = clock.monotonicMs();
      if (nowMs - lookedAtMs < LOOK_EVERY_MS) return;
      const index = await store.indexTop(instancesKey(), Number.MAX_SAFE_INTEGER, MOST_OTHERS + 1);
      const names = index.map(({ member }) => InstanceId.safeParse(member).data).filter((one) => one !== undefined);
      if (isListed && names.length <= MOST_OTHERS && !names.includes(instance)) onForgotten();
      others = names.filter((one) => one !== instance);
      for (const one of absentSinceMs.keys()) if (!others.includes(one)) absentSinceMs.delete(one);
      lookedAtMs = nowMs;
      await store.indexAdd(instancesKey(), instance, clock.epochMs());
      isListed = true;
      await forget();
    },
    saw: (other, isThere) => {
      if (isThere) absentSinceMs.delete(other);
      else if (!absentSinceMs.has(other)) absentSinceMs.set(other, clock.monotonicMs());
    },
  };
};
