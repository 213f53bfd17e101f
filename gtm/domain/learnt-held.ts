/** What teaches c_r of each placement: turns of which a gateway saw how much was cached, else what the engines say of all. */

import type { ModelId, RegionId } from "#shared/ids.ts";
import { HELD_HABIT, heldObservedByShare, heldObserved as observedOf } from "./held-observed.ts";
import type { HeldObserved } from "./learnt.ts";
import { createTallies } from "./tallies.ts";
import type { World } from "./world.ts";

export type LearntHeld = {
  /** A gateway saw it. @param survival without c_r */
  readonly measured: (place: Place, heldTokens: number, survival: number, cachedTokens: number) => void;
  /** A turn was sent to a region without a gateway. @param promisedTokens what was predicted to be there, without c_r */
  readonly sent: (place: Place, promptTokens: number, promisedTokens: number) => void;
  /** @param world asked only where turns were sent that nobody measures */
  readonly fold: (world: () => World, nowMs: number) => void;
  readonly known: (nowMs: number) => readonly HeldObserved[];
  readonly seed: (place: Place, observed: { readonly weight: number; readonly sum: number }, nowMs: number) => void;
};

export type Place = { readonly region: RegionId; readonly model: ModelId };

export const createLearntHeld = (): LearntHeld => {
  const tallies = createTallies(HELD_HABIT);
  /** Those that were ever observed: no more than there are placements. */
  const places = new Map<string, Place>();
  const sent = new Map<string, { promptTokens: number; promisedTokens: number }>();
  const keyOf = (place: Place): string => {
    const key = `${place.region}/${place.model}`;
    if (!places.has(key)) places.set(key, { region: place.region, model: place.model });
    return key;
  };
  const foldSent = (world: World): void => {
    for (const [key, { promptTokens, promisedTokens }] of sent) {
      const place = places.get(key);
      const region = world.regions.find(({ id }) => id === place?.region);
      const share = place === undefined ? null : (region?.placements.get(place.model)?.prefixHitFraction ?? null);
      if (share !== null) tallies.observe(key, heldObservedByShare(promptTokens, promisedTokens, share));
    }
    sent.clear();
  };

  return {
    measured: (place, heldTokens, survival, cachedTokens) =>
      tallies.observe(keyOf(place), observedOf(heldTokens, survival, cachedTokens)),
    sent: (place, promptTokens, promisedTokens) => {
      const key = keyOf(place);
      const sofar = sent.get(key) ?? { promptTokens: 0, promisedTokens: 0 };
      sofar.promptTokens += promptTokens;
      sofar.promisedTokens += promisedTokens;
      sent.set(key, sofar);
    },
    fold: (world, nowMs) => {
      if (sent.size > 0) foldSent(world());
      tallies.fold(nowMs);
    },
    known: (nowMs) =>
      tallies.all(nowMs).flatMap(([key, tally]) => {
        const place = places.get(key);
        return place === undefined ? [] : [{ ...place, tally }];
      }),
    seed: (place, observed, nowMs) => tallies.seed(keyOf(place), observed, nowMs),
  };
};
