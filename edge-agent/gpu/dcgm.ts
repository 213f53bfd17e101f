/** GPU memory out of a page of NVIDIA's dcgm-exporter. */
import type { GpuReport } from "#shared/report.ts";
import type { Fault, Page } from "../exposition.ts";
import { labelOf, type Sample } from "../exposition-line.ts";

export type GpuReading = { readonly gpus: readonly GpuReport[]; readonly faults: readonly Fault[] };

const BYTES_PER_MIB = 1_048_576;
/** A petabyte. DCGM writes values near 2⁶³ for "blank". */
const LARGEST_MIB = 1e9;

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
  const found = [...new Set([...used.keys(), ...free.keys()])].sort();
  if (found.length === 0) faults.push({ field: "DCGM_FI_DEV_FB_USED", code: "metrics-contract-broken" });
  const gpus = (uuids.length === 0 ? found : uuids).map((uuid) => {
    const mib = (field: string, series: SeriesByUuid): number | null => {
      const value = mibOf(series.get(uuid) ?? []);
      if (value.kind === "unknown") faults.push({ field: `${uuid} ${field}`, code: value.code });
      return value.kind === "known" ? value.mib : null;
    };
    const usedMib = mib("memoryUsedBytes", used);
    const freeMib = mib("memoryFreeBytes", free);
    const reservedMib = mib("memoryTotalBytes", reserved);
    const isWhole = usedMib !== null && freeMib !== null && reservedMib !== null;
    return {
      uuid,
      memoryTotalBytes: isWhole ? bytes(usedMib + freeMib + reservedMib) : null,
      memoryUsedBytes: usedMib === null ? null : bytes(usedMib),
      memoryFreeBytes: freeMib === null ? null : bytes(freeMib),
    };
  });
  return { gpus, faults };
};

const bytes = (mib: number): number => Math.round(mib * BYTES_PER_MIB);

type SeriesByUuid = ReadonlyMap<string, readonly Sample[]>;

const seriesByUuid = (page: Page, name: string): SeriesByUuid => {
  const byUuid = new Map<string, Sample[]>();
  for (const sample of page.samples.get(name) ?? []) {
    const uuid = labelOf(sample, "UUID") ?? labelOf(sample, "uuid") ?? "";
    if (uuid !== "") byUuid.set(uuid, [...(byUuid.get(uuid) ?? []), sample]);
  }
  return byUuid;
};

type Mib = { readonly kind: "known"; readonly mib: number } | { readonly kind: "unknown"; readonly code: string };

/** Of one GPU, which counts once however many engines or pods share it. */
const mibOf = (samples: readonly Sample[]): Mib => {
  // A slice of a GPU carries its parent's UUID, and its memory is missing, its own or the parent's: nobody can tell.
  const whole = samples.filter((sample) => (labelOf(sample, "GPU_I_ID") ?? "") === "");
  const values = new Set((whole.length > 0 ? whole : samples).map(({ value }) => value));
  const [mib] = values;
  if (mib === undefined) return { kind: "unknown", code: "missing" };
  const code = codeOf(mib, values.size, whole.length === 0 && samples.length > 1);
  return code === null ? { kind: "known", mib } : { kind: "unknown", code };
};

const codeOf = (mib: number, different: number, isSliced: boolean): string | null => {
  if (isSliced) return "mig-memory-unknown";
  if (!Number.isFinite(mib)) return "not-finite";
  if (different > 1) return "contradictory";
  if (mib > LARGEST_MIB) return "blank";
  return mib < 0 ? "out-of-range" : null;
};
