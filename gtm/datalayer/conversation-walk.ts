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

const FIRST_PIECE = 64;
const LARGEST_PIECE = 512;

export const createWalk = (wish: WalkWish): Walk => {
  const order = wish.isDescending ? (a: Listed, b: Listed) => ascending(b, a) : ascending;
  const readers = wish.regions.map((region) => createReader(wish, region, order));
  const first = async (): Promise<Reader | null> => {
    await Promise.all(readers.map((reader) => reader.fill()));
    let best: Reader | null = null;
    for (const reader of readers) {
      const [head, bestHead] = [reader.head(), best?.head() ?? null];
      if (head !== null && (bestHead === null || order(head, bestHead) < 0)) best = reader;
    }
    return best;
  };
  return {
    take: async (most) => {
      const taken: Listed[] = [];
      while (taken.length < most) {
        const head = (await first())?.pop() ?? null;
        if (head === null) break;
        taken.push(head);
      }
      return taken;
    },
    isOver: async () => (await first()) === null,
  };
};

const ascending = (a: Listed, b: Listed): number =>
  a.score - b.score || compareText(a.member, b.member) || compareText(a.region, b.region);
const compareText = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);

type Reader = {
  /** Makes sure that there is a head, if anything is left. */
  readonly fill: () => Promise<void> | null;
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
  let piece = FIRST_PIECE;
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
  const fill = async (): Promise<void> => {
    while (at >= buffer.length && !isOver) await read();
  };
  const head = (): Listed | null => buffer[at] ?? null;
  return {
    fill: () => (at < buffer.length || isOver ? null : fill()),
    head,
    pop: () => {
      const popped = head();
      at += 1;
      return popped;
    },
  };
};
