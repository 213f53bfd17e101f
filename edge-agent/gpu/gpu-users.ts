/** Which pods and containers a GPU's exporter says are on it. */
import type { Page } from "../exposition.ts";
import { labelOf, type Sample } from "../exposition-line.ts";

/** Names of pods and containers by the GPU's UUID or serial number. */
export type GpuUsers = ReadonlyMap<string, ReadonlySet<string>>;

/** In the spellings of dcgm-exporter's versions, and as Prometheus renames them. */
const USER_LABELS = ["pod", "pod_name", "exported_pod", "container", "container_name", "exported_container"] as const;
const GPU_LABELS = ["UUID", "uuid", "serial_number"] as const;

export const gpuUsersOn = (page: Page): GpuUsers => {
  const users = new Map<string, Set<string>>();
  for (const sample of [...page.samples.values()].flat()) {
    const gpu = firstOf(sample, GPU_LABELS);
    if (gpu === null) continue;
    const known = users.get(gpu) ?? new Set();
    for (const label of USER_LABELS) {
      const user = labelOf(sample, label) ?? "";
      if (user !== "") known.add(user);
    }
    users.set(gpu, known);
  }
  return users;
};

const firstOf = (sample: Sample, labels: readonly string[]): string | null =>
  labels.map((label) => labelOf(sample, label)).find((value) => value !== null && value !== "") ?? null;
