/** LMCache, a second tier of the prefix cache: on vLLM's own page, or on that of a server beside it. It serves no model. */
import type { Page } from "../exposition.ts";
import { labelOf } from "../exposition-line.ts";
import { type Cumulative, type Engine, type EngineReading, ONE_PAGE } from "./engine.ts";
import { allSamples, createReader, cumulative } from "./reader.ts";

/** In the process of vLLM, and as a server of its own; the latter under the same words with another beginning. */
const SERVER = "lmcache_mp_";
const IN_PROCESS = ["lmcache:", "lmcache_"] as const;

export const lmcache: Engine = {
  ...ONE_PAGE,
  name: "lmcache",
  recognises: (names) => names.some((name) => [SERVER, ...IN_PROCESS].some((prefix) => name.startsWith(prefix))),
  owner: null,
  // Its page is empty until the first request, which is no broken contract.
  read: ({ page }): EngineReading => ({
    engine: lmcache.name,
    isMeasured: page !== null,
    models: [],
    sources: page === null ? [] : cacheTiersOn(page).map(({ model, source }) => ({ field: model, source })),
    faults: page?.faults ?? [],
  }),
};

export type CacheTier = {
  /** Empty where no label says it. */
  readonly model: string;
  readonly source: string;
  /** [tokens looked up, tokens found] since its start, all processes together. */
  readonly lookups: readonly Cumulative[];
};

/**
 * Tokens that were looked up here and found here. They are not added to the engine's own hits: vLLM counts them as
 * `external_prefix_cache_hits` already, and whether the engine's own hits are looked up here, too, differs by version.
 */
export const cacheTiersOn = (page: Page): readonly CacheTier[] => {
  for (const { prefix, looked, hits } of NAMES) {
    const samples = [...(page.samples.get(prefix + looked) ?? []), ...(page.samples.get(prefix + hits) ?? [])];
    const models = [...new Set(samples.map((sample) => labelOf(sample, "model_name") ?? ""))];
    const tiers = models.map((model): CacheTier => {
      const own = (all: typeof samples) => all.filter((sample) => (labelOf(sample, "model_name") ?? "") === model);
      const reader = createReader({ page, prefix, own: (all) => own([...allSamples(all)]) });
      const lookups = cumulative(prefix + hits, reader.total("lookups", [looked]), reader.total("lookups", [hits]));
      return { model, source: prefix + hits, lookups };
    });
    if (tiers.length > 0) return tiers;
  }
  return [];
};

/** As counters of Python's exporter, and as one that leaves their suffix out writes them. */
const NAMES = ["_total", ""].flatMap((suffix) => [
  { prefix: SERVER, looked: `lookup_requested_tokens${suffix}`, hits: `lookup_hit_tokens${suffix}` },
  ...IN_PROCESS.flatMap((prefix) => [
    { prefix, looked: `num_lookup_tokens${suffix}`, hits: `num_lookup_hits${suffix}` },
    { prefix, looked: `num_requested_tokens${suffix}`, hits: `num_hit_tokens${suffix}` },
  ]),
]);
