/** A page read by the one before it: exporters write the same lines in the same order, and then only numbers have to be read. */
import { type Page, type PageWish, pageOf, parseOctets, WHOLE_PAGE } from "./exposition.ts";
import type { Sample } from "./exposition-line.ts";
import { isSame, lineEnd, numberAt } from "./exposition-octets.ts";

/** How a page was laid out. Nothing of it changes but the values of its samples, with each page that is read by it. */
type Layout = {
  readonly wish: PageWish;
  /** The page that it was made of. */
  readonly octets: Buffer;
  /** COLUMNS numbers a line. */
  readonly lines: Int32Array;
  /** The samples that anybody looks at, in the order of their lines. */
  readonly slots: readonly Slot[];
  readonly pageNow: () => Page;
};

/** A sample whose value is written over by the next page: its labels are those of its line. */
type Slot = { -readonly [Name in keyof Sample]: Sample[Name] };

/** Of a line: where it stood, how many octets of it must be the same, its kind, and which slot its value goes to, or NO_SLOT. */
const START = 0;
const LENGTH = 1;
const KIND = 2;
const SLOT = 3;
const COLUMNS = 4;
const NO_SLOT = -1;

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
 * Pages that were read by one layout share their samples, so that nothing is made anew but numbers, and what was learnt of a list
 * of samples and their labels holds for the next page, too: the page is valid until the next one is read by that memory.
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
  const lines: number[] = [];
  const slots: Slot[] = [];
  const found = new Map<string, Slot[]>();
  const counts = new Map<string, number>();
  const malformed = new Set<string>();
  const texts = new Map<string, string>();
  /** Values of labels repeat from line to line, and each is a part of its line, which it would keep. */
  const once = (text: string): string => {
    const known = texts.get(text) ?? text;
    texts.set(known, known);
    return known;
  };
  const line = (kind: Kind, start: number, end: number, slot = NO_SLOT): void =>
    void lines.push(start, end - start, kind, slot);
  return {
    log: {
      onText: (start: number, end: number, name: string | null) => {
        if (name !== null) malformed.add(name);
        line(TEXT, start, end);
      },
      onPassed: (start: number, length: number) => line(PASSED, start, start + length),
      onEndMark: (start: number, end: number) => line(END_MARK, start, end),
      onSeries: (start: number, valueAt: number, name: string, sample: Sample) => {
        const list = found.get(name) ?? [];
        found.set(name, list);
        counts.set(name, (counts.get(name) ?? 0) + 1);
        if (!wish.isRead(name)) return line(SERIES, start, valueAt);
        const slot = { ...sample, labelValues: sample.labelValues.map(once) };
        line(SERIES, start, valueAt, slots.push(slot) - 1);
        list.push(slot);
      },
    },
    layoutOf: (octets: Buffer, { samples }: Page): Layout => {
      const doubled = new Set(
        [...counts].flatMap(([name, count]) => (count === samples.get(name)?.length ? [] : [name])),
      );
      const pageNow = (): Page => pageOf(found, malformed, (name) => doubled.has(name));
      const page = pageNow();
      // Series that stand twice are held against each other by their values.
      const isDoubled = page.faults.some(({ code }) => code === "duplicate");
      return {
        wish,
        octets: Buffer.from(octets),
        lines: Int32Array.from(lines),
        slots,
        pageNow: isDoubled ? pageNow : () => page,
      };
    },
  };
};

/** @returns null where the page is not laid out like that */
const readBy = (layout: Layout, octets: Buffer): Page | null => {
  const { wish, octets: known, lines } = layout;
  let at = lines[START] ?? 0;
  if (!isSame(octets, 0, known, 0, at)) return null;
  for (let line = 0; line < lines.length; line += COLUMNS) {
    at = afterLine(line, layout, octets, at);
    if (at === DIFFERENT) return null;
  }
  // After an end mark anything may stand; without one, OpenMetrics is half-sent.
  const isEnded = lines.length > 0 && lines[lines.length - COLUMNS + KIND] === END_MARK;
  return isEnded || (at === octets.length && !wish.isOpenMetrics) ? layout.pageNow() : null;
};

const DIFFERENT = -1;

/** @returns where the next line begins, or that this one differs */
const afterLine = (line: number, { octets: known, lines, slots }: Layout, octets: Buffer, at: number): number => {
  const start = lines[line + START] ?? 0;
  const length = lines[line + LENGTH] ?? 0;
  const kind = lines[line + KIND];
  const valueAt = at + length;
  if (!isSame(octets, at, known, start, length)) return DIFFERENT;
  if (kind === TEXT) return valueAt;
  if (kind === END_MARK) return known[start + length - 1] === LINE_FEED ? valueAt : wholeEnd(octets, valueAt);
  if (kind === SERIES) {
    const value = numberAt(octets, valueAt);
    if (value === null) return DIFFERENT;
    const slot = slots[lines[line + SLOT] ?? NO_SLOT];
    if (slot !== undefined) slot.value = value;
  }
  const end = lineEnd(octets, valueAt);
  return end === -1 ? DIFFERENT : end + 1;
};

const wholeEnd = (octets: Buffer, at: number): number => (at === octets.length ? at : DIFFERENT);

const LINE_FEED = 0x0a;
