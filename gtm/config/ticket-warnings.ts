/** What works of tickets and of forwarding, and is hardly meant so. */
import type { Pool } from "#gtm/domain/pool.ts";
import type { RegionSite } from "#gtm/domain/region.ts";

/** @returns sentences for the person who wrote the configuration */
export const ticketWarnings = (pools: readonly Pool[], sites: readonly RegionSite[]): readonly string[] => [
  ...sites.filter(isOpen).map(({ id, endpoint }) => `region ${id}: tickets travel to ${endpoint.url} without TLS`),
  ...pools
    .filter(({ mode }) => mode !== "forward")
    .flatMap(({ name, regions }) => {
      const members = sites.filter(({ id }) => regions.includes(id));
      const without = members.filter(({ hasGateway }) => !hasGateway).map(({ id }) => id);
      if (without.length === 0 || without.length === members.length) return [];
      return [`pool ${name}: credentials reach only the regions that have a gateway, not ${without.join(", ")}`];
    }),
];

const isOpen = ({ hasGateway, endpoint }: RegionSite): boolean => {
  const { protocol, hostname } = new URL(endpoint.url);
  return hasGateway && protocol === "http:" && !/^(?:127\.|localhost$|\[::1\]$)/.test(hostname);
};
