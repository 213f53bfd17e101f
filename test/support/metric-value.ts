/** Reads one series of a metric the way Prometheus would. */
import type { Metrics } from "#shared/metrics.ts";

/** @returns 0 where the series has not been made: a counter that never counted */
export const metricValue = async (
  metrics: Metrics,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<number> => {
  const wanted = Object.entries(labels).map(([key, value]) => `${key}="${value}"`);
  const line = (await metrics.text())
    .split("\n")
    .find(
      (text) =>
        (text.startsWith(`${name}{`) || text.startsWith(`${name} `)) && wanted.every((one) => text.includes(one)),
    );
  return line === undefined ? 0 : Number(line.slice(line.lastIndexOf(" ") + 1));
};
