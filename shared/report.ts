/** What an edge agent tells the GTMs about its region: RegionReport v1. Unknown is null, never 0. */
import { z } from "zod";
import { AgentId, ModelId, RegionId, ReplicaId } from "./ids.ts";

const bytes = z.int().nonnegative().nullable();
const count = z.number().nonnegative().nullable();
const fraction = z.number().min(0).max(1).nullable();
const ms = z.number().nonnegative().nullable();
const rate = z.number().positive().nullable();

export const GpuReport = z.looseObject({
  uuid: z.string().min(1).max(128),
  /** Used + free + reserved. Source: DCGM_FI_DEV_FB_*, nvidia-smi memory.total; MiB there. */
  memoryTotalBytes: bytes,
  memoryUsedBytes: bytes,
  memoryFreeBytes: bytes,
});
export type GpuReport = z.infer<typeof GpuReport>;

export const ReplicaReport = z.looseObject({
  /** `host:port/engine`: one scraped address and its `engine` label. */
  id: ReplicaId,
  /** Epoch ms of the engine process's start; holdings older than this are void. Source: *_created, process_start_time_seconds. */
  startedAtMs: z.number().positive().nullable(),
  /** Milliseconds until a request that arrives now would start its prefill. */
  backlogMs: ms,
  /** Prefill time: ms per token. */
  prefillLinMs: z.number().positive().nullable(),
  /** Prefill time: ms per token², the part that grows with what attention looks back on. */
  prefillAttnMs: z.number().nonnegative().nullable(),
  kvCapacityTokens: count,
  /** Tokens of running requests; what remains of the capacity is the prefix cache. kvCacheUsedFraction × capacity. */
  kvPinnedTokens: count,
});
export type ReplicaReport = z.infer<typeof ReplicaReport>;

/** `loaded` serves now; `asleep` and `on-disk` could after a cold start. */
export const PlacementState = z.enum(["loaded", "loading", "asleep", "on-disk", "down"]);
export type PlacementState = z.infer<typeof PlacementState>;

/** A second tier of the prefix cache: what GPU memory has not, and another place has. */
export const CacheTierReport = z.looseObject({
  /** `lmcache`: by its own counters; `external`: vLLM's KV connector; `host`: memory of the host under SGLang or TensorRT-LLM. */
  tier: z.string().min(1).max(64),
  /** `host:port` that says it. */
  source: z.string().max(256),
  /** Tokens found there ÷ tokens looked up there, over the window; null before the first lookup. */
  hitFraction: fraction,
  /** The same since its process started. */
  hitFractionSinceStart: fraction,
  /** Of its capacity, where it says one. Source: sglang:hicache_host_used_tokens, trtllm_kv_cache_host_utilization. */
  usedFraction: fraction,
  /** Over all processes. Source: lmcache:local_cache_usage, local_storage_usage, remote_cache_usage. */
  memoryUsedBytes: bytes,
  storageUsedBytes: bytes,
  remoteUsedBytes: bytes,
});
export type CacheTierReport = z.infer<typeof CacheTierReport>;

/** The GPUs of one model, as far as it can be known which they are. */
export const ModelGpusReport = z.looseObject({
  /** null: not known which, and a fault says why. */
  uuids: z.array(z.string().min(1).max(128)).nullable(),
  /** Over all replicas; by tensor parallelism where it is not known which. */
  count: z.int().positive().nullable(),
  memoryTotalBytes: bytes,
  memoryUsedBytes: bytes,
  memoryFreeBytes: bytes,
});
export type ModelGpusReport = z.infer<typeof ModelGpusReport>;

export const ModelReport = z.looseObject({
  model: ModelId,
  aliases: z.array(z.string().min(1).max(256)),
  adapters: z.array(z.string().min(1).max(256)),
  state: PlacementState,
  /** Longest prompt and output together. Source: max_model_len. */
  contextLimitTokens: z.int().positive().nullable(),
  replicas: z.array(ReplicaReport),
  /** Over all replicas. */
  kvCapacityTokens: count,
  /** Active use, 0 to 1, not residency. Source: vllm:kv_cache_usage_perc, a fraction despite its name. */
  kvCacheUsedFraction: fraction,
  requestsRunning: count,
  /** Admitted but not yet prefilled. Source: vllm:num_requests_waiting. */
  requestsWaiting: count,
  /** Tokens in the queue that no cache holds; only engines that say so, and gateways. */
  uncachedTokensWaiting: count,
  /** A speed over busy time, not a throughput; computed tokens per second of one replica. */
  prefillTokensPerSecond: rate,
  /** 0 to 1: min(1, prefills in the window ÷ 20), 1 if configured; below 0.25 is low. */
  prefillConfidence: fraction,
  /** Where the speed is from: an engine's counters, or the agent's configuration. Agents before this field do not send it. */
  prefillSource: z.enum(["measured", "configured"]).nullable().optional(),
  /** Mean gap between two output tokens of one response. */
  itlMs: ms,
  /** Prefix-cache hits per query, in tokens, over the window; null before the first query. */
  prefixHitFraction: fraction,
  /** Prompt tokens computed and output tokens written per second, over all replicas: what pushes old contexts out. */
  newTokensPerSecond: count,
  /** Quantiles over the window, queueing included, network excluded. */
  ttftP50Ms: ms,
  ttftP95Ms: ms,
  coldStartMs: ms,
  weightBytes: bytes,
  /** Agents before this field do not send it; empty: no source tells of one. */
  cacheTiers: z.array(CacheTierReport).optional(),
  /** Agents before this field do not send it; null: no exporter of GPUs is configured. */
  gpus: ModelGpusReport.nullable().optional(),
});
export type ModelReport = z.infer<typeof ModelReport>;

export const LinkReport = z.looseObject({ to: RegionId, rttMs: ms, bitsPerSecond: rate });
export type LinkReport = z.infer<typeof LinkReport>;

/** Why a field is null: which source (`host:port`, `dcgm`), which field, and a code such as `missing` or `not-finite`. */
export const ReportFault = z.looseObject({
  source: z.string().max(256),
  field: z.string().max(128),
  code: z.string().max(64),
});
export type ReportFault = z.infer<typeof ReportFault>;

/** Under which names engines that are alike say what they say. */
export const ReadingReport = z.looseObject({
  engine: z.string().max(64),
  /** `host:port` of each. */
  addresses: z.array(z.string().max(256)),
  /** By field, the sample's name or the path and key; several are parts of it, or stand in for each other. */
  fields: z.record(z.string().max(64), z.string().max(1_024)),
});
export type ReadingReport = z.infer<typeof ReadingReport>;

/** Characters of a report in the store: fifty times what an agent beside eight GPUs writes. Longer ones are refused unread. */
export const LONGEST_REPORT = 262_144;

export const RegionReport = z.looseObject({
  v: z.literal(1),
  region: RegionId,
  agent: AgentId,
  /** The agent's process: changes when it restarts. */
  boot: z.string().min(1).max(64),
  /** Of the agent's program; agents before this field do not send it. */
  agentVersion: z.string().max(64).optional(),
  /** Counts reports of one boot, from 1. */
  seq: z.int().positive(),
  /** Epoch ms, for display only; a report's age is the store's time to live. */
  reportedAtMs: z.int().positive(),
  /** Sources read by this report, and of those the ones that failed. */
  gpus: z.array(GpuReport),
  models: z.array(ModelReport),
  links: z.array(LinkReport),
  faults: z.array(ReportFault),
  /** What engines' fields were found under; agents before this field do not send it. */
  readings: z.array(ReadingReport).optional(),
  /** HMAC-SHA-256 with the region's report key over the canonical JSON (RFC 8785) without this field; null: unsigned. */
  mac: z.string().nullable(),
});
export type RegionReport = z.infer<typeof RegionReport>;
