/** A GPU reading as `edge-agent read` shows it, with what all GPUs have together. */
import type { GpuReport } from "#shared/report.ts";
import { type GpuReading, readDcgm } from "../gpu/dcgm.ts";
import { readNvidiaSmi } from "../gpu/nvidia-smi.ts";
import type { Captured } from "./captured.ts";

export type GpuView = GpuReading & {
  readonly source: string;
  /** Of all GPUs; null: one of them does not say, or there is none. */
  readonly gpuMemoryTotalBytes: number | null;
  readonly gpuMemoryUsedBytes: number | null;
  readonly gpuMemoryFreeBytes: number | null;
};

export const gpuView = (captured: Extract<Captured, { kind: "dcgm" | "nvidia-smi" }>): GpuView => {
  const reading = captured.kind === "dcgm" ? readDcgm(captured.page, []) : readNvidiaSmi(captured.text, []);
  return {
    source: captured.kind,
    ...reading,
    gpuMemoryTotalBytes: total(reading.gpus.map(({ memoryTotalBytes }) => memoryTotalBytes)),
    gpuMemoryUsedBytes: total(reading.gpus.map(({ memoryUsedBytes }) => memoryUsedBytes)),
    gpuMemoryFreeBytes: total(reading.gpus.map(({ memoryFreeBytes }) => memoryFreeBytes)),
  };
};

const total = (bytes: readonly GpuReport["memoryTotalBytes"][]): number | null => {
  const known = bytes.filter((value) => value !== null);
  return known.length === 0 || known.length < bytes.length ? null : known.reduce((sum, value) => sum + value, 0);
};
