/** Labels that were looked up lately: at most once a second, however often they are asked. */
import { LRUCache } from "lru-cache";
import type { Ports } from "#gtm/steering/ports.ts";
import type { Clock } from "#shared/clock.ts";
import type { FindLabel, FoundLabel } from "./label-finder.ts";

export type StandingLabels<Answer> = {
  /** What was found within the last second, for as long as no region's candidacy changed; null: it must be looked up. */
  readonly standing: (label: string) => Answer | null;
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
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly find: FindLabel;
  /** Made once of what was found. */
  readonly answerOf: (found: FoundLabel) => Answer;
};

const STANDS_MS = 1_000;
const MOST_LABELS = 32_768;
const MOST_LOOK_UPS = 1_024;

export const createStandingLabels = <Answer>(options: StandingLabelOptions<Answer>): StandingLabels<Answer> => {
  const { ports, clock, find, answerOf } = options;
  type Kept = { readonly answer: Answer; readonly atMs: number; readonly candidacyVersion: number };
  const kept = new LRUCache<string, Kept>({ max: MOST_LABELS });
  const underWay = new Map<string, Promise<Answer>>();

  const findAndKeep = async (label: string, clientSubnet: string): Promise<Answer> => {
    try {
      const found = await find(label, clientSubnet);
      const { atMs, candidacyVersion } = found;
      const answer = answerOf(found);
      kept.set(label, { answer, atMs, candidacyVersion });
      return answer;
    } finally {
      underWay.delete(label);
    }
  };

  return {
    standing: (label) => {
      const found = kept.get(label);
      if (found === undefined || clock.monotonicMs() - found.atMs >= STANDS_MS) return null;
      return found.candidacyVersion === ports.world().candidacyVersion ? found.answer : null;
    },
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
