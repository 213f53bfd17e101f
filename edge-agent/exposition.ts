/** Prometheus text 0.0.4 and OpenMetrics pages as samples by name: tolerant, fast, never throws, and honest about what it could not read. */
import { readLine, type Sample } from "./exposition-line.ts";
import { lineEnd, startsWith } from "./exposition-octets.ts";
import { distinctSeries } from "./exposition-series.ts";

/** Why something is not known: which field or sample name, and a code such as `missing`, `not-finite` or `half-sent`. */
export type Fault = { readonly field: string; readonly code: string };

export type Page = {
  /** By sample name, never by family: OpenMetrics families drop the `_total` that samples keep. Empty where the page is half-sent. */
  readonly samples: ReadonlyMap<string, readonly Sample[]>;
  /** Names of which one series stands twice with different values; that series is here once, with the value NaN. */
  readonly contradicted: ReadonlySet<string>;
  readonly faults: readonly Fault[];
};

export const EMPTY_PAGE: Page = { samples: new Map(), contradicted: new Set(), faults: [] };

/** The field of faults that concern a whole page. */
export const WHOLE_PAGE = "page";

const HALF_SENT: Page = { ...EMPTY_PAGE, faults: [{ field: WHOLE_PAGE, code: "half-sent" }] };

/** How many malformed or doubled names are told one by one. */
const MOST_NAMED = 16;

export type PageWish = {
  /** As the Content-Type says; false where nobody knows. */
  readonly isOpenMetrics: boolean;
  /**
   * Whether anybody looks at the series of a name; of others only the name is kept, and their lines are passed over unseen.
   * Most of a page are buckets of histograms that nobody reads.
   */
  readonly isRead: (name: string) => boolean;
};

export const EVERYTHING: PageWish = { isOpenMetrics: false, isRead: () => true };

/** Hears where each line stands and what it is; offsets are octets of the page. */
export type LineLog = {
  /** A comment, a blank line or a malformed one, its line feed included; `malformed`: what is named of it. */
  readonly onText: (start: number, end: number, malformed: string | null) => void;
  /** Passed over because it begins like this. */
  readonly onPassed: (start: number, beginning: number) => void;
  /** `valueAt`: where its value begins. */
  readonly onSeries: (start: number, valueAt: number, name: string, sample: Sample) => void;
  readonly onEndMark: (start: number, end: number) => void;
};

/** @param text as parseOctets reads it */
export const parseExposition = (text: string, wish: Partial<PageWish> = {}): Page =>
  parseOctets(Buffer.from(text), { ...EVERYTHING, ...wish }, null);

/**
 * @param octets the whole body, UTF-8. One that ends inside a line, or an OpenMetrics one without `# EOF`, is half-sent: nothing in
 * it can be trusted, since a sum over half of the series looks like a small sum.
 */
export const parseOctets = (octets: Buffer, { isOpenMetrics, isRead }: PageWish, log: LineLog | null): Page => {
  const found = createFound(isRead);
  for (let at = startsWith(octets, 0, BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0; at < octets.length; ) {
    const end = lineEnd(octets, at);
    if (isEndMark(octets, at, end)) {
      log?.onEndMark(at, end === -1 ? octets.length : end + 1);
      return pageOf(found.samples, found.malformed);
    }
    if (end === -1) return HALF_SENT;
    if (found.unread.length > 0 && startsWith(octets, at, found.unread)) log?.onPassed(at, found.unread.length);
    else found.take(octets, at, end, log);
    at = end + 1;
  }
  return isOpenMetrics ? HALF_SENT : pageOf(found.samples, found.malformed);
};

const BYTE_ORDER_MARK = Buffer.from("\uFEFF");
const NOTHING = Buffer.alloc(0);

/** What was found line by line. */
type Found = {
  readonly samples: ReadonlyMap<string, readonly Sample[]>;
  readonly malformed: ReadonlySet<string>;
  /** How lines begin that nobody looks at; empty: none was met. */
  readonly unread: Buffer;
  readonly take: (octets: Buffer, at: number, end: number, log: LineLog | null) => void;
};

const createFound = (isRead: (name: string) => boolean): Found => {
  const samples = new Map<string, Sample[]>();
  const malformed = new Set<string>();
  let unread = NOTHING;
  const expectedLabels = (name: string): readonly string[] => samples.get(name)?.[0]?.labelNames ?? [];
  const add = (name: string, sample: Sample): void => {
    const isWanted = isRead(name);
    if (!isWanted) unread = Buffer.from(`${name}{`);
    const sameName = samples.get(name);
    if (sameName === undefined) samples.set(name, isWanted ? [sample] : []);
    else if (isWanted) sameName.push(sample);
  };
  return {
    samples,
    malformed,
    get unread() {
      return unread;
    },
    take: (octets, at, end, log) => {
      const line = octets.toString("utf8", at, end);
      const read = readLine(line, expectedLabels);
      if (read === null) log?.onText(at, end + 1, null);
      else if (read.kind === "malformed") {
        malformed.add(read.name);
        log?.onText(at, end + 1, read.name);
      } else {
        add(read.name, read.sample);
        log?.onSeries(at, at + Buffer.byteLength(line.slice(0, read.valueAt)), read.name, read.sample);
      }
    },
  };
};

const END_MARK = Buffer.from("# EOF");
const AFTER_END_MARK = /^[ \t\r]*$/;

const isEndMark = (octets: Buffer, at: number, end: number): boolean =>
  startsWith(octets, at, END_MARK) &&
  AFTER_END_MARK.test(octets.toString("latin1", at + END_MARK.length, end === -1 ? octets.length : end));

/** @param isDoubtful whether a series of that name may stand twice */
export const pageOf = (
  found: ReadonlyMap<string, readonly Sample[]>,
  malformed: ReadonlySet<string>,
  isDoubtful: (name: string) => boolean = () => true,
): Page => {
  const samples = new Map<string, readonly Sample[]>();
  const doubled = new Set<string>();
  const contradicted = new Set<string>();
  for (const [name, list] of found) {
    const series = isDoubtful(name) ? distinctSeries(list) : null;
    samples.set(name, series?.samples ?? list);
    if (series?.isDoubled) doubled.add(name);
    if (series?.isContradicted) contradicted.add(name);
  }
  return { samples, contradicted, faults: [...named(malformed, "malformed-line"), ...named(doubled, "duplicate")] };
};

/** In the order of the names, so that the order of lines changes nothing. */
const named = (names: ReadonlySet<string>, code: string): readonly Fault[] =>
  [...names]
    .sort()
    .slice(0, MOST_NAMED)
    .map((name) => ({ field: name === "" ? WHOLE_PAGE : name, code }));
