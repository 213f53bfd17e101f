/** Who asks how much, and when: shares of the areas, the sun, a crowd. */
import type { Demand } from "../generator/generator-options.ts";
import { type Area, WORLD_CITIES, type WorldCity } from "./world-cities.ts";

export type Shares = Readonly<Record<Area, number>>;

/** As much as each area's replicas can do. */
export const EVEN: Shares = { americas: 1 / 3, "europe-africa": 1 / 3, asia: 1 / 3 };
export const UNEVEN: Shares = { americas: 0.6, "europe-africa": 0.25, asia: 0.15 };

/** The world's cities, weighted so that each area has its share; within an area as many ask as live there. */
export const citiesWith = (shares: Shares): readonly WorldCity[] => {
  const sums: Record<Area, number> = { americas: 0, "europe-africa": 0, asia: 0 };
  for (const { area, weight } of WORLD_CITIES) sums[area] += weight;
  return WORLD_CITIES.map((city) => ({ ...city, weight: (city.weight * shares[city.area]) / sums[city.area] }));
};

/** A day passes in this time; people's pauses and caches do not pass faster, so tides come sooner than they would. */
export const DAY_MS = 3_600_000;

/** Requests by the hour of the day where they come from, relative to the mean: RAGPulse (flashserve/RAGPulse, MIT), a service of one country. */
const HOURS: readonly number[] = [
  1.081, 0.361, 0.223, 0.084, 0.068, 0.074, 0.118, 0.365, 0.78, 1.05, 1.503, 1.53, 1.29, 1.429, 1.618, 1.638, 1.506,
  1.28, 1.469, 1.557, 1.27, 1.263, 1.344, 1.098,
];

/** By the city's own hour, which its longitude says. */
export const followTheSun: Demand = ({ location }, atMs) => {
  const hour = (atMs / DAY_MS) * 24 + location.longitude / 15;
  return HOURS[Math.floor(((hour % 24) + 24) % 24)] ?? 1;
};

/** So many times as much from one area. */
const CROWD = 3;

export const crowdIn =
  (area: Area, fromMs: number, toMs: number): Demand =>
  (city, atMs) =>
    atMs >= fromMs && atMs < toMs && areaOf(city) === area ? CROWD : 1;

const AREAS = new Map(WORLD_CITIES.map(({ name, area }) => [name, area]));
const areaOf = ({ name }: { readonly name: string }): Area | null => AREAS.get(name) ?? null;
