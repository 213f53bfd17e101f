/** Labels that were looked up lately: at most once a second, however often they are asked; where nothing changed, less often. */
import { LRUCache } from "lru-cache";
import type { Ports } from "#gtm/steering/ports.ts";
import type { ConfirmLabel } from "./label-confirm.ts";
import type { FindLabel, FoundLabel } from "./label-finder.ts";

/** What was found of a label, for as long as it holds. */
export type Standing<Answer> = {
  readonly answer: Answer;
  readonly found: FoundLabel;
  confirmedAtMs: number;
};

export type StandingLabels<Answer> = {
  /**
   * What was found within the last second by the world's own time, or is confirmed and was found within the last thirty, for as
   * long as no region's candidacy changed; null: it must be looked up.
   */
  readonly standing: (label: string) => Answer | null;
  /** What was found last, whether or not it still holds; null: nothing lately. */
  readonly last: (label: string) => Standing<Answer> | null;
  /** Whether it may be answered, as `standing` says. */
  readonly holds: (one: Standing<Answer>) => boolean;
  /** When what stands was found, or confirmed last. */
  readonly asOfMs: (label: string) => number;
  /**
   * Looks a label up; queries for the same label share one look-up.
   *
   * @param clientSubnet of whoever asks first, for the record
   * @returns null: so many look-ups are under way that this one is not begun
   */
  readonly lookUp: (label: string, clientSubnet: string) => Promise<Answer> | null;
};

export type StandingLabelOptions<Answer> = {
  readonly ports: Pick<Ports, "world">;
  readonly find: FindLabel;
  /** By which time what was found gets old: the world's own, or where worlds come seldom the clock. */
  readonly nowMs: () => number;
  /** null: nobody here knows, and every second it is looked up. */
  readonly confirm: ConfirmLabel | null;
  /** Made once of what was found. */
  readonly answerOf: (found: FoundLabel) => Answer;
};

const STANDS_MS = 1_000;
/** Then it is decided and recorded anew, whatever is confirmed, so that the record is never old. */
const CONFIRMED_MS = 30_000;
const MOST_LABELS = 32_768;
const MOST_LOOK_UPS = 1_024;

export const createStandingLabels = <Answer>(options: StandingLabelOptions<Answer>): StandingLabels<Answer> => {
  const { ports, find, nowMs, confirm, answerOf } = options;
  const kept = new LRUCache<string, Standing<Answer>>({ max: MOST_LABELS });
  const underWay = new Map<string, Promise<Answer>>();

  const findAndKeep = async (label: string, clientSubnet: string): Promise<Answer> => {
    try {
      const found = await find(label, clientSubnet);
      const answer = answerOf(found);
      kept.set(label, { answer, found, confirmedAtMs: found.atMs });
      return answer;
    } finally {
      underWay.delete(label);
    }
  };

  const holds = (one: Standing<Answer>): boolean => {
    if (one.found.candidacyVersion !== ports.world().candidacyVersion) return false;
    const atMs = nowMs();
    if (atMs - one.confirmedAtMs < STANDS_MS) return true;
    if (atMs - one.found.atMs >= CONFIRMED_MS || confirm === null || !confirm(one.found)) return false;
    one.confirmedAtMs = atMs;
    return true;
  };

  return {
    standing: (label) => {
      const one = kept.get(label);
      return one !== undefined && holds(one) ? one.answer : null;
    },
    last: (label) => kept.get(label) ?? null,
    holds,
    asOfMs: (label) => kept.peek(label)?.confirmedAtMs ?? nowMs(),
    lookUp: (label, clientSubnet) => {
      const sharing = underWay.get(label);
      if (sharing !== undefined) return sharing;
      if (underWay.size >= MOST_LOOK_UPS) return null;
      const started = findAndKeep(label, clientSubnet);
      underWay.set(label, started);
      return started;
    },
  };
};
