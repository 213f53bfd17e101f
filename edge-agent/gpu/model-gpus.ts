/** Which of the region's GPUs serve a model, as far as somebody says it. */
import type { GpuReport, ModelGpusReport } from "#shared/report.ts";
import type { GpuUsers } from "./gpu-users.ts";

/** What the configuration says of one engine's GPUs; empty: nothing. */
export type GpuClaim = {
  readonly uuids: readonly string[];
  /** How the names of its pods or containers begin. */
  readonly pods: readonly string[];
};

export const NO_CLAIM: GpuClaim = { uuids: [], pods: [] };

export type Claims = ReadonlyMap<string, GpuClaim>;

type Known = { readonly gpus: readonly GpuReport[]; readonly users: GpuUsers };

/**
 * By the UUIDs that are configured for its engines, else by the pods or containers that the exporter names, else, beside one model
 * alone, all of the region's.
 *
 * @param addresses `host:port` of the engines that serve it
 * @returns uuids null where one of its engines is attributed by nothing: a part is not the whole
 */
export const modelGpus = (
  addresses: readonly string[],
  known: Known,
  claims: Claims,
  isAlone: boolean,
): ModelGpusReport => {
  const claimed = addresses.map((address) => claimedUuids(address, claims.get(address) ?? NO_CLAIM, known));
  const isWhole = addresses.length > 0 && claimed.every((uuids) => uuids.length > 0);
  const all = known.gpus.map(({ uuid }) => uuid);
  const uuids = isWhole ? [...new Set(claimed.flat())].sort() : isAlone ? all : null;
  if (uuids === null || uuids.length === 0) return UNKNOWN;
  const own = uuids.map((uuid) => known.gpus.find((gpu) => gpu.uuid === uuid) ?? null);
  const sum = (field: "memoryTotalBytes" | "memoryUsedBytes" | "memoryFreeBytes"): number | null =>
    own.reduce<number | null>((total, gpu) => {
      const bytes = gpu?.[field] ?? null;
      return total === null || bytes === null ? null : total + bytes;
    }, 0);
  return {
    uuids,
    count: uuids.length,
    memoryTotalBytes: sum("memoryTotalBytes"),
    memoryUsedBytes: sum("memoryUsedBytes"),
    memoryFreeBytes: sum("memoryFreeBytes"),
  };
};

const UNKNOWN: ModelGpusReport = {
  uuids: null,
  count: null,
  memoryTotalBytes: null,
  memoryUsedBytes: null,
  memoryFreeBytes: null,
};

/** IPv4, or IPv6 in its brackets. */
const ADDRESS = /^(?:[\d.]+|\[.*\])$/;

const claimedUuids = (address: string, { uuids, pods }: GpuClaim, { users }: Known): readonly string[] => {
  if (uuids.length > 0) return uuids;
  const host = address.slice(0, address.lastIndexOf(":"));
  // A pod of a stateful set and a container of Compose are called as the first part of their host's name.
  const [name = ""] = ADDRESS.test(host) ? [] : host.split(".");
  const isIts = (user: string): boolean =>
    pods.length > 0 ? pods.some((pod) => user.startsWith(pod)) : name !== "" && user === name;
  return [...users].flatMap(([uuid, names]) => ([...names].some(isIts) ? [uuid] : []));
};

/** Models that have a GPU together with another: its memory is counted for each of them. */
export const sharers = (byModel: ReadonlyMap<string, ModelGpusReport>): readonly string[] => {
  const owners = new Map<string, string[]>();
  for (const [model, { uuids }] of byModel) {
    for (const uuid of uuids ?? []) owners.set(uuid, [...(owners.get(uuid) ?? []), model]);
  }
  return [...new Set([...owners.values()].filter((models) => models.length > 1).flat())];
};
