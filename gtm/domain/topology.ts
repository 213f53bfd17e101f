/** Where clients and regions are, and how long a round trip between them takes. */

/** Degrees; latitude −90 to 90, longitude −180 to 180. */
export type Location = { readonly latitude: number; readonly longitude: number };

const EARTH_RADIUS_KM = 6_371;
/** A round trip of length 0, and what each 1 000 km of great circle adds: fitted to inter-region measurements, R² 0.71. */
const RTT_BASE_MS = 25;
const RTT_MS_PER_1000_KM = 15.4;
const radians = (degrees: number): number => (degrees * Math.PI) / 180;

/** Great-circle distance by the haversine formula, km, 0 to half the Earth's circumference. */
export const distanceKm = (a: Location, b: Location): number => {
  const halfLatitude = radians(b.latitude - a.latitude) / 2;
  const halfLongitude = radians(b.longitude - a.longitude) / 2;
  const chord =
    Math.sin(halfLatitude) ** 2 +
    Math.cos(radians(a.latitude)) * Math.cos(radians(b.latitude)) * Math.sin(halfLongitude) ** 2;
  // Rounding can push the chord past 1 for antipodes, where asin would be NaN.
  return 2 * EARTH_RADIUS_KM * Math.asin(Math.sqrt(Math.min(1, chord)));
};

/** Prior of a round trip in ms, from distance alone; measured round trips replace it where there are any. */
export const greatCircleRttMs = (a: Location, b: Location): number =>
  RTT_BASE_MS + (distanceKm(a, b) / 1_000) * RTT_MS_PER_1000_KM;
