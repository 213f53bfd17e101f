/** Members of several regions' lists in one order, read a piece at a time from where an earlier walk ended. */
import type { RegionId } from "#shared/ids.ts";
import type { IndexEntry, Store } from "#shared/store.ts";

/** A place in a walk: what was passed last. */
export type Listed = IndexEntry & { readonly region: RegionId };

export type Walk = {
  /** The next ones, at most so many; none: it is over. @throws {OperationalError} */
  readonly take: (most: number) => Promise<readonly Listed[]>;
  readonly isOver: () => Promise<boolean>;
};

export type WalkWish = {
  readonly store: Pick<Store, "indexRange" | "indexTop">;
  readonly keyOf: (region: RegionId) => string;
  /** Their lists are merged. */
  readonly regions: readonly RegionId[];
  readonly isDescending: boolean;
  /** Scores outside are not visited. */
  readonly min: number;
  readonly max: number;
  /** What was passed last; null: from the start. */
  readonly after: Listed | null;
};

const LEAST_PIECE = 64;
const LARGEST_PIECE = 512;
/** Regions have unequal shares of what is next: what is read first of each is more than an equal one. */
const SPARE = 1.5;

export const createWalk = (wish: WalkWish): Walk => {
  const order = wish.isDescending ? (a: Listed, b: Listed) => ascending(b, a) : ascending;
  const readers = wish.regions.map((region) => createReader(wish, region, order));
  /** Of those that were read: whoever is at the end of what was read has to be filled first. */
  const first = (): Reader | null => {
    let best: Reader | null = null;
    for (const reader of readers) {
      const [head, bestHead] = [reader.head(), best?.head() ?? null];
      if (head !== null && (bestHead === null || order(head, bestHead) < 0)) best = reader;
    }
    return best;
  };
  /** @param most are asked for of all regions together */
  const fill = async (most: number): Promise<void> => {
    const filling = readers.filter((reader) => reader.isEmpty());
    const atLeast = Math.ceil((most * SPARE) / readers.length);
    if (filling.length > 0) await Promise.all(filling.map((reader) => reader.fill(atLeast)));
  };
  return {
    take: async (most) => {
      const taken: Listed[] = [];
      await fill(most);
      for (let best = first(); best !== null && taken.length < most; best = first()) {
        const head = best.pop();
        if (head !== null) taken.push(head);
        if (best.isEmpty()) await fill(most - taken.length);
      }
      return taken;
    },
    isOver: async () => {
      await fill(1);
      return first() === null;
    },
  };
};

const ascending = (a: Listed, b: Listed): number =>
  a.score - b.score || compareText(a.member, b.member) || compareText(a.region, b.region);
const compareText = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);

type Reader = {
  /** What was read is used up, and there may be more. */
  readonly isEmpty: () => boolean;
  /** Makes sure that there is a head, if anything is left; reads at least so many, up to the largest piece. */
  readonly fill: (atLeast: number) => Promise<void>;
  readonly head: () => Listed | null;
  readonly pop: () => Listed | null;
};

/** One region's list. */
const createReader = (wish: WalkWish, region: RegionId, order: (a: Listed, b: Listed) => number): Reader => {
  const { store, isDescending, min, max } = wish;
  const key = wish.keyOf(region);
  let buffer: readonly Listed[] = [];
  let at = 0;
  let passed = wish.after;
  let piece = LEAST_PIECE;
  let isOver = false;

  const ask = (most: number): Promise<readonly IndexEntry[]> =>
    isDescending
      ? store.indexTop(key, Math.min(max, passed?.score ?? max), most)
      : store.indexRange(key, Math.max(min, passed?.score ?? min), max, most);
  const read = async (): Promise<void> => {
    const entries = await ask(piece);
    const listed = entries.map((entry) => ({ region, ...entry })).filter(({ score }) => score >= min && score <= max);
    const behind = passed;
    buffer = behind === null ? listed : listed.filter((one) => order(one, behind) > 0);
    at = 0;
    isOver = entries.length < piece || listed.length < entries.length;
    // Where nothing is new, so many share one score that a longer piece is needed to see past them.
    if (buffer.length > 0) piece = Math.min(LARGEST_PIECE, piece * 2);
    else if (!isOver) piece *= 2;
    passed = buffer.at(-1) ?? passed;
  };
  const isEmpty = (): boolean => at >= buffer.length && !isOver;
  const head = (): Listed | null => buffer[at] ?? null;
  return {
    isEmpty,
    fill: async (atLeast) => {
      piece = Math.max(piece, Math.min(LARGEST_PIECE, atLeast));
      while (isEmpty()) await read();
    },
    head,
    pop: () => {
      const popped = head();
      at += 1;
      return popped;
    },
  };
};
