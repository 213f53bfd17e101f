/** GPU memory out of a page of NVIDIA's dcgm-exporter. */
import type { GpuReport } from "#shared/report.ts";
import type { Fault, Page } from "../exposition.ts";
import { labelOf, type Sample } from "../exposition-line.ts";
import { isSlice, type Memory, type MemoryMib, slicesTogether } from "./dcgm-slices.ts";
import { bytesOfMib, type Mib, mibOfSame } from "./mib.ts";

export type GpuReading = { readonly gpus: readonly GpuReport[]; readonly faults: readonly Fault[] };

export const isDcgm = (page: Page): boolean => [...page.samples.keys()].some((name) => name.startsWith("DCGM_FI_"));

/**
 * Total = used + free + reserved, as the exporter lists no total by default.
 *
 * @param uuids of the GPUs that serve, since the exporter covers the whole host; empty: all of them
 */
export const readDcgm = (page: Page, uuids: readonly string[]): GpuReading => {
  const faults: Fault[] = [...page.faults];
  const used = seriesByUuid(page, "DCGM_FI_DEV_FB_USED");
  const free = seriesByUuid(page, "DCGM_FI_DEV_FB_FREE");
  const reserved = seriesByUuid(page, "DCGM_FI_DEV_FB_RESERVED");
  const total = seriesByUuid(page, "DCGM_FI_DEV_FB_TOTAL");
  const found = [...new Set([...used.keys(), ...free.keys()])].sort();
  if (found.length === 0) faults.push({ field: "DCGM_FI_DEV_FB_USED", code: "metrics-contract-broken" });
  const gpus = (uuids.length === 0 ? found : uuids).map((uuid) => {
    const memory = memoryOf({
      used: used.get(uuid) ?? [],
      free: free.get(uuid) ?? [],
      reserved: reserved.get(uuid) ?? [],
    });
    const mib = (field: string, value: Mib): number | null => {
      if (value.kind === "unknown") faults.push({ field: `${uuid} ${field}`, code: value.code });
      return value.kind === "known" ? value.mib : null;
    };
    const usedMib = mib("memoryUsedBytes", memory.used);
    const freeMib = mib("memoryFreeBytes", memory.free);
    const stated = statedMib(used.get(uuid) ?? [], total.get(uuid) ?? []);
    const reservedMib = stated === null ? mib("memoryTotalBytes", memory.reserved) : null;
    const summed = sumOf([usedMib, freeMib, reservedMib]);
    const totalMib = stated ?? summed;
    return {
      uuid,
      memoryTotalBytes: totalMib === null ? null : bytesOfMib(totalMib),
      memoryUsedBytes: usedMib === null ? null : bytesOfMib(usedMib),
      memoryFreeBytes: freeMib === null ? null : bytesOfMib(freeMib),
    };
  });
  return { gpus, faults };
};

/** A total is not in the exporter's usual list; where an operator added it, it is the sum. Slices have none of their own. */
const statedMib = (used: readonly Sample[], total: readonly Sample[]): number | null => {
  const stated = mibOfSame(total);
  return used.some(isSlice) || stated.kind === "unknown" ? null : stated.mib;
};

const sumOf = (parts: readonly (number | null)[]): number | null =>
  parts.reduce<number | null>((sum, part) => (sum === null || part === null ? null : sum + part), 0);

type SeriesByUuid = ReadonlyMap<string, readonly Sample[]>;

const seriesByUuid = (page: Page, name: string): SeriesByUuid => {
  const byUuid = new Map<string, Sample[]>();
  for (const sample of page.samples.get(name) ?? []) {
    const uuid = labelOf(sample, "UUID") ?? labelOf(sample, "uuid") ?? "";
    if (uuid !== "") byUuid.set(uuid, [...(byUuid.get(uuid) ?? []), sample]);
  }
  return byUuid;
};

/** Of one GPU, which counts once however many engines or pods share it. */
const memoryOf = (memory: Memory): MemoryMib => {
  const whole = (samples: readonly Sample[]): readonly Sample[] => samples.filter((sample) => !isSlice(sample));
  const isTold = whole(memory.used).length > 0 || whole(memory.free).length > 0;
  const isSliced = memory.used.some(isSlice) || memory.free.some(isSlice);
  if (isSliced && !isTold) return slicesTogether(memory);
  return {
    used: mibOfSame(whole(memory.used)),
    free: mibOfSame(whole(memory.free)),
    reserved: mibOfSame(whole(memory.reserved)),
  };
};
