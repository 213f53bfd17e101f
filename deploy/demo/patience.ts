/** How the story waits: for what must become so, and, however long that takes within reason, for a Redis that is away. */
import { setTimeout as sleep } from "node:timers/promises";
import { AdminRefusal } from "./admin.ts";
import { expect, seconds } from "./expectation.ts";
import type { GtmSeat } from "./stack.ts";

/** Returns null while it is not so yet. */
export type Look<Value> = () => Promise<Value | null>;

export type Patience = {
  /**
   * Looks until it is so, at most 10 s. The time while Redis is away does not count, up to 30 s of it: who takes Redis away
   * while the story is told has that long to bring it back.
   *
   * @param missing says what was waited for in vain
   * @throws {Error} when it does not become so, and what `look` throws
   */
  readonly until: <Value>(look: Look<Value>, missing: () => string) => Promise<Value>;
  /** The same where Redis is meant to be away: all time counts. */
  readonly soon: <Value>(look: Look<Value>, missing: () => string) => Promise<Value>;
  /** What needs the store is done as soon as it is back. */
  readonly insist: <Value>(act: () => Promise<Value>, what: string) => Promise<Value>;
};

const PATIENCE_MS = 10_000;
const AWAY_PATIENCE_MS = 30_000;
/** Programs that find Redis again need no remark. */
const REMARKABLE_MS = 3_000;
const LOOK_EVERY_MS = 100;
const SERVICE_UNAVAILABLE = 503;

/** @param say takes a line about a wait that is not part of the story */
export const createPatience = (gtms: readonly GtmSeat[], say: (line: string) => void): Patience => {
  const isAway = async (): Promise<boolean> => {
    const all = await Promise.all(gtms.map(({ admin }) => admin.status()));
    return all.some(({ isStoreUp }) => !isStoreUp);
  };
  /** Waits at the same time say it once. */
  let tellers = 0;
  /** How much of its time a wait has left, told to people where Redis takes some of it. */
  const createBudget = (missing: () => string) => {
    let waitedMs = 0;
    let awayMs = 0;
    let isTold = false;
    return {
      spend: (tookMs: number, isExcused: boolean): void => {
        if (isExcused) awayMs += tookMs;
        else waitedMs += tookMs;
        if (awayMs > REMARKABLE_MS && !isTold) {
          if (tellers === 0) say(`Redis is away: this step waits for it, at most ${AWAY_PATIENCE_MS / 1_000} s.`);
          tellers += 1;
          isTold = true;
        }
        expect(awayMs < AWAY_PATIENCE_MS, `Redis stayed away for ${seconds(awayMs)}`);
        expect(waitedMs < PATIENCE_MS, `${missing()}, within ${seconds(PATIENCE_MS)}`);
      },
      end: (): void => {
        if (!isTold) return;
        tellers -= 1;
        if (tellers === 0) say(`Redis was away for ${seconds(awayMs)} of this step.`);
      },
    };
  };
  const wait = async <Value>(look: Look<Value>, missing: () => string, isExcused: () => Promise<boolean>) => {
    const budget = createBudget(missing);
    for (;;) {
      const startedAtMs = performance.now();
      const found = await look();
      if (found !== null) {
        budget.end();
        return found;
      }
      await sleep(LOOK_EVERY_MS);
      budget.spend(performance.now() - startedAtMs, await isExcused());
    }
  };
  const until: Patience["until"] = (look, missing) => wait(look, missing, isAway);
  return {
    until,
    soon: (look, missing) => wait(look, missing, async () => false),
    insist: async (act, what) => {
      let why = "";
      const done = await until(
        async () => {
          try {
            return { value: await act() };
          } catch (fault) {
            if (!(fault instanceof AdminRefusal) || fault.status !== SERVICE_UNAVAILABLE) throw fault;
            why = fault.message;
            return null;
          }
        },
        () => `${what} was refused (${why})`,
      );
      return done.value;
    },
  };
};
