/** Asks many sources round after round: none overlaps itself, none that is late delays the others, none that is dead is asked each time. */
import type { Clock } from "#shared/clock.ts";

export type Poll<T> = {
  /** By which rounds know it. */
  readonly key: string;
  /** Ends within a deadline of its own. Never rejects. */
  readonly ask: (signal: AbortSignal) => Promise<T>;
  /** Whether anything answered, well or not. */
  readonly isAnswer: (answer: T) => boolean;
};

export type PollsBy = {
  readonly clock: Clock;
  readonly waitUntil: (atMs: number, signal: AbortSignal) => Promise<void>;
  /** 0 to 1. */
  readonly random: () => number;
  /** A round waits so long for those that were in time before; the others come in when they come. */
  readonly patienceMs: number;
  /** For those that were never asked before: a first report without them says less than a late one. */
  readonly firstPatienceMs: number;
  /** Sources begin spread over so much time, so that they neither answer nor are read all at once. */
  readonly spreadMs: number;
  /** How many are asked at once. */
  readonly most: number;
  readonly onAsked: (key: string, isAnswered: boolean, tookMs: number) => void;
};

export type Polls<T> = {
  /** What has come in since the last round, by key. Sources that are not wanted any more are forgotten. */
  readonly round: (wanted: readonly Poll<T>[], signal: AbortSignal) => Promise<ReadonlyMap<string, T>>;
};

/** After one failure a source is asked in the next round, then after 1, 2, 4 s, and at the latest after this. */
export const MOST_BACK_OFF_MS = 5_000;
const FIRST_BACK_OFF_MS = 500;
/** A part of the back-off is left to chance, so that those who died together are not asked together. */
const CHANCE_FRACTION = 0.2;

type Source<T> = {
  readonly phaseMs: number;
  flight: Promise<void> | null;
  /** null: nothing new. */
  news: { readonly answer: T } | null;
  /** Whether it answered in time when it was last asked. */
  isPunctual: boolean;
  isNew: boolean;
  failures: number;
  dueAtMs: number;
};

export const createPolls = <T>(by: PollsBy): Polls<T> => {
  const { clock } = by;
  const sources = new Map<string, Source<T>>();
  const turnstile = createTurnstile(by.most);

  const fly = async ({ key, ask, isAnswer }: Poll<T>, source: Source<T>, signal: AbortSignal): Promise<void> => {
    if (source.phaseMs > 0) await by.waitUntil(clock.monotonicMs() + source.phaseMs, signal);
    await turnstile.enter();
    const startedAtMs = clock.monotonicMs();
    try {
      const answer = await ask(signal);
      const endedAtMs = clock.monotonicMs();
      const isAnswered = isAnswer(answer);
      source.news = { answer };
      source.failures = isAnswered ? 0 : source.failures + 1;
      source.isPunctual = isAnswered && endedAtMs - startedAtMs <= by.patienceMs;
      source.dueAtMs = isAnswered ? endedAtMs : endedAtMs + backOffMs(source.failures, by.random());
      by.onAsked(key, isAnswered, endedAtMs - startedAtMs);
    } finally {
      source.flight = null;
      turnstile.leave();
    }
  };

  const forgetAllBut = (keys: ReadonlySet<string>): void => {
    for (const key of sources.keys()) if (!keys.has(key)) sources.delete(key);
  };
  /** @returns the flights that the round waits for */
  const begin = (wanted: readonly Poll<T>[], signal: AbortSignal): readonly Promise<void>[] =>
    wanted.flatMap((poll) => {
      const source = sources.get(poll.key) ?? newSource<T>(by.random() * by.spreadMs);
      sources.set(poll.key, source);
      if (source.flight === null && clock.monotonicMs() >= source.dueAtMs) source.flight = fly(poll, source, signal);
      return source.flight !== null && source.isPunctual ? [source.flight] : [];
    });
  const collected = (): ReadonlyMap<string, T> => {
    const news = new Map<string, T>();
    for (const [key, source] of sources) {
      if (source.flight !== null) source.isPunctual = false;
      if (source.news !== null) news.set(key, source.news.answer);
      source.news = null;
      source.isNew = false;
    }
    return news;
  };
  return {
    round: async (wanted, signal) => {
      forgetAllBut(new Set(wanted.map(({ key }) => key)));
      const awaited = begin(wanted, signal);
      const done = new AbortController();
      const isFirst = [...sources.values()].some(({ isNew }) => isNew);
      const untilMs = clock.monotonicMs() + (isFirst ? by.firstPatienceMs : by.patienceMs);
      const patience = by.waitUntil(untilMs, AbortSignal.any([signal, done.signal]));
      await Promise.race([Promise.all(awaited), patience]);
      done.abort();
      return collected();
    },
  };
};

const newSource = <T>(phaseMs: number): Source<T> => ({
  phaseMs,
  flight: null,
  news: null,
  isPunctual: true,
  isNew: true,
  failures: 0,
  dueAtMs: Number.NEGATIVE_INFINITY,
});

/** @param failures in a row, from 1 */
export const backOffMs = (failures: number, chance: number): number =>
  Math.min(MOST_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** Math.min(failures - 1, 16)) * (1 - CHANCE_FRACTION * chance);

/** Lets so many through at once, in the order in which they came. */
const createTurnstile = (most: number) => {
  const waiting: (() => void)[] = [];
  let free = most;
  return {
    enter: (): Promise<void> => {
      if (free > 0) {
        free -= 1;
        return Promise.resolve();
      }
      return new Promise((resolve) => waiting.push(resolve));
    },
    leave: (): void => {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    },
  };
};
