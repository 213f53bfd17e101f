/** The memory of one GPU that is cut into slices (MIG): whether exporters tell each slice's own or repeat the whole GPU's, and what it comes to. */
import { labelOf, type Sample } from "../exposition-line.ts";
import { type Mib, mibOfSame } from "./mib.ts";

/** Series of one GPU. */
export type Memory = {
  readonly used: readonly Sample[];
  readonly free: readonly Sample[];
  readonly reserved: readonly Sample[];
};

export type MemoryMib = { readonly used: Mib; readonly free: Mib; readonly reserved: Mib };

const KINDS = ["used", "free", "reserved"] as const;

/** A slice's profile names its memory, as in `1g.10gb` and `3g.40gb+me`; drivers keep up to a tenth of it, and call 1000 MB a GB or not. */
const PROFILE = /^\d+g\.(\d+)gb(?:\+.*)?$/i;
const MIB_PER_GIB = 1_024;
const LEAST_OF_PROFILE = 0.8;
const MOST_OF_PROFILE = 1.1;

export const isSlice = (sample: Sample): boolean => (labelOf(sample, "GPU_I_ID") ?? "") !== "";

/**
 * dcgm-exporter gives slices their parent's UUID. Some versions tell each slice's own memory, some repeat the parent's
 * (dcgm-exporter#380, #512); the size in the profile's name tells which.
 *
 * @param memory of slices only
 * @returns what the GPU has in all its slices; `mig-memory-unknown` where nobody can tell
 */
export const slicesTogether = (memory: Memory): MemoryMib => {
  const bySlice = new Map<string, Memory>();
  for (const kind of KINDS) {
    for (const sample of memory[kind]) {
      const id = labelOf(sample, "GPU_I_ID") ?? "";
      const slice = bySlice.get(id) ?? { used: [], free: [], reserved: [] };
      bySlice.set(id, { ...slice, [kind]: [...slice[kind], sample] });
    }
  }
  const slices = [...bySlice.values()].map(sliceOf);
  if (slices.every(({ says }) => says === "own")) return mapKinds((kind) => sumOf(slices.map((slice) => slice[kind])));
  if (slices.every(({ says }) => says === "parent's")) return mapKinds((kind) => mibOfSame(memory[kind]));
  return mapKinds(() => ({ kind: "unknown", code: "mig-memory-unknown" }));
};

type Slice = MemoryMib & { readonly says: "own" | "parent's" | "nobody knows" };

const sliceOf = (memory: Memory): Slice => {
  const read = mapKinds((kind) => mibOfSame(memory[kind]));
  const [, gib] = PROFILE.exec(labelOf(memory.used[0] ?? NO_SAMPLE, "GPU_I_PROFILE") ?? "") ?? [];
  if (gib === undefined || read.used.kind === "unknown" || read.free.kind === "unknown") {
    return { ...read, says: "nobody knows" };
  }
  const mib = read.used.mib + read.free.mib + (read.reserved.kind === "known" ? read.reserved.mib : 0);
  const ofProfile = mib / (Number(gib) * MIB_PER_GIB);
  if (ofProfile > MOST_OF_PROFILE) return { ...read, says: "parent's" };
  return { ...read, says: ofProfile >= LEAST_OF_PROFILE ? "own" : "nobody knows" };
};

const NO_SAMPLE: Sample = { labelNames: [], labelValues: [], value: 0 };

const mapKinds = (make: (kind: (typeof KINDS)[number]) => Mib): MemoryMib => ({
  used: make("used"),
  free: make("free"),
  reserved: make("reserved"),
});

const sumOf = (parts: readonly Mib[]): Mib => {
  const unknown = parts.find((part) => part.kind === "unknown");
  if (unknown !== undefined) return unknown;
  return { kind: "known", mib: parts.reduce((sum, part) => sum + (part.kind === "known" ? part.mib : 0), 0) };
};
