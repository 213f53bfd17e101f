/** What one name answers to challenges: values with an end each, added, taken back, and packed for the store. */
import { type AcmeRecord, MOST_ACME_VALUES } from "#shared/acme-record.ts";
import { KEYS } from "#shared/keys.ts";

export type AcmeEntry = {
  readonly value: string;
  /** Who presented it. */
  readonly actor: string;
  /** Monotonic. */
  readonly untilMs: number;
};

export const LONGEST_ACME_MS = KEYS.acme.ttlMs;
/** What is told of a name that has no values left: as long as anybody may know of one that was taken back. */
const EMPTY_FOR_MS = LONGEST_ACME_MS;

export const standingAt = (entries: readonly AcmeEntry[], nowMs: number): readonly AcmeEntry[] =>
  entries.every(({ untilMs }) => untilMs > nowMs) ? entries : entries.filter(({ untilMs }) => untilMs > nowMs);

/** Each value once, in an order that is every GTM's. */
export const textsOf = (entries: readonly AcmeEntry[]): readonly string[] =>
  [...new Set(entries.map(({ value }) => value))].sort();

/** Presented again, a value ends later, never sooner. @returns null: there are as many as a name may have */
export const withEntry = (entries: readonly AcmeEntry[], added: AcmeEntry): readonly AcmeEntry[] | null => {
  const same = entries.find((one) => isSame(one, added));
  if (same !== undefined) {
    const untilMs = Math.max(same.untilMs, added.untilMs);
    return entries.map((one) => (one === same ? { ...one, untilMs } : one));
  }
  return entries.length < MOST_ACME_VALUES ? [...entries, added] : null;
};

/** null: any. */
export type AcmeChoice = { readonly value: string | null; readonly actor: string | null };

/** @returns the same array where nothing is chosen */
export const withoutEntries = (entries: readonly AcmeEntry[], choice: AcmeChoice): readonly AcmeEntry[] => {
  const rest = entries.filter((one) => !isChosen(one, choice));
  return rest.length === entries.length ? entries : rest;
};

const isSame = (a: AcmeEntry, b: AcmeEntry): boolean => a.value === b.value && a.actor === b.actor;

const isChosen = ({ value, actor }: AcmeEntry, choice: AcmeChoice): boolean =>
  (choice.value === null || choice.value === value) && (choice.actor === null || choice.actor === actor);

/** The key ends with the last of them. */
export const packed = (
  entries: readonly AcmeEntry[],
  rev: number,
  nowMs: number,
): { readonly text: string; readonly ttlMs: number } => {
  const leftMs = entries.map(({ untilMs }) => Math.max(1, Math.ceil(untilMs - nowMs)));
  const ttlMs = entries.length === 0 ? EMPTY_FOR_MS : Math.max(...leftMs);
  const values = entries.map(({ value, actor }, i) => ({ value, actor, earlierMs: ttlMs - (leftMs[i] ?? 0) }));
  return { text: JSON.stringify({ v: 1, rev, values } satisfies AcmeRecord), ttlMs };
};

/** @param remainingMs of the key, by the store's clock; null: it has no end, and somebody else wrote it */
export const unpacked = ({ values }: AcmeRecord, remainingMs: number | null, nowMs: number): readonly AcmeEntry[] => {
  const endMs = nowMs + Math.min(remainingMs ?? LONGEST_ACME_MS, LONGEST_ACME_MS);
  const entries = values.map(({ value, actor, earlierMs }) => ({ value, actor, untilMs: endMs - earlierMs }));
  return standingAt(entries, nowMs);
};
