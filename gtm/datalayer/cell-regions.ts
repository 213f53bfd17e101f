/** Which region each DNS cell was last sent to, by this GTM or another, so that all of them keep the same. */
import { LRUCache } from "lru-cache";
import { regionOf } from "#gtm/domain/decision.ts";
import type { Entry } from "#gtm/steering/ports.ts";
import type { Clock } from "#shared/clock.ts";
import type { RegionId } from "#shared/ids.ts";
import type { SentRecord } from "#shared/records.ts";

export type CellRegions = {
  /** Remembers where a cell's decision sent it; other entries are none of its business. */
  readonly note: (entry: Entry) => void;
  /** null: nobody has decided this cell lately. */
  readonly regionOf: (cell: string) => RegionId | null;
  /** This instance's latest, for the others. */
  readonly own: () => SentRecord["cells"];
  /** What is not known already. */
  readonly hear: (cells: SentRecord["cells"]) => void;
  /** @returns at most so many, latest first */
  readonly latest: (most: number) => SentRecord["cells"];
};

const MOST_CELLS = 32_768;
/** A cell that is asked for is decided each second; older ones the others have heard of. */
const TOLD_FOR_MS = 2_000;
/** Of about 60 octets each, five times a second. */
const MOST_TOLD = 1_000;

export const createCellRegions = (clock: Clock): CellRegions => {
  const regions = new LRUCache<string, RegionId>({ max: MOST_CELLS });
  const own = new LRUCache<string, { readonly region: RegionId; readonly atMs: number }>({ max: MOST_TOLD });
  return {
    note: ({ query, decision }) => {
      const region = regionOf(decision.verdict);
      if (query.kind !== "cell" || region === null) return;
      regions.set(decision.turn.hashKey, region);
      own.set(decision.turn.hashKey, { region, atMs: clock.monotonicMs() });
    },
    regionOf: (cell) => regions.get(cell) ?? null,
    own: () => {
      const sinceMs = clock.monotonicMs() - TOLD_FOR_MS;
      return [...own.entries()]
        .filter(([, { atMs }]) => atMs >= sinceMs)
        .map(([cell, { region }]) => ({ cell, region }));
    },
    hear: (cells) => {
      for (const { cell, region } of cells) if (!regions.has(cell)) regions.set(cell, region);
    },
    latest: (most) => [...regions.entries()].slice(0, most).map(([cell, region]) => ({ cell, region })),
  };
};
