/** Takes off the lists what the store no longer has: by age, and, for what nobody dated, all of a list in turn. */
import { contextTokensOf, homeOf } from "#gtm/domain/conversation.ts";
import type { Clock } from "#shared/clock.ts";
import { listConversation } from "#shared/conversation-index.ts";
import type { RegionId } from "#shared/ids.ts";
import { heldKey, KEYS, sizesKey } from "#shared/keys.ts";
import type { Store } from "#shared/store.ts";
import { readListed } from "./conversation-list.ts";

/** A sweep is never more than a moment's work; what is left is swept the next time. */
const MOST_SWEPT = 5_000;
const SWEPT_AT_ONCE = 250;
/** Of a list by size, which tells no ages: all of it is gone through in ten sweeps. */
const SIZES_LOOKED_AT = 1_000;
/**
 * Of each region the largest are listed by size, since an entry costs about 120 octets of Redis's memory; nobody pages further.
 * A million conversations in five regions stay under 400 octets each (test/bench/redis-memory.bench.ts).
 */
export const MOST_SIZES = 10_000;

type SweepParts = { readonly store: Store; readonly clock: Clock };

/**
 * Whoever is still there was listed by a clock that is behind ours, and is dated anew.
 *
 * @throws {OperationalError} GTM_STORE_UNREACHABLE
 */
export const sweepHeld = async (parts: SweepParts, region: RegionId): Promise<void> => {
  const { store, clock } = parts;
  const before = clock.epochMs() - KEYS.conversation.ttlMs;
  const old = await store.indexRange(heldKey(region), 0, before, MOST_SWEPT);
  for (let from = 0; from < old.length; from += SWEPT_AT_ONCE) {
    const some = old.slice(from, from + SWEPT_AT_ONCE).map((one) => ({ region, ...one }));
    for (const { found } of await readListed(parts, some)) {
      if (found === null) continue;
      const { conversation } = found;
      await listConversation(store, {
        ...{ id: conversation.id, region: homeOf(conversation), contextTokens: contextTokensOf(conversation) },
        lastTurnEpochMs: conversation.lastTurnAtMs + clock.epochMs() - clock.monotonicMs(),
      });
    }
  }
};

/**
 * Leaves the largest, and looks at some of them: one that is listed by size alone (two GTMs wrote at once) is found when its turn comes.
 *
 * @param fromScore where the last sweep of this list ended
 * @returns where the next one goes on; 0: from the start
 * @throws {OperationalError} GTM_STORE_UNREACHABLE
 */
export const sweepSizes = async (parts: SweepParts, region: RegionId, fromScore: number): Promise<number> => {
  await parts.store.indexTrim(sizesKey(region), MOST_SIZES);
  const some = await parts.store.indexRange(sizesKey(region), fromScore, Number.MAX_SAFE_INTEGER, SIZES_LOOKED_AT);
  for (let from = 0; from < some.length; from += SWEPT_AT_ONCE) {
    await readListed(
      parts,
      some.slice(from, from + SWEPT_AT_ONCE).map((one) => ({ region, ...one })),
    );
  }
  return some.length < SIZES_LOOKED_AT ? 0 : (some.at(-1)?.score ?? 0);
};
