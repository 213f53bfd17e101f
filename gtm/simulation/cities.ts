/** Where simulated clients live: cities of three areas that want unequally much, none of them where a region stands. */
import type { Location } from "#gtm/domain/topology.ts";

export type City = { readonly name: string; readonly location: Location; readonly weight: number };

const city = (name: string, latitude: number, longitude: number, weight: number): City => ({
  name,
  location: { latitude, longitude },
  weight,
});

/** Europe and Africa 50 %, the Americas 30 %, Asia and Oceania 20 %. */
export const CITIES: readonly City[] = [
  city("London", 51.51, -0.13, 14),
  city("Paris", 48.86, 2.35, 12),
  city("Madrid", 40.42, -3.7, 8),
  city("Warsaw", 52.23, 21.01, 8),
  city("Cairo", 30.04, 31.24, 5),
  city("Lagos", 6.52, 3.38, 3),
  city("New York", 40.71, -74.01, 11),
  city("Chicago", 41.88, -87.63, 8),
  city("Los Angeles", 34.05, -118.24, 7),
  city("São Paulo", -23.55, -46.63, 4),
  city("Mumbai", 19.08, 72.88, 7),
  city("Tokyo", 35.68, 139.69, 6),
  city("Jakarta", -6.21, 106.85, 4),
  city("Sydney", -33.87, 151.21, 3),
];
