/** Prometheus text 0.0.4 and OpenMetrics pages as samples by name: tolerant, fast, never throws, and honest about what it could not read. */
import { readLine, type Sample } from "./exposition-line.ts";
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

const everything = (): boolean => true;

/**
 * @param isRead whether anybody looks at the series of a name; of others only the name is kept, and their lines are passed over
 * unseen. Most of a page are buckets of histograms that nobody reads.
 * @param text the whole body. One that ends inside a line, or an OpenMetrics one without `# EOF`, is half-sent: nothing in
 * it can be trusted, since a sum over half of the series looks like a small sum.
 * @param isOpenMetrics as the Content-Type says; false where nobody knows
 */
export const parseExposition = (
  text: string,
  isOpenMetrics = false,
  isRead: (name: string) => boolean = everything,
): Page => {
  const found = createFound(isRead);
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf("\n", at);
    if (isEndMark(text, at, end)) return pageOf(found);
    if (end === -1) return HALF_SENT;
    if (!found.isUnread(text, at)) found.take(text.slice(at, end));
    at = end + 1;
  }
  return isOpenMetrics ? HALF_SENT : pageOf(found);
};

type Found = { readonly samples: ReadonlyMap<string, readonly Sample[]>; readonly malformed: ReadonlySet<string> };

/** What was found line by line. */
const createFound = (isRead: (name: string) => boolean) => {
  const samples = new Map<string, Sample[]>();
  const malformed = new Set<string>();
  const expectedLabels = (name: string): readonly string[] => samples.get(name)?.[0]?.labelNames ?? [];
  /** How lines begin that nobody looks at; "": none was met. */
  let unread = "";
  const add = (name: string, sample: Sample): void => {
    const isWanted = isRead(name);
    if (!isWanted) unread = `${name}{`;
    const sameName = samples.get(name);
    if (sameName === undefined) samples.set(name, isWanted ? [sample] : []);
    else if (isWanted) sameName.push(sample);
  };
  return {
    samples,
    malformed,
    /** Whether the line that begins there is another of a name that nobody looks at. */
    isUnread: (text: string, at: number): boolean => unread !== "" && text.startsWith(unread, at),
    take: (line: string): void => {
      const read = readLine(line, expectedLabels);
      if (read?.kind === "malformed") malformed.add(read.name);
      else if (read?.kind === "sample") add(read.name, read.sample);
    },
  };
};

const END_MARK = /^# EOF[ \t\r]*$/;

const isEndMark = (text: string, at: number, end: number): boolean =>
  text.startsWith("# EOF", at) && END_MARK.test(text.slice(at, end === -1 ? text.length : end));

const pageOf = ({ samples: found, malformed }: Found): Page => {
  const samples = new Map<string, readonly Sample[]>();
  const doubled = new Set<string>();
  const contradicted = new Set<string>();
  for (const [name, list] of found) {
    const series = distinctSeries(list);
    samples.set(name, series.samples);
    if (series.isDoubled) doubled.add(name);
    if (series.isContradicted) contradicted.add(name);
  }
  return { samples, contradicted, faults: [...named(malformed, "malformed-line"), ...named(doubled, "duplicate")] };
};

/** In the order of the names, so that the order of lines changes nothing. */
const named = (names: ReadonlySet<string>, code: string): readonly Fault[] =>
  [...names]
    .sort()
    .slice(0, MOST_NAMED)
    .map((name) => ({ field: name === "" ? WHOLE_PAGE : name, code }));
