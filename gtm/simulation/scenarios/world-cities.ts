/**
 * Cities of three areas with their share of the world's internet users, and estimated round trips to six AWS regions.
 *
 * Made of two tables: users of each country spread over its main cities by population (Our World in Data "Number of Internet
 * users", CC BY 4.0; npm city-timezones, MIT), and round trips of a city to a region as the least over six measured sites near
 * it of 0.0181 ms a kilometre + the measured round trip from site to region (skyplane-project/skyplane, profiles/latency.csv,
 * April 2022, Apache-2.0). The heaviest cities were taken, two a country and five of the United States at most, 13 to 15 an
 * area; each stands for its share of its country. Leave-one-out error of the estimates: half within 9 ms, nine in ten within 39.
 * Where clients of language models live is not known: this is a stand-in, and reports say so.
 */
import type { City } from "../cities.ts";

/** By the nearest of the three regions that every scenario has. */
export type Area = "americas" | "europe-africa" | "asia";

export type WorldCity = City & {
  readonly area: Area;
  /** To each of `AWS_REGIONS`, in their order; without the last mile. */
  readonly rttsMs: readonly number[];
};

export const AWS_REGIONS = [
  "us-east-1",
  "us-west-2",
  "eu-central-1",
  "eu-west-1",
  "ap-southeast-1",
  "ap-northeast-1",
] as const;

type Row = readonly [name: string, latitude: number, longitude: number, weight: number, rttsMs: readonly number[]];

const row = (...values: Row): Row => values;

const cities = (area: Area, rows: readonly Row[]): readonly WorldCity[] =>
  rows.map(([name, latitude, longitude, weight, rttsMs]) => ({
    ...{ name, location: { latitude, longitude }, weight, area, rttsMs },
  }));

/** Weights are thousandths of the world's internet users. */
const ASIA = cities("asia", [
  row("Shanghai", 31.22, 121.44, 135.2, [196, 137, 214, 234, 54, 46]),
  row("Beijing", 39.93, 116.39, 84.9, [191, 130, 245, 246, 78, 40]),
  row("Mumbai", 19.02, 72.86, 79.3, [188, 210, 114, 120, 50, 125]),
  row("Delhi", 28.67, 77.23, 59.0, [205, 216, 131, 138, 68, 138]),
  row("Jakarta", -6.17, 106.83, 36.3, [160, 178, 169, 192, 15, 85]),
  row("Tokyo", 35.69, 139.75, 22.0, [93, 98, 223, 203, 70, 1]),
  row("Ho Chi Minh City", 10.78, 106.7, 15.5, [163, 166, 175, 189, 21, 74]),
  row("Tehran", 35.67, 51.42, 14.7, [176, 235, 103, 110, 99, 170]),
  row("Bangkok", 13.75, 100.52, 12.9, [169, 170, 181, 193, 27, 78]),
  row("Manila", 14.6, 120.98, 12.6, [187, 150, 198, 182, 44, 57]),
  row("Seoul", 37.57, 127, 10.7, [174, 113, 235, 228, 84, 22]),
  row("Karachi", 24.87, 66.99, 10.6, [187, 226, 113, 121, 66, 141]),
  row("Dhaka", 23.72, 90.41, 9.7, [222, 183, 148, 154, 75, 95]),
  row("Chittagong", 22.33, 91.8, 4.1, [224, 180, 150, 156, 73, 92]),
]);
const EUROPE_AFRICA = cities("europe-africa", [
  row("Moscow", 55.75, 37.62, 19.6, [119, 171, 38, 54, 196, 260]),
  row("Berlin", 52.52, 13.4, 16.2, [91, 154, 8, 26, 161, 230]),
  row("Lagos", 6.44, 3.39, 15.4, [166, 236, 90, 107, 226, 294]),
  row("Istanbul", 41.1, 29.01, 14.9, [121, 180, 34, 56, 177, 245]),
  row("London", 51.5, -0.12, 13.8, [76, 130, 13, 11, 151, 220]),
  row("Paris", 48.87, 2.33, 12.0, [81, 136, 10, 17, 147, 218]),
  row("Cairo", 30.05, 31.25, 12.0, [142, 203, 57, 76, 121, 192]),
  row("Kano", 12, 8.52, 10.2, [156, 223, 78, 97, 214, 282]),
  row("Barcelona", 41.38, 2.18, 9.5, [96, 166, 21, 37, 160, 228]),
  row("St. Petersburg", 59.94, 30.32, 7.6, [107, 160, 34, 47, 187, 251]),
  row("Casablanca", 33.6, -7.62, 6.9, [114, 168, 44, 48, 181, 250]),
  row("Algiers", 36.76, 3.05, 6.3, [105, 175, 29, 46, 167, 235]),
  row("Alexandria", 31.2, 29.95, 4.9, [139, 200, 54, 72, 123, 194]),
  row("Accra", 5.55, -0.22, 4.7, [168, 239, 93, 109, 229, 297]),
  row("Kinshasa", -4.33, 15.31, 4.1, [197, 258, 112, 134, 175, 246]),
]);
const AMERICAS = cities("americas", [
  row("New York", 40.75, -73.98, 25.4, [7, 75, 94, 79, 162, 155]),
  row("Sao Paulo", -23.56, -46.63, 24.2, [115, 183, 193, 171, 316, 254]),
  row("Mexico City", 19.44, -99.13, 20.4, [51, 71, 138, 117, 150, 144]),
  row("Los Angeles", 33.99, -118.18, 15.2, [66, 25, 146, 118, 176, 114]),
  row("Rio de Janeiro", -22.93, -43.23, 11.5, [122, 189, 199, 177, 312, 260]),
  row("Chicago", 41.83, -87.75, 11.1, [17, 62, 104, 82, 118, 144]),
  row("Buenos Aires", -34.6, -58.4, 8.1, [142, 157, 223, 201, 290, 228]),
  row("Bogota", 4.6, -74.08, 7.9, [69, 127, 156, 134, 275, 212]),
  row("Houston", 29.82, -95.34, 7.6, [32, 64, 119, 97, 129, 137]),
  row("Toronto", 43.7, -79.42, 7.3, [11, 63, 97, 78, 152, 147]),
  row("Philadelphia", 40, -75.17, 6.6, [5, 72, 91, 76, 161, 153]),
  row("Lima", -12.05, -77.05, 4.8, [102, 174, 188, 167, 307, 245]),
  row("Santiago", -33.45, -70.67, 2.6, [121, 136, 212, 210, 270, 207]),
]);

export const WORLD_CITIES: readonly WorldCity[] = [...AMERICAS, ...EUROPE_AFRICA, ...ASIA];
