/** A page read by the one before it: exporters write the same lines in the same order, and then only numbers have to be read. */
import { type Page, type PageWish, pageOf, parseOctets, WHOLE_PAGE } from "./exposition.ts";
import type { Sample } from "./exposition-line.ts";
import { isSame, lineEnd, numberAt } from "./exposition-octets.ts";

/** How a page was laid out; read, and never changed. */
type Layout = {
  readonly wish: PageWish;
  /** The page that it was made of. */
  readonly octets: Buffer;
  readonly lines: readonly LineLayout[];
  /** In the order in which they came first; a series says which by its index. */
  readonly names: readonly string[];
  readonly malformed: ReadonlySet<string>;
  /** Names of which a series stands twice. */
  readonly doubled: ReadonlySet<string>;
};

/** One line: so many octets from its start must be those of the layout's page. */
type LineLayout = {
  readonly start: number;
  readonly length: number;
  readonly kind: Kind;
  /** Index of its name; −1: it has none, or nobody looks at it. */
  readonly name: number;
  /** Its labels; null: it has none, or nobody looks at it. */
  readonly labels: Labels | null;
};

type Labels = Pick<Sample, "labelNames" | "labelValues">;

const TEXT = 0;
const PASSED = 1;
const SERIES = 2;
const END_MARK = 3;
type Kind = typeof TEXT | typeof PASSED | typeof SERIES | typeof END_MARK;

/** What is kept of an address's page from round to round. */
export type PageMemory = { readonly layout: Layout | null; readonly misses: number };

export const NO_PAGE_MEMORY: PageMemory = { layout: null, misses: 0 };

/** A page that is never laid out like the one before it is not worth a copy each time. */
const FEW_MISSES = 3;
const COPIED_EACH = 16;

/**
 * The same page as parseOctets makes of it, at a small part of the cost where it is laid out as the one before: every line is
 * held against that one octet by octet up to its value; at the first that differs the whole page is read from its beginning.
 *
 * @param wish its function is told from another by identity
 */
export const parseAlike = (
  octets: Buffer,
  wish: PageWish,
  { layout, misses }: PageMemory,
): { readonly page: Page; readonly memory: PageMemory } => {
  const alike = layout !== null && isSameWish(layout.wish, wish) ? readBy(layout, octets) : null;
  if (alike !== null) return { page: alike, memory: { layout, misses: 0 } };
  if (misses >= FEW_MISSES && misses % COPIED_EACH !== 0) {
    return { page: parseOctets(octets, wish, null), memory: { layout: null, misses: misses + 1 } };
  }
  const laying = createLaying(wish);
  const page = parseOctets(octets, wish, laying.log);
  const isHalf = page.faults.some(({ field, code }) => field === WHOLE_PAGE && code === "half-sent");
  return { page, memory: { layout: isHalf ? layout : laying.layoutOf(octets, page), misses: misses + 1 } };
};

const isSameWish = (one: PageWish, other: PageWish): boolean =>
  one.isRead === other.isRead && one.isOpenMetrics === other.isOpenMetrics;

const createLaying = (wish: PageWish) => {
  const lines: LineLayout[] = [];
  const names = new Map<string, number>();
  const counts: number[] = [];
  const malformed = new Set<string>();
  const texts = new Map<string, string>();
  /** Values of labels repeat from line to line, and each is a part of its line, which it would keep. */
  const once = (text: string): string => {
    const known = texts.get(text) ?? text;
    texts.set(known, known);
    return known;
  };
  const plain = (kind: Kind, start: number, end: number): void =>
    void lines.push({ start, length: end - start, kind, name: -1, labels: null });
  return {
    log: {
      onText: (start: number, end: number, name: string | null) => {
        if (name !== null) malformed.add(name);
        plain(TEXT, start, end);
      },
      onPassed: (start: number, length: number) => plain(PASSED, start, start + length),
      onEndMark: (start: number, end: number) => plain(END_MARK, start, end),
      onSeries: (start: number, valueAt: number, name: string, sample: Sample) => {
        const index = names.get(name) ?? names.size;
        names.set(name, index);
        counts[index] = (counts[index] ?? 0) + 1;
        const isRead = wish.isRead(name);
        const labels = isRead ? { labelNames: sample.labelNames, labelValues: sample.labelValues.map(once) } : null;
        lines.push({ start, length: valueAt - start, kind: SERIES, name: isRead ? index : -1, labels });
      },
    },
    layoutOf: (octets: Buffer, { samples }: Page): Layout => ({
      wish,
      octets: Buffer.from(octets),
      lines,
      names: [...names.keys()],
      malformed,
      doubled: new Set([...names].flatMap(([name, at]) => (counts[at] === samples.get(name)?.length ? [] : [name]))),
    }),
  };
};

/** @returns null where the page is not laid out like that */
const readBy = (layout: Layout, octets: Buffer): Page | null => {
  const { wish, octets: known, lines, names, malformed, doubled } = layout;
  const lists = names.map((): Sample[] => []);
  let at = lines[0]?.start ?? 0;
  if (!isSame(octets, 0, known, 0, at)) return null;
  for (const line of lines) {
    at = afterLine(line, layout, octets, at, lists);
    if (at === DIFFERENT) return null;
  }
  // After an end mark anything may stand; without one, OpenMetrics is half-sent.
  if (lines.at(-1)?.kind !== END_MARK && (at !== octets.length || wish.isOpenMetrics)) return null;
  return pageOf(new Map(names.map((name, index) => [name, lists[index] ?? []])), malformed, (name) =>
    doubled.has(name),
  );
};

const DIFFERENT = -1;

/** @returns where the next line begins, or that this one differs */
const afterLine = (
  line: LineLayout,
  { octets: known }: Layout,
  octets: Buffer,
  at: number,
  lists: Sample[][],
): number => {
  const valueAt = at + line.length;
  if (!isSame(octets, at, known, line.start, line.length)) return DIFFERENT;
  if (line.kind === TEXT) return valueAt;
  if (line.kind === END_MARK)
    return known[line.start + line.length - 1] === LINE_FEED ? valueAt : wholeEnd(octets, valueAt);
  if (line.kind === SERIES && !isTaken(line, numberAt(octets, valueAt), lists)) return DIFFERENT;
  const end = lineEnd(octets, valueAt);
  return end === -1 ? DIFFERENT : end + 1;
};

const wholeEnd = (octets: Buffer, at: number): number => (at === octets.length ? at : DIFFERENT);

const isTaken = ({ name, labels }: LineLayout, value: number | null, lists: Sample[][]): boolean => {
  if (value === null) return false;
  if (labels !== null) lists[name]?.push({ labelNames: labels.labelNames, labelValues: labels.labelValues, value });
  return true;
};

const LINE_FEED = 0x0a;
