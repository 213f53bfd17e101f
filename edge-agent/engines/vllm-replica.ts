/** What one `engine` label of a vLLM page says: its gauges, its start and its counters. */
import type { Fault, Page } from "../exposition.ts";
import { labelOf, type Sample } from "../exposition-line.ts";
import { type FieldSource, type ReplicaReading, type StartedAt, UNMEASURED } from "./engine.ts";
import { createReader, type Reader } from "./reader.ts";
import { fractionOf } from "./series.ts";
import { processStartOf, startOf } from "./started-at.ts";
import { vllmCounters } from "./vllm-counters.ts";
import { VLLM_NAMES } from "./vllm-names.ts";
import { IS_SLEEPING, isAsleepBy } from "./vllm-sleep.ts";

/** The samples of one name that are of one replica. */
export type OwnSamples = (samples: readonly Sample[]) => readonly Sample[];

/** By the list of one name: pages that are laid out alike have the same lists (exposition-layout.ts). */
const groupsBy = new WeakMap<readonly Sample[], readonly Group[]>();

const groupsOf = (samples: readonly Sample[]): readonly Group[] => {
  const known = groupsBy.get(samples) ?? grouped(samples);
  groupsBy.set(samples, known);
  return known;
};

/** Of a page with several replicas, those of one. */
export const replicaSamples =
  (model: string, engine: string): OwnSamples =>
  (samples) =>
    groupsOf(samples).find((group) => group.engine === engine && group.model === model)?.samples ?? NOTHING;

type Group = { readonly model: string; readonly engine: string; readonly samples: Sample[] };

const NOTHING: readonly Sample[] = [];

/** Series of one replica stand together on most pages, so that the group of the one before is tried first. */
const grouped = (samples: readonly Sample[]): readonly Group[] => {
  const groups: Group[] = [];
  let last: Group | undefined;
  for (const sample of samples) {
    const model = labelOf(sample, "model_name") ?? "";
    // Without the label it is engine 0's, once: given to each engine it would count as often as there are engines.
    const engine = labelOf(sample, "engine") ?? "0";
    if (last === undefined || last.engine !== engine || last.model !== model) {
      last = groups.find((group) => group.engine === engine && group.model === model);
      if (last === undefined) {
        last = { model, engine, samples: [] };
        groups.push(last);
      }
    }
    last.samples.push(sample);
  }
  return groups;
};

export type ReplicaPlace = {
  readonly page: Page;
  /** What stands before every name. */
  readonly prefix: string;
  readonly engine: string;
  readonly own: OwnSamples;
  /** As its server says it elsewhere; null: it does not. */
  readonly isAsleep: boolean | null;
};

export type ReplicaFound = {
  readonly reading: ReplicaReading;
  readonly faults: readonly Fault[];
  readonly sources: readonly FieldSource[];
};

export const replicaReading = ({ page, prefix, engine, own, isAsleep }: ReplicaPlace): ReplicaFound => {
  const reader = createReader({ page, prefix, own });
  const startedAt = startedAtOf(reader, page);
  if (startedAt === null) reader.fault("startedAtMs", "missing");
  const requestsRunning = reader.gauge("requestsRunning", VLLM_NAMES.requestsRunning);
  const requestsWaiting = reader.gauge("requestsWaiting", VLLM_NAMES.requestsWaiting);
  const kvCacheUsedFraction = reader.fraction("kvCacheUsedFraction", VLLM_NAMES.kvCacheUsedFraction);
  const counters = vllmCounters(reader);
  const prefixHitFraction = counters.prefixCache.length > 0 ? null : averagedHits(reader);
  if (counters.prefixCache.length === 0 && prefixHitFraction === null) reader.fault("prefixHitFraction", "missing");
  const reading: ReplicaReading = {
    ...UNMEASURED,
    engine,
    startedAt,
    isAsleep: isAsleepOf(reader, isAsleep),
    requestsRunning,
    requestsWaiting,
    kvCacheUsedFraction,
    prefixHitFraction,
    counters,
  };
  return { reading, faults: reader.faults(), sources: reader.sources() };
};

/** @param elsewhere of the whole server */
const isAsleepOf = ({ find, source }: Reader, elsewhere: boolean | null): boolean | null => {
  const { name, samples } = find(VLLM_NAMES.isAsleep);
  const isAsleep = isAsleepBy(samples);
  if (isAsleep !== null || elsewhere !== null) source("isAsleep", isAsleep === null ? IS_SLEEPING : name);
  return isAsleep ?? elsewhere;
};

/** V0 averaged over its last thousand queries; −1 where prefix caching is off. */
const averagedHits = ({ find, source }: Reader): number | null => {
  const found = find(VLLM_NAMES.prefixHitFraction);
  const value = fractionOf(found, "mean");
  if (value.kind === "unknown") return null;
  source("prefixHitFraction", found.name);
  return value.value;
};

/** Per engine by a counter's `_created`; else the front end's process. Neither exists with several API servers. */
const startedAtOf = ({ find, source }: Reader, page: Page): StartedAt | null => {
  const own = VLLM_NAMES.startedAtMs.map((name) => startOf(name, find([name]).samples)).find((start) => start !== null);
  const startedAt = own ?? processStartOf(page);
  if (startedAt !== null) source("startedAtMs", startedAt.source);
  return startedAt;
};

/** The adapters that are at work or waited for: of each engine's series only the newest says what is so now, old ones stay on the page. */
export const adaptersAtWork = (series: readonly Sample[]): readonly string[] => {
  const newest = new Map<string, Sample>();
  for (const sample of series) {
    const engine = labelOf(sample, "engine") ?? "0";
    const known = newest.get(engine);
    if (Number.isFinite(sample.value) && (known === undefined || sample.value > known.value))
      newest.set(engine, sample);
  }
  const listed = [...newest.values()].flatMap((sample) =>
    ["running_lora_adapters", "waiting_lora_adapters"].flatMap((label) => (labelOf(sample, label) ?? "").split(",")),
  );
  return [...new Set(listed.map((name) => name.trim()).filter((name) => name !== ""))].sort();
};
