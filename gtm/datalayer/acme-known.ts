/** Challenge values in memory: what DNS answers with, whatever the store does; each until its end. */
import type { Clock } from "#shared/clock.ts";
import { type AcmeEntry, standingAt, textsOf } from "./acme-values.ts";

export type AcmeKnown = {
  /** The same array until it changes; null: the name has no values. */
  readonly texts: (name: string) => readonly string[] | null;
  readonly entries: (name: string) => readonly AcmeEntry[];
  /** Those that have values, in their order. */
  readonly names: () => readonly string[];
  /** What a name has from now on. */
  readonly adopt: (name: string, entries: readonly AcmeEntry[]) => void;
};

type Row = {
  readonly entries: readonly AcmeEntry[];
  readonly texts: readonly string[];
  /** When the first of them ends, monotonic. */
  readonly firstEndMs: number;
};

/** @param onAdopted a name has these from now on */
export const createAcmeKnown = (
  clock: Pick<Clock, "monotonicMs">,
  onAdopted: AcmeKnown["adopt"] = () => {},
): AcmeKnown => {
  const rows = new Map<string, Row>();

  const adopt = (name: string, found: readonly AcmeEntry[]): void => {
    const entries = standingAt(found, clock.monotonicMs());
    const texts = textsOf(entries);
    onAdopted(name, entries);
    if (entries.length === 0) rows.delete(name);
    else rows.set(name, { entries, texts, firstEndMs: Math.min(...entries.map(({ untilMs }) => untilMs)) });
  };
  const standing = (name: string): Row | null => {
    const row = rows.get(name);
    if (row === undefined) return null;
    if (row.firstEndMs > clock.monotonicMs()) return row;
    adopt(name, row.entries);
    return rows.get(name) ?? null;
  };
  return {
    texts: (name) => standing(name)?.texts ?? null,
    entries: (name) => standing(name)?.entries ?? [],
    names: () => [...rows.keys()].filter((name) => standing(name) !== null).sort(),
    adopt,
  };
};
