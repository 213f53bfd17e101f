/** Which of the front door's hostnames a request is for. */
import type { Pool } from "#gtm/domain/pool.ts";

export type Site =
  /** Any pool: the model asked for decides. */
  | { readonly kind: "any" }
  | { readonly kind: "pool"; readonly pool: Pool }
  /** `<label>.c.<zone>`: one conversation. */
  | { readonly kind: "label"; readonly label: string };

export type Hosts = {
  /** `example.org`, lower case, without final dot. */
  readonly zoneName: string;
  readonly pools: readonly Pool[];
  /** For hosts that are no pool's name; null: such hosts are not ours. */
  readonly defaultPool: Pool | null;
};

const ANY: Site = { kind: "any" };

/**
 * @returns a function from a hostname (lower case, no port, no final dot; null: none was sent) to what it is for; null when
 * the host is not ours (421)
 */
export const siteFinder = ({ zoneName, pools, defaultPool }: Hosts): ((host: string | null) => Site | null) => {
  const front = `front.${zoneName}`;
  const sites = new Map<string, Site>([[front, ANY]]);
  for (const pool of pools) {
    sites.set(`${pool.name}.${front}`, { kind: "pool", pool });
    // Who answers to any name answers to this one, and with no other pool than the one it names.
    if (pool.answer === "front" || defaultPool !== null) sites.set(`${pool.name}.${zoneName}`, { kind: "pool", pool });
  }
  const labels = `.c.${zoneName}`;
  const otherwise = defaultPool === null ? null : ANY;
  return (host) => {
    if (host === null) return otherwise;
    const site = sites.get(host);
    if (site !== undefined) return site;
    const label = host.endsWith(labels) ? host.slice(0, -labels.length) : "";
    return label !== "" && !label.includes(".") ? { kind: "label", label } : otherwise;
  };
};
