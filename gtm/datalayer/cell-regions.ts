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
  /** This instance's, for the others: what is new first, a part of it each time; then what was decided lately. */
  readonly own: () => SentRecord["cells"];
  /** What was not decided here. */
  readonly hear: (cells: SentRecord["cells"]) => void;
  /** Calls the listener with every cell whose region is another than before, or new. */
  readonly watch: (listener: (cell: string, region: RegionId) => void) => void;
  /** @returns at most so many, latest first */
  readonly latest: (most: number) => SentRecord["cells"];
};

/** About 200 bytes each. */
const MOST_CELLS = 65_536;
/** A cell that is asked for is decided each second; older ones the others have heard of. */
const TOLD_FOR_MS = 2_000;
/** Of about 60 octets each, five times a second. */
const MOST_TOLD = 1_000;
/** Whoever reads a little later than we write still meets one of them. 50 000 new cells are told within half a minute. */
const TOLD_TIMES = 3;

type Known = { readonly region: RegionId; readonly isOwn: boolean };

export const createCellRegions = (clock: Clock): CellRegions => {
  const regions = new LRUCache<string, Known>({ max: MOST_CELLS });
  const decided = new LRUCache<string, number>({ max: MOST_TOLD });
  /** How often each is still to be told, longest waiting first. */
  const news = new Map<string, number>();

  const listeners: ((cell: string, region: RegionId) => void)[] = [];
  const put = (cell: string, known: Known): void => {
    const isNew = regions.peek(cell)?.region !== known.region;
    regions.set(cell, known);
    if (isNew) for (const listener of listeners) listener(cell, known.region);
  };
  const takeNews = (): readonly string[] => {
    const cells = [...news.keys()].slice(0, MOST_TOLD);
    for (const cell of cells) {
      const left = (news.get(cell) ?? 1) - 1;
      news.delete(cell);
      // Again after the others that wait, or a flood of new ones would hold them all up.
      if (left > 0) news.set(cell, left);
    }
    return cells;
  };
  return {
    note: ({ query, decision }) => {
      const region = regionOf(decision.verdict);
      if (query.kind !== "cell" || region === null) return;
      const cell = decision.turn.hashKey;
      const known = regions.peek(cell);
      put(cell, { region, isOwn: true });
      decided.set(cell, clock.monotonicMs());
      if ((known?.isOwn && known.region === region) || (news.size >= MOST_CELLS && !news.has(cell))) return;
      news.set(cell, TOLD_TIMES);
    },
    regionOf: (cell) => regions.get(cell)?.region ?? null,
    own: () => {
      const sinceMs = clock.monotonicMs() - TOLD_FOR_MS;
      const lately = [...decided.entries()].filter(([, atMs]) => atMs >= sinceMs).map(([cell]) => cell);
      const told = [...new Set([...takeNews(), ...lately])].slice(0, MOST_TOLD);
      return told.flatMap((cell) => {
        const known = regions.peek(cell);
        return known === undefined ? [] : [{ cell, region: known.region }];
      });
    },
    hear: (cells) => {
      for (const { cell, region } of cells) {
        if (!regions.peek(cell)?.isOwn) put(cell, { region, isOwn: false });
      }
    },
    watch: (listener) => {
      listeners.push(listener);
    },
    latest: (most) => [...regions.entries()].slice(0, most).map(([cell, { region }]) => ({ cell, region })),
  };
};
