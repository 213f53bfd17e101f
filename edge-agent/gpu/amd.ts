/** GPU memory out of a page of AMD's device-metrics-exporter. */
import type { Fault, Page } from "../exposition.ts";
import { labelOf, type Sample } from "../exposition-line.ts";
import type { GpuReading } from "./dcgm.ts";
import { bytesOfMib, type Mib, mibOfSame } from "./mib.ts";

/** A prefix such as `amd_` may be configured in the exporter. */
const NAME = /^(.*)gpu_(?:total|used|free)_vram$/i;

export const isAmd = (page: Page): boolean => prefixOf(page) !== null;

const prefixOf = (page: Page): string | null => {
  for (const name of page.samples.keys()) {
    const [, prefix] = NAME.exec(name) ?? [];
    if (prefix !== undefined) return prefix;
  }
  return null;
};

/**
 * The exporter's documentation says MB; an MI300X with 192 GiB tells 196 592, so it means MiB.
 *
 * A partitioned GPU has one series a partition, each with its own memory (`nps4`) or all with the whole GPU's (`nps1`).
 *
 * @param uuids serial numbers of the GPUs that serve (`GPU-0` and so on where the exporter names none); empty: all of the host
 */
export const readAmd = (page: Page, uuids: readonly string[]): GpuReading => {
  const faults: Fault[] = [...page.faults];
  const prefix = prefixOf(page) ?? "";
  const series = (name: string) => Map.groupBy(page.samples.get(prefix + name) ?? [], nameOf);
  const [total, used, free] = [series("gpu_total_vram"), series("gpu_used_vram"), series("gpu_free_vram")];
  const found = [...new Set([...total.keys(), ...used.keys(), ...free.keys()])].sort();
  const gpus = (uuids.length === 0 ? found : uuids).map((uuid) => {
    const bytes = (field: string, samples: readonly Sample[]): number | null => {
      const value = mibOf(samples);
      if (value.kind === "unknown") faults.push({ field: `${uuid} ${field}`, code: value.code });
      return value.kind === "known" ? bytesOfMib(value.mib) : null;
    };
    return {
      uuid,
      memoryTotalBytes: bytes("memoryTotalBytes", total.get(uuid) ?? []),
      memoryUsedBytes: bytes("memoryUsedBytes", used.get(uuid) ?? []),
      memoryFreeBytes: bytes("memoryFreeBytes", free.get(uuid) ?? []),
    };
  });
  return { gpus, faults };
};

const nameOf = (sample: Sample): string => {
  const serial = labelOf(sample, "serial_number") ?? "";
  // Virtual functions have no serial number, or all the same empty one.
  return /^0*$/.test(serial) ? `GPU-${labelOf(sample, "gpu_id") ?? ""}` : serial;
};

const mibOf = (samples: readonly Sample[]): Mib => {
  const byPartition = Map.groupBy(samples, (sample) => labelOf(sample, "gpu_partition_id") ?? "");
  const parts = [...byPartition.values()].map(mibOfSame);
  const unknown = parts.find((part) => part.kind === "unknown");
  if (unknown !== undefined) return unknown;
  const mibs = parts.flatMap((part) => (part.kind === "known" ? [part.mib] : []));
  const [first] = mibs;
  if (first === undefined) return { kind: "unknown", code: "missing" };
  const isShared = samples.every(
    (sample) => (labelOf(sample, "gpu_memory_partition_type") ?? "nps1").toLowerCase() === "nps1",
  );
  if (!isShared) return { kind: "known", mib: mibs.reduce((sum, mib) => sum + mib, 0) };
  return mibs.every((mib) => mib === first)
    ? { kind: "known", mib: first }
    : { kind: "unknown", code: "contradictory" };
};
