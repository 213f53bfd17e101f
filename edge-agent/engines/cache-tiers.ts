/** Second tiers of the prefix cache, on whichever page they are told: LMCache, vLLM's KV connector, the host's memory under SGLang and TensorRT-LLM. */
import type { Page } from "../exposition.ts";
import { labelOf, type Sample } from "../exposition-line.ts";
import type { Cumulative } from "./engine.ts";
import { cacheTiersOn } from "./lmcache.ts";
import { counterNames, createReader, cumulative, type Reader } from "./reader.ts";
import { oncePerRank } from "./sglang-counters.ts";
import { SGLANG_PREFIXES } from "./sglang-names.ts";
import { VLLM_PREFIXES } from "./vllm-names.ts";

export type TierReading = {
  readonly tier: "lmcache" | "external" | "host";
  /** Empty where no label says it. */
  readonly model: string;
  /** The name that hits were read from, or use where there is none. */
  readonly readFrom: string;
  /** [tokens looked up, tokens found] since its start, all processes together. */
  readonly lookups: readonly Cumulative[];
  /** 0 to 1 of its capacity. */
  readonly usedFraction: number | null;
  readonly memoryUsedBytes: number | null;
  readonly storageUsedBytes: number | null;
  readonly remoteUsedBytes: number | null;
};

/** Of a tier that is there, and of which the page tells no number. */
export const NOTHING_SAID = {
  lookups: [],
  usedFraction: null,
  memoryUsedBytes: null,
  storageUsedBytes: null,
  remoteUsedBytes: null,
} as const;

/** None where the page has no name of one, or a connector that nobody ever asked. */
export const tiersOn = (page: Page): readonly TierReading[] => [
  ...lmcacheTiers(page),
  ...VLLM_PREFIXES.flatMap((prefix) => connectorTiers(page, prefix)),
  ...SGLANG_PREFIXES.flatMap((prefix) => hostTiers(page, prefix)),
  ...trtllmTiers(page),
];

const modelsOf = (page: Page, names: readonly string[]): readonly string[] => {
  const samples = names.flatMap((name) => page.samples.get(name) ?? []);
  return [...new Set(samples.map((sample) => labelOf(sample, "model_name") ?? ""))];
};

const readerOf = (page: Page, prefix: string, model: string): Reader =>
  createReader({ page, prefix, own: (all) => all.filter((one) => (labelOf(one, "model_name") ?? "") === model) });

const LMCACHE_PREFIXES = ["lmcache:", "lmcache_"] as const;

const lmcacheTiers = (page: Page): readonly TierReading[] =>
  cacheTiersOn(page).map(({ model, source, lookups }) => {
    const prefix = LMCACHE_PREFIXES.find((one) => source.startsWith(one) && !source.startsWith("lmcache_mp_"));
    const reader = prefix === undefined ? null : readerOf(page, prefix, model);
    const bytes = (name: string): number | null => {
      const value = reader?.total("cacheTiers", [name]) ?? null;
      return value === null ? null : Math.round(value);
    };
    return {
      ...NOTHING_SAID,
      tier: "lmcache",
      model,
      readFrom: source,
      lookups,
      memoryUsedBytes: bytes("local_cache_usage"),
      storageUsedBytes: bytes("local_storage_usage"),
      remoteUsedBytes: bytes("remote_cache_usage"),
    };
  });

const CONNECTOR_QUERIES = counterNames("external_prefix_cache_queries");
const CONNECTOR_HITS = counterNames("external_prefix_cache_hits");

/** vLLM has these counters without a connector, too, and then they stay 0. */
const connectorTiers = (page: Page, prefix: string): readonly TierReading[] =>
  modelsOf(
    page,
    CONNECTOR_QUERIES.map((name) => prefix + name),
  ).flatMap((model) => {
    const reader = readerOf(page, prefix, model);
    const queries = reader.total("cacheTiers", CONNECTOR_QUERIES);
    const lookups = cumulative("external", queries, reader.total("cacheTiers", CONNECTOR_HITS));
    const readFrom = reader.find(CONNECTOR_HITS).name;
    return queries === 0 ? [] : [{ ...NOTHING_SAID, tier: "external", model, readFrom, lookups }];
  });

const EFFECTIVE = counterNames("prefill_effective_tokens");
const HOST_USED = ["hicache_host_used_tokens"];
const HOST_TOTAL = ["hicache_host_total_tokens"];

/** What the GPU did not have was looked up in the host's memory and behind it. */
const hostTiers = (page: Page, prefix: string): readonly TierReading[] =>
  modelsOf(
    page,
    HOST_TOTAL.map((name) => prefix + name),
  ).map((model) => {
    const reader = readerOf(page, prefix, model);
    const modes =
      (isWanted: (mode: string) => boolean) =>
      (all: readonly Sample[]): readonly Sample[] =>
        oncePerRank(all).filter((one) => isWanted(labelOf(one, "mode") ?? ""));
    const looked = reader.total(
      "cacheTiers",
      EFFECTIVE,
      modes((mode) => mode !== "device_hit"),
    );
    const found = reader.total(
      "cacheTiers",
      EFFECTIVE,
      modes((mode) => mode === "host_hit" || mode === "storage_hit"),
    );
    const used = reader.total("cacheTiers", HOST_USED, oncePerRank);
    const capacity = reader.total("cacheTiers", HOST_TOTAL, oncePerRank);
    return {
      ...NOTHING_SAID,
      tier: "host",
      model,
      readFrom: reader.find(EFFECTIVE).name || reader.find(HOST_USED).name,
      // Before the first hit there is no series of hits, beside those of the tokens that were none.
      lookups: cumulative("host", looked, looked === null ? null : (found ?? 0)),
      usedFraction: shareOf(used, capacity),
    };
  });

const TRTLLM_HOST = ["trtllm_kv_cache_host_utilization"];

const trtllmTiers = (page: Page): readonly TierReading[] =>
  modelsOf(page, TRTLLM_HOST).map((model) => ({
    ...NOTHING_SAID,
    tier: "host",
    model: model === "undefined" ? "" : model,
    readFrom: TRTLLM_HOST[0] ?? "",
    usedFraction: readerOf(page, "", model).fraction("cacheTiers", TRTLLM_HOST),
  }));

const shareOf = (part: number | null, whole: number | null): number | null =>
  part === null || whole === null || !(whole > 0) || part > whole ? null : part / whole;
