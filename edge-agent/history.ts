/** The last minute of one replica: its scrapes since it started, and the signs that several processes answer under one address. */
import type { Counters, Cumulative, StartedAt } from "./engines/engine.ts";

/** How far back rates look. Counters that advance only when a request ends come in bursts; less than 30 s shows them. */
export const WINDOW_MS = 60_000;

export type Scrape = {
  /** On the agent's monotonic clock. */
  readonly atMs: number;
  /** For a start that was seen and not told; epoch ms. */
  readonly atEpochMs: number;
  readonly startedAt: StartedAt | null;
  readonly counters: Counters;
};

export type History = {
  /** Oldest first, all of one process, none older than the window; after a restart they begin with zeros. */
  readonly scrapes: readonly Scrape[];
  /** Several processes answer under this address, so that nothing may be subtracted. */
  readonly isShared: boolean;
  /** Epoch ms of the last restart that only falling counters told; null: none. */
  readonly restartSeenAtMs: number | null;
  readonly signs: Signs;
};

/** What tells several processes from one that restarts. */
type Signs = {
  /** Start times in the order they were seen, the newest last. */
  readonly starts: readonly StartedAt[];
  /** Whether counters fell without a new start time, in each of the last steps. */
  readonly fell: readonly boolean[];
  /** Monotonic ms of the last sign; null: never. */
  readonly sharedAtMs: number | null;
};

/** Two falls within this many steps are no restarts. */
const STEPS = 3;
const FALLS = 2;
const MOST_STARTS = 8;
/** Start times are computed from an uptime by some exporters, and then tremble. */
const SAME_START_WITHIN_MS = 1_000;

const NO_SIGNS: Signs = { starts: [], fell: [], sharedAtMs: null };

/** @param windowMs longer only for captured payloads that lie further apart */
export const observe = (history: History | null, scrape: Scrape, windowMs = WINDOW_MS): History => {
  const before = history?.scrapes.at(-1) ?? null;
  const isMoved = before !== null && hasMoved(before.startedAt, scrape.startedAt);
  const hasFallen =
    before !== null && (someFell(history?.scrapes ?? [], scrape.counters) || allGone(before.counters, scrape.counters));
  const signs = signsAfter(history?.signs ?? NO_SIGNS, scrape, { isMoved, hasFallen });
  const earlier = thinned(history?.scrapes.filter(({ atMs }) => atMs >= scrape.atMs - windowMs) ?? []);
  const isRestart = isMoved || hasFallen;
  return {
    scrapes: isRestart && before !== null ? [zeroed(before, scrape), scrape] : [...earlier, scrape],
    isShared: signs.sharedAtMs !== null && scrape.atMs - signs.sharedAtMs <= windowMs,
    restartSeenAtMs: hasFallen && !isMoved ? scrape.atEpochMs : seenBefore(history, scrape),
    signs,
  };
};

/** Never later than now: a clock that was ahead and was set back would void what is held until it gets there again. */
const seenBefore = (history: History | null, { atEpochMs }: Scrape): number | null => {
  const seenAtMs = history?.restartSeenAtMs ?? null;
  return seenAtMs === null ? null : Math.min(seenAtMs, atEpochMs);
};

/** Two scrapes closer together than this say the same of a minute; all of them from sixteen busy engines are 30 MB. */
const LEAST_SPACING_MS = 3_900;

/** The newest but one gives way where it came soon after the one before it. */
const thinned = (scrapes: readonly Scrape[]): readonly Scrape[] => {
  const [before, last] = scrapes.slice(-2);
  const isClose = before !== undefined && last !== undefined && last.atMs - before.atMs < LEAST_SPACING_MS;
  return isClose ? scrapes.slice(0, -1) : scrapes;
};

const hasMoved = (before: StartedAt | null, now: StartedAt | null): boolean =>
  before !== null && now !== null && before.source === now.source && !isSameStart(before, now);

const isSameStart = (a: StartedAt, b: StartedAt): boolean =>
  a.source === b.source && Math.abs(a.atMs - b.atMs) <= SAME_START_WITHIN_MS;

/** What engines count themselves; differences of counters may tremble and say nothing here. */
const COUNTED = [
  "promptTokens",
  "outputTokens",
  "prefixCache",
  "prefill",
  "prefillBusy",
  "decode",
  "firstToken",
] as const;

/** Against the last scrape that has the same source: series with labels are away after a restart until they are used again. */
const someFell = (scrapes: readonly Scrape[], now: Counters): boolean =>
  COUNTED.some((quantity) =>
    now[quantity].some(({ source, values }) => {
      const earlier = lastOf(scrapes, quantity, source);
      return earlier?.values.length === values.length && values.some((value, at) => value < (earlier.values[at] ?? 0));
    }),
  );

const lastOf = (scrapes: readonly Scrape[], quantity: (typeof COUNTED)[number], source: string): Cumulative | null => {
  for (let at = scrapes.length - 1; at >= 0; at -= 1) {
    const found = scrapes[at]?.counters[quantity].find((one) => one.source === source);
    if (found !== undefined) return found;
  }
  return null;
};

/** Engines whose counters appear with their first use have none right after a restart. */
const allGone = (before: Counters, now: Counters): boolean => {
  const countedBefore = COUNTED.flatMap((quantity) => before[quantity]);
  const isCounting = COUNTED.some((quantity) => now[quantity].length > 0);
  return !isCounting && countedBefore.some(({ values }) => values.some((value) => value > 0));
};

type Step = { readonly isMoved: boolean; readonly hasFallen: boolean };

const signsAfter = (signs: Signs, { atMs, startedAt }: Scrape, { isMoved, hasFallen }: Step): Signs => {
  const fell = [...signs.fell, hasFallen && !isMoved].slice(-STEPS);
  const isBack = startedAt !== null && isMoved && signs.starts.some((start) => isSameStart(start, startedAt));
  const hasFallenOften = fell.filter(Boolean).length >= FALLS;
  return {
    starts: startedAt === null || isBack ? signs.starts : startsWith(signs.starts, startedAt),
    fell,
    sharedAtMs: isBack || hasFallenOften ? atMs : signs.sharedAtMs,
  };
};

const startsWith = (starts: readonly StartedAt[], start: StartedAt): readonly StartedAt[] =>
  starts.some((known) => isSameStart(known, start)) ? starts : [...starts, start].slice(-MOST_STARTS);

/** A new process counts from zero: what it has counted came since the scrape before. */
const zeroed = (before: Scrape, now: Scrape): Scrape => {
  const zeros = (list: readonly Cumulative[]): readonly Cumulative[] =>
    list.map(({ source, values }) => ({ source, values: values.map(() => 0) }));
  const { counters } = now;
  return {
    ...now,
    atMs: before.atMs,
    atEpochMs: before.atEpochMs,
    counters: {
      ...counters,
      computedTokens: zeros(counters.computedTokens),
      promptTokens: zeros(counters.promptTokens),
      outputTokens: zeros(counters.outputTokens),
      prefixCache: zeros(counters.prefixCache),
      prefill: zeros(counters.prefill),
      prefillBusy: zeros(counters.prefillBusy),
      decode: zeros(counters.decode),
      interToken: zeros(counters.interToken),
      firstToken: zeros(counters.firstToken),
    },
  };
};
