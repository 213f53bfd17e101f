/** When tokens were used last: to the minute, so that a token in use costs the store one write a minute and GTM. */
import type { Clock } from "#shared/clock.ts";
import { KEYS, tokenUsedKey } from "#shared/keys.ts";
import type { Store } from "#shared/store.ts";
import { TokenUse } from "#shared/token-record.ts";
import { jsonOrNull } from "./json-or-null.ts";
import type { StoreFailures } from "./store-failures.ts";

export type TokenUses = {
  /** Never waits, never throws. */
  readonly used: (id: string) => void;
  /** Epoch ms; what the store does not tell, this instance may know. */
  readonly lastUsed: (ids: readonly string[]) => Promise<ReadonlyMap<string, number>>;
};

const WRITTEN_EVERY_MS = 60_000;

export const createTokenUses = (options: {
  readonly store: Store;
  readonly clock: Clock;
  readonly failures: StoreFailures;
}): TokenUses => {
  const { store, clock, failures } = options;
  /** By token: when it was written last, monotonic, and what was written. As many as there are tokens. */
  const written = new Map<string, { readonly monotonicMs: number; readonly atMs: number }>();

  const heard = async (ids: readonly string[]): Promise<readonly (TokenUse | null)[]> => {
    try {
      const stored = await store.getMany(ids.map(tokenUsedKey));
      return stored.map((one) => (one === null ? null : (TokenUse.safeParse(jsonOrNull(one.value)).data ?? null)));
    } catch (cause) {
      failures("tokens.uses", cause);
      return [];
    }
  };
  return {
    used: (id) => {
      const monotonicMs = clock.monotonicMs();
      if (monotonicMs - (written.get(id)?.monotonicMs ?? Number.NEGATIVE_INFINITY) < WRITTEN_EVERY_MS) return;
      const atMs = Math.floor(clock.epochMs());
      written.set(id, { monotonicMs, atMs });
      const value = JSON.stringify({ v: 1, atMs } satisfies TokenUse);
      store.put(tokenUsedKey(id), value, KEYS.tokenUsed.ttlMs).catch((cause) => failures("tokens.used", cause));
    },
    lastUsed: async (ids) => {
      const found = await heard(ids);
      return new Map(
        ids.flatMap((id, at) => {
          const atMs = Math.max(found[at]?.atMs ?? 0, written.get(id)?.atMs ?? 0);
          return atMs === 0 ? [] : [[id, atMs] as const];
        }),
      );
    },
  };
};
