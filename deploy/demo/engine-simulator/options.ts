/** What an engine simulator is told when it starts. */
import { DEFAULT_ENGINE, type EngineOptions } from "#gtm/simulation/serving/engine-options.ts";
import type { Clock } from "#shared/clock.ts";
import type { Logger } from "#shared/logger.ts";
import type { Flavour } from "./flavour.ts";

export type EngineSimulatorOptions = {
  /** Port 0: any free one; `address()` tells which. */
  readonly listen: { readonly address: string; readonly port: number };
  readonly region: string;
  /** As metrics name it; the first of the served names. */
  readonly model: string;
  readonly aliases: readonly string[];
  /** What clients must know; null: nothing. */
  readonly apiKey: string | null;
  readonly flavour: Flavour;
  /** Of llama.cpp: 1. */
  readonly replicas: number;
  readonly engine: EngineOptions;
  readonly routing: "affinity" | "round-robin";
  readonly seed: number;
  /** Longest prompt and output together. */
  readonly contextLimitTokens: number;
  /** Of each of the region's eight GPUs. */
  readonly gpuMemoryBytes: number;
  /** How long `stop` waits for answers being written before it cuts them off. */
  readonly drainMs: number;
  readonly clock: Clock;
  readonly log: Logger;
};

/** An 80 GB GPU as its driver counts it. */
const GPU_MEMORY_BYTES = 81_559 * 1_048_576;

export const DEFAULT_SIMULATOR: Omit<EngineSimulatorOptions, "listen" | "region" | "model" | "clock" | "log"> = {
  aliases: [],
  apiKey: null,
  flavour: "vllm",
  replicas: 4,
  engine: DEFAULT_ENGINE,
  routing: "affinity",
  seed: 1,
  contextLimitTokens: 131_072,
  gpuMemoryBytes: GPU_MEMORY_BYTES,
  drainMs: 3_000,
};
