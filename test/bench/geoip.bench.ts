/** Locating a client's network: the first time, and once it is cached. */
import { createGeoip } from "#gtm/datalayer/geoip.ts";
import { silentLogger } from "#shared/logger.ts";
import { createMetrics } from "#shared/metrics.ts";
import { type Bench, nsPerIteration } from "./bench.ts";

const CACHED = 10_000;
const FRESH = 60_000;

/** Spread over the whole address space; `turn` picks other networks. */
const networks = (count: number, turn: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => {
    const network = ((at + 1) * 40_503 + turn * 7_919) % 2 ** 24;
    return `${network >>> 16}.${(network >>> 8) & 255}.${network & 255}.0/24`;
  });

export const bench: Bench = {
  name: "geoip",
  run: async () => {
    const geoip = createGeoip({ provider: "builtin", static: [], log: silentLogger, metrics: createMetrics() });
    const before = process.memoryUsage().rss;
    await geoip.start();
    const loadedBytes = process.memoryUsage().rss - before;
    const locateAll = (list: readonly string[]) => (iterations: number) => {
      let bits = 0;
      for (let i = 0; i < iterations; i++) bits += geoip.locate(list[i % list.length] ?? "").scopePrefixBits;
      return bits;
    };
    await nsPerIteration(FRESH, locateAll(networks(FRESH, 0)));
    const fresh = (await nsPerIteration(FRESH, locateAll(networks(FRESH, 1)))) / 1_000;
    const cachedList = networks(CACHED, 2);
    await nsPerIteration(CACHED, locateAll(cachedList));
    const cached = (await nsPerIteration(20 * CACHED, locateAll(cachedList))) / 1_000;
    return [
      { what: "locate(), first time", value: fresh, unit: "µs", against: null, ratio: null, bound: null },
      { what: "locate(), cached", value: cached, unit: "µs", against: null, ratio: null, bound: "≤ 2" },
      { what: "memory of the data", value: loadedBytes / 1e6, unit: "MB", against: null, ratio: null, bound: null },
    ];
  },
};
