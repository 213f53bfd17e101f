/** Challenge values in the store: one key a name, changed by compare-and-set, and an index of the names. */
import { AcmeRecord } from "#shared/acme-record.ts";
import type { Clock } from "#shared/clock.ts";
import { OperationalError } from "#shared/errors.ts";
import { acmeKey, acmeNamesKey } from "#shared/keys.ts";
import type { Store } from "#shared/store.ts";
import { type AcmeEntry, packed, unpacked } from "./acme-values.ts";

/** Of one name, as the store has it. */
export type AcmeFound = { readonly rev: number; readonly entries: readonly AcmeEntry[] };

/** Every call rejects with OperationalError GTM_STORE_UNREACHABLE or GTM_STORE_REFUSED. */
export type AcmeStore = {
  /** Names that have, or lately had, values; those changed last first, at most as many as a zone may have. */
  readonly names: () => Promise<readonly string[]>;
  /** Lists a name. */
  readonly list: (name: string) => Promise<void>;
  readonly unlist: (name: string) => Promise<void>;
  /** @returns null: the store knows nothing of it. @throws also GTM_RECORD_REFUSED: what stands there is left alone */
  readonly find: (name: string) => Promise<AcmeFound | null>;
  /** @returns whether nothing was there, and now these are */
  readonly offer: (name: string, entries: readonly AcmeEntry[]) => Promise<boolean>;
  /**
   * Again and again until nobody else was faster.
   *
   * @param known what is taken for the name's where the store has nothing
   * @param change returns the same array: then nothing is written; null: it is not possible
   * @returns null: it was not possible. @throws as `find`
   */
  readonly change: (
    name: string,
    known: readonly AcmeEntry[],
    change: (entries: readonly AcmeEntry[]) => readonly AcmeEntry[] | null,
  ) => Promise<AcmeFound | null>;
};

/** More than a zone of regions, pools and models has. */
export const MOST_ACME_NAMES = 1_000;
/** As many orders of one name at the same time lose this many races to each other. */
const MOST_ATTEMPTS = 16;

export const createAcmeStore = (store: Store, clock: Clock): AcmeStore => {
  const find = async (name: string): Promise<AcmeFound | null> => {
    const stored = await store.get(acmeKey(name));
    if (stored === null) return null;
    const record = parseRecord(name, stored.value);
    return { rev: record.rev, entries: unpacked(record, stored.remainingMs, clock.monotonicMs()) };
  };
  return {
    names: async () => {
      const index = await store.indexTop(acmeNamesKey(), Number.MAX_SAFE_INTEGER, MOST_ACME_NAMES);
      return index.map(({ member }) => member);
    },
    list: (name) => store.indexAdd(acmeNamesKey(), name, Math.floor(clock.epochMs())),
    unlist: (name) => store.indexRemove(acmeNamesKey(), name),
    find,
    offer: (name, entries) => {
      const { text, ttlMs } = packed(entries, 1, clock.monotonicMs());
      return store.setIfAbsent(acmeKey(name), text, ttlMs);
    },
    change: async (name, known, change) => {
      for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
        const base = (await find(name)) ?? { rev: 0, entries: known };
        const entries = change(base.entries);
        if (entries === null) return null;
        if (entries === base.entries) return base;
        const rev = base.rev + 1;
        const { text, ttlMs } = packed(entries, rev, clock.monotonicMs());
        const outcome = await store.compareAndSet(acmeKey(name), base.rev, text, ttlMs);
        if (outcome.kind === "stored") return { rev, entries };
      }
      throw new OperationalError(
        "GTM_STORE_UNREACHABLE",
        `${name} changed ${MOST_ATTEMPTS} times while it was written`,
      );
    },
  };
};

const parseRecord = (name: string, value: string): AcmeRecord => {
  let raw: unknown = null;
  try {
    raw = JSON.parse(value);
  } catch (cause) {
    throw new OperationalError("GTM_RECORD_REFUSED", `${acmeKey(name)} holds no JSON`, { cause });
  }
  const parsed = AcmeRecord.safeParse(raw);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => `${path.map(String).join(".")}: ${message}`);
  throw new OperationalError("GTM_RECORD_REFUSED", `${acmeKey(name)}: ${faults.join("; ")}`);
};
