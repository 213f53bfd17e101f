/**
 * What was learnt, kept in the store for GTMs that begin: all hear the same turns and so know the same, and one key serves
 * them all. Round trips are not in it: three turns of a network teach them again, and they would be most of it.
 */
import { z } from "zod";
import type { Clock } from "#shared/clock.ts";
import { ModelId, RegionId } from "#shared/ids.ts";
import { KEYS, learntKey } from "#shared/keys.ts";
import type { Part } from "#shared/lifecycle.ts";
import type { Store } from "#shared/store.ts";
import type { Learning } from "./learning.ts";
import type { StoreFailures } from "./store-failures.ts";

/** Above it a weight is a mistake, and would never fade. */
const amount = z.number().min(0).max(1e12);

export const LearntRecord = z.looseObject({
  v: z.literal(1),
  held: z.array(z.object({ region: RegionId, model: ModelId, weight: amount, sum: amount })).max(10_000),
  pools: z
    .array(
      z.object({
        pool: z.string().max(64),
        region: z.string().max(64),
        what: z.string().max(16),
        ...{ weight: amount, sum: amount },
      }),
    )
    .max(50_000),
});
export type LearntRecord = z.infer<typeof LearntRecord>;

const EVERY_MS = 30_000;
const TTL_MS = KEYS.learnt.ttlMs;
/** Observations fade with the hours; within one the half of what stands there would be left. */
const FADES_MS = 3_600_000;

export const createLearntStore = (options: {
  readonly store: Store;
  readonly clock: Clock;
  readonly failures: StoreFailures;
  readonly learning: Pick<Learning, "pools" | "held" | "fold">;
}): Part => {
  const { store, clock, learning } = options;
  let timer: NodeJS.Timeout | null = null;
  let syncing: Promise<void> | null = null;

  /** Where it rests on more than what is known here it is taken over. */
  const adopt = (record: LearntRecord, ageMs: number): void => {
    const nowMs = clock.monotonicMs();
    const left = Math.exp(-ageMs / FADES_MS);
    const faded = <One extends { readonly weight: number; readonly sum: number }>(one: One): One => ({
      ...one,
      ...{ weight: one.weight * left, sum: one.sum * left },
    });
    for (const { region, model, ...observed } of record.held.map(faded)) {
      learning.held.seed({ region, model }, observed, nowMs);
    }
    learning.pools.seed(record.pools.map(faded), nowMs);
  };
  const read = async (): Promise<void> => {
    const stored = await store.get(learntKey());
    const record = stored === null ? null : recordIn(stored.value);
    if (stored !== null && record !== null) adopt(record, Math.max(0, TTL_MS - (stored.remainingMs ?? TTL_MS)));
  };
  const write = async (): Promise<void> => {
    const nowMs = clock.monotonicMs();
    const held = learning.held.known(nowMs).map(({ region, model, tally }) => ({
      ...{ region, model, weight: tally.weight, sum: tally.sum },
    }));
    const record: LearntRecord = { v: 1, held, pools: [...learning.pools.saved(nowMs)] };
    // What knows nothing has nothing to say.
    if (record.held.length + record.pools.length > 0) await store.put(learntKey(), JSON.stringify(record), TTL_MS);
  };
  const sync = async (isWriting: boolean): Promise<void> => {
    try {
      await read();
      if (isWriting) await write();
    } catch (cause) {
      options.failures("learnt.sync", cause);
    }
  };
  return {
    name: "learnt",
    start: async () => {
      await sync(false);
      learning.fold();
      timer = setInterval(() => {
        syncing = sync(true);
      }, EVERY_MS);
      timer.unref();
    },
    stop: async () => {
      if (timer !== null) clearInterval(timer);
      timer = null;
      await syncing;
      await sync(true);
    },
  };
};

/** A record that is none teaches nothing, and is written over. */
const recordIn = (value: string): LearntRecord | null => {
  try {
    return LearntRecord.safeParse(JSON.parse(value)).data ?? null;
  } catch {
    return null;
  }
};
