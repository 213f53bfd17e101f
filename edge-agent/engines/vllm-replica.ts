/** What one `engine` label of a vLLM page says: its gauges, its start and its counters. */
import type { Fault, Page } from "../exposition.ts";
import { labelOf, type Sample } from "../exposition-line.ts";
import type { ReplicaReading, StartedAt } from "./engine.ts";
import { type Find, type Found, fractionOf, perProcess, totalOf, type Value } from "./series.ts";
import { vllmCounters } from "./vllm-counters.ts";

export type ReplicaPlace = {
  readonly page: Page;
  /** What stands before every name. */
  readonly prefix: string;
  readonly model: string;
  readonly engine: string;
};

export const replicaReading = (place: ReplicaPlace): { reading: ReplicaReading; faults: readonly Fault[] } => {
  const faults: Fault[] = [];
  const find = findIn(place);
  const known = (field: string, value: Value): number | null => {
    if (value.kind === "known") return value.value;
    faults.push({ field, code: value.code });
    return null;
  };
  const count = (field: string, name: string): number | null => known(field, totalOf(perProcess(find([name])), "sum"));
  // Both names may stand on one page: the newer one speaks, they are never added.
  const used = find(["kv_cache_usage_perc", "gpu_cache_usage_perc"]);
  const { counters, faults: ofCounters } = vllmCounters(find);
  const startedAt = startedAtOf(place, find);
  if (startedAt === null) faults.push({ field: "startedAtMs", code: "missing" });
  const reading: ReplicaReading = {
    engine: place.engine,
    startedAt,
    isAsleep: isAsleep(find(["engine_sleep_state"]).samples),
    requestsRunning: count("requestsRunning", "num_requests_running"),
    requestsWaiting: count("requestsWaiting", "num_requests_waiting"),
    uncachedTokensWaiting: null,
    kvResidentFraction: null,
    kvCacheUsedFraction: known("kvCacheUsedFraction", fractionOf(perProcess(used), "mean")),
    prefixHitFraction: counters.prefixCache.length > 0 ? null : averagedHits(find(["gpu_prefix_cache_hit_rate"])),
    counters,
  };
  const isHitFractionUnknown = counters.prefixCache.length === 0 && reading.prefixHitFraction === null;
  const explained = isHitFractionUnknown
    ? ofCounters
    : ofCounters.filter(({ field, code }) => field !== "prefixHitFraction" || code !== "missing");
  return { reading, faults: [...faults, ...explained] };
};

const findIn =
  ({ page, prefix, model, engine }: ReplicaPlace): Find =>
  (names) => {
    for (const name of names) {
      const samples = (page.samples.get(prefix + name) ?? []).filter(
        // Without the label it is engine 0's, once: given to each engine it would count as often as there are engines.
        (sample) => labelOf(sample, "model_name") === model && (labelOf(sample, "engine") ?? "0") === engine,
      );
      if (samples.length > 0) return { samples, isContradicted: page.contradicted.has(prefix + name) };
    }
    return { samples: [], isContradicted: false };
  };

/** One-hot over `awake` and the depths of sleep. @returns null where no state is said to hold */
const isAsleep = (states: readonly Sample[]): boolean | null => {
  const current = states.filter(({ value }) => value === 1).map((sample) => labelOf(sample, "sleep_state"));
  return current.length === 0 ? null : current.some((state) => state !== "awake");
};

/** V0 averaged over its last thousand queries; −1 where prefix caching is off. */
const averagedHits = (found: Found): number | null => {
  const value = fractionOf(found, "mean");
  return value.kind === "known" ? value.value : null;
};

/** Epoch seconds of 2001 and of 5138: anything else is no time. */
const EARLIEST_START = 1e9;
const LATEST_START = 1e11;

/** Per engine by a counter's `_created`; else the front end's process. Neither exists with several API servers. */
const startedAtOf = (place: ReplicaPlace, find: Find): StartedAt | null => {
  for (const name of ["prompt_tokens_created", "generation_tokens_created"]) {
    const started = startOf(name, find([name]).samples);
    if (started !== null) return started;
  }
  return startOf("process_start_time_seconds", place.page.samples.get("process_start_time_seconds") ?? []);
};

const startOf = (source: string, samples: readonly Sample[]): StartedAt | null => {
  const seconds = samples.length === 1 ? samples[0]?.value : undefined;
  if (seconds === undefined || !(seconds > EARLIEST_START && seconds < LATEST_START)) return null;
  return { source, atMs: Math.round(seconds * 1_000) };
};
