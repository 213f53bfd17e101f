/** Which of the names that lead to this region a request calls; any other is somebody else's. */
import type { PoolName, RegionId } from "#shared/ids.ts";

export type Site =
  /** `<region>.r.<zone>`, where redirects lead, or a further configured name. */
  | { readonly kind: "region" }
  /** `<pool>.<zone>`. */
  | { readonly kind: "pool"; readonly pool: PoolName }
  /** `<model>.m.<zone>`; the model itself stands in the body. */
  | { readonly kind: "model" }
  /** `<label>.c.<zone>`: one conversation. */
  | { readonly kind: "label"; readonly label: string };

export type Names = {
  /** Lower case, without final dot. */
  readonly zone: string;
  readonly region: RegionId;
  readonly pools: readonly PoolName[];
  readonly hosts: readonly string[];
};

/** @returns a function from a hostname (lower case, no port, no final dot; null: none was sent) to what it is; null: not ours (421) */
export const siteFinder = ({ zone, region, pools, hosts }: Names): ((host: string | null) => Site | null) => {
  const sites = new Map<string, Site>(pools.map((pool) => [`${pool}.${zone}`, { kind: "pool", pool }]));
  for (const host of [`${region}.r.${zone}`, ...hosts]) sites.set(host, { kind: "region" });
  const [labels, models] = [`.c.${zone}`, `.m.${zone}`];
  return (host) => {
    if (host === null) return null;
    const site = sites.get(host);
    if (site !== undefined) return site;
    const label = soleLabelBefore(labels, host);
    if (label !== null) return { kind: "label", label };
    return soleLabelBefore(models, host) === null ? null : { kind: "model" };
  };
};

const soleLabelBefore = (suffix: string, host: string): string | null => {
  if (!host.endsWith(suffix)) return null;
  const label = host.slice(0, -suffix.length);
  return label === "" || label.includes(".") ? null : label;
};
