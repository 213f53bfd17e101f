/** Round trips as they really are in a simulation: near what distance says, which is all that steering knows. */
import { hash32 } from "#gtm/domain/hash.ts";
import { greatCircleRttMs, type Location } from "#gtm/domain/topology.ts";
import type { City } from "./cities.ts";
import type { Dice } from "./dice.ts";
import type { Scenario } from "./scenario.ts";

/** Routes are this much shorter or longer than the mean for their distance. */
const LEAST_DETOUR = 0.8;
const MOST_DETOUR = 1.4;
/** From the client's home to the net, ms. */
const LEAST_LAST_MILE_MS = 8;
const MOST_LAST_MILE_MS = 30;

/** The same for every client of a city. */
export const routeRttMs = (city: City, region: string, location: Location): number => {
  const share = hash32(`${city.name}/${region}`) / 0x1_0000_0000;
  return greatCircleRttMs(city.location, location) * (LEAST_DETOUR + share * (MOST_DETOUR - LEAST_DETOUR));
};

export const lastMileMs = (dice: Dice): number =>
  LEAST_LAST_MILE_MS + dice() * (MOST_LAST_MILE_MS - LEAST_LAST_MILE_MS);

/** A connection is open to where the client last was, if not too long ago: one round trip; else TCP, TLS and the request. */
export const tripsFor = (isSameRegion: boolean, idleMs: number): number =>
  isSameRegion && idleMs < CONNECTION_IDLE_MS ? 1 : 3;

const CONNECTION_IDLE_MS = 120_000;

/** @returns gives the index of the region with the shortest round trip to a city, up or down; found once a city */
export const createNearestRegion = ({ fleet, rttMs }: Pick<Scenario, "fleet" | "rttMs">): ((city: City) => number) => {
  const known = new Map<string, number>();
  return (city) => {
    const before = known.get(city.name);
    if (before !== undefined) return before;
    let nearest = 0;
    for (const region of fleet.keys()) if (rttMs(city, region) < rttMs(city, nearest)) nearest = region;
    known.set(city.name, nearest);
    return nearest;
  };
};
