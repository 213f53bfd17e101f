/** When and where new conversations begin: a Poisson process whose rate changes with time and place. */
import type { City } from "../cities.ts";
import type { Dice } from "../dice.ts";
import type { Demand } from "./generator-options.ts";

export type Arrival = { readonly atMs: number; readonly city: City };

/** Demand is taken as the same for so long. */
const STEP_MS = 10_000;
const DAY_MS = 86_400_000;

/**
 * Without end.
 *
 * @param cities at least one, weights not all 0
 * @param perSecond conversations that begin where demand is 1 everywhere
 * @throws {RangeError} when nobody asks anything for a whole day
 */
export function* arrivals(
  dice: Dice,
  cities: readonly City[],
  perSecond: number,
  demand: Demand | null,
): Generator<Arrival, never> {
  const weightOfAll = sumOf(cities.map(({ weight }) => weight));
  let step = stepAt(cities, 0, demand);
  let atMs = 0;
  for (;;) {
    // Work of an exponential clock that runs as fast as demand is.
    let left = -Math.log(1 - dice());
    const perMs = () => (perSecond * step.wanted) / weightOfAll / 1_000;
    while (atMs + left / perMs() >= step.untilMs) {
      left -= (step.untilMs - atMs) * perMs();
      step = nextStep(cities, step.untilMs, demand);
      atMs = step.untilMs - STEP_MS;
    }
    atMs += left / perMs();
    yield { atMs, city: cityAt(cities, step.wants, dice() * step.wanted) };
  }
}

type Step = { readonly untilMs: number; readonly wants: readonly number[]; readonly wanted: number };

const stepAt = (cities: readonly City[], atMs: number, demand: Demand | null): Step => {
  const wants = cities.map((city) => city.weight * (demand === null ? 1 : demand(city, atMs)));
  return { untilMs: demand === null ? Number.POSITIVE_INFINITY : atMs + STEP_MS, wants, wanted: sumOf(wants) };
};

const nextStep = (cities: readonly City[], fromMs: number, demand: Demand | null): Step => {
  for (let atMs = fromMs; atMs < fromMs + DAY_MS; atMs += STEP_MS) {
    const step = stepAt(cities, atMs, demand);
    if (step.wanted > 0) return step;
  }
  throw new RangeError("no city asks anything for a day");
};

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, number) => sum + number, 0);

const cityAt = (cities: readonly City[], wants: readonly number[], at: number): City => {
  let left = at;
  for (let i = 0; i < cities.length - 1; i++) {
    left -= wants[i] ?? 0;
    if (left < 0) return cities[i] as City;
  }
  return cities[cities.length - 1] as City;
};
