/** GPU memory out of what `nvidia-smi --query-gpu=… --format=csv` prints. */
import type { Fault } from "../exposition.ts";
import type { GpuReading } from "./dcgm.ts";
import { bytesOfMib, LARGEST_MIB } from "./mib.ts";

/** What the agent asks for, and what lines without a header are taken to hold. */
export const NVIDIA_SMI_COLUMNS = [
  "index",
  "uuid",
  "name",
  "memory.total",
  "memory.reserved",
  "memory.used",
  "memory.free",
  "utilization.gpu",
  "mig.mode.current",
] as const;

/** Every line names a GPU by its UUID, or is the header of such lines. */
export const isNvidiaSmi = (text: string): boolean => /^(?:index, uuid,|\d+, (?:GPU|MIG)-)/m.test(text);

/**
 * @param text with or without header and units
 * @param uuids of the GPUs that serve; empty: all
 */
export const readNvidiaSmi = (text: string, uuids: readonly string[]): GpuReading => {
  const faults: Fault[] = [];
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "");
  if (lines.some((line) => line.startsWith("No devices were found"))) {
    return { gpus: unknownGpus(uuids), faults: [{ field: "gpus", code: "no-devices" }] };
  }
  const columns = columnsOf(lines[0] ?? "");
  const rows = new Map<string, readonly string[]>();
  for (const line of lines.slice(columns.isHeader ? 1 : 0)) {
    const cells = line.split(",").map((cell) => cell.trim());
    const uuid = cells[columns.at("uuid")] ?? "";
    if (/^(?:GPU|MIG)-/.test(uuid)) rows.set(uuid, cells);
    else faults.push({ field: "gpus", code: "malformed-line" });
  }
  const wanted = uuids.length === 0 ? [...rows.keys()] : uuids;
  const gpus = wanted.map((uuid) => {
    const cells = rows.get(uuid);
    if (cells === undefined) faults.push({ field: uuid, code: "missing" });
    const bytes = (field: string, column: string): number | null =>
      cells === undefined ? null : bytesOf(cells[columns.at(column)] ?? "", `${uuid} ${field}`, faults);
    return {
      uuid,
      memoryTotalBytes: bytes("memoryTotalBytes", "memory.total"),
      memoryUsedBytes: bytes("memoryUsedBytes", "memory.used"),
      memoryFreeBytes: bytes("memoryFreeBytes", "memory.free"),
    };
  });
  if (rows.size === 0) faults.push({ field: "gpus", code: "missing" });
  return { gpus, faults };
};

const unknownGpus = (uuids: readonly string[]): GpuReading["gpus"] =>
  uuids.map((uuid) => ({ uuid, memoryTotalBytes: null, memoryUsedBytes: null, memoryFreeBytes: null }));

type Columns = { readonly isHeader: boolean; readonly at: (column: string) => number };

const columnsOf = (firstLine: string): Columns => {
  const named = firstLine.split(",").map((cell) => cell.trim().replace(/ \[.*\]$/, ""));
  const isHeader = named.includes("uuid");
  const columns: readonly string[] = isHeader ? named : NVIDIA_SMI_COLUMNS;
  return { isHeader, at: (column) => columns.indexOf(column) };
};

/** Unified-memory parts and broken ones have no number: `[N/A]`, `[Not Supported]`, `[GPU is lost]`, `ERR!`. */
const NO_NUMBER = /^(?:\[|N\/A|ERR!)/;

const bytesOf = (cell: string, field: string, faults: Fault[]): number | null => {
  const [, number] = /^(\d+(?:\.\d+)?)(?: MiB)?$/.exec(cell) ?? [];
  const mib = Number(number ?? Number.NaN);
  if (mib <= LARGEST_MIB) return bytesOfMib(mib);
  faults.push({ field, code: NO_NUMBER.test(cell) ? "not-available" : "malformed" });
  return null;
};
