/** The page of a DCGM exporter on the region's one host of eight GPUs. */
import { hash32 } from "#gtm/domain/hash.ts";
import { expose, type Family, type Labels } from "./exposition.ts";

export type GpuFacts = {
  readonly region: string;
  /** Of each GPU. */
  readonly memoryBytes: number;
  /** Whether each replica computes now; the replicas share the GPUs out among them. */
  readonly isBusy: readonly boolean[];
  readonly isAsleep: boolean;
};

const GPUS = 8;
const MIB = 1_048_576;
/** What the driver keeps for itself. */
const RESERVED_MIB = 480;
/** Engines take their memory when they start, whatever they then need. */
const ENGINE_FRACTION = 0.92;

export const dcgmPage = (facts: GpuFacts): string => {
  const gpus = Array.from({ length: GPUS }, (_, gpu) => gpu);
  const totalMib = Math.floor(facts.memoryBytes / MIB);
  const usedMib = facts.isAsleep ? 0 : Math.floor(totalMib * ENGINE_FRACTION);
  const gauge = (name: string, help: string, pick: (gpu: number) => number): Family => ({
    kind: "gauge",
    name,
    help,
    series: gpus.map((gpu) => ({ labels: labelsOf(facts.region, gpu), value: pick(gpu) })),
  });
  const isBusy = (gpu: number): boolean => facts.isBusy[Math.floor((gpu * facts.isBusy.length) / GPUS)] ?? false;
  const page = expose(
    [
      gauge("DCGM_FI_DEV_GPU_UTIL", "GPU utilization (in %).", (gpu) => (isBusy(gpu) ? 100 : 0)),
      gauge("DCGM_FI_DEV_FB_FREE", "Framebuffer memory free (in MiB).", () => totalMib - usedMib - RESERVED_MIB),
      gauge("DCGM_FI_DEV_FB_USED", "Framebuffer memory used (in MiB).", () => usedMib),
      gauge("DCGM_FI_DEV_FB_RESERVED", "Framebuffer memory reserved (in MiB).", () => RESERVED_MIB),
    ],
    0,
  );
  // The exporter is written in Go, which leaves the point of a whole number out.
  return page.replaceAll(/\.0$/gm, "");
};

/** UUIDs differ between regions, or an agent would take the GPUs of two for the same. */
const labelsOf = (region: string, gpu: number): Labels => ({
  gpu: String(gpu),
  UUID: `GPU-${hash32(region).toString(16).padStart(8, "0")}-0000-4000-8000-${String(gpu).padStart(12, "0")}`,
  pci_bus_id: `00000000:${(0x12 + gpu).toString(16).toUpperCase()}:00.0`,
  device: `nvidia${gpu}`,
  modelName: "NVIDIA H100 80GB HBM3",
  Hostname: `gpu-node.${region}`,
  DCGM_FI_DRIVER_VERSION: "570.86.15",
});
