/** How much of our memory the reports of one region may take: an agent that invents names or words without end harms its region alone. */
import type { RegionId } from "#shared/ids.ts";
import { MOST_AGENTS } from "./agent-index.ts";

export type ReportQuota = {
  /** Takes note of a report's size. @returns null, or why the region may not have this report kept as well */
  readonly whyNot: (region: RegionId, member: string, octets: number) => string | null;
  readonly forget: (region: RegionId, member: string) => void;
};

/** Some two and a half thousand replicas, each of which makes every world and decision slower. */
const MOST_OCTETS = 524_288;

export const createReportQuota = (): ReportQuota => {
  const sizes = new Map<RegionId, Map<string, number>>();
  return {
    whyNot: (region, member, octets) => {
      const ofRegion = sizes.get(region) ?? new Map<string, number>();
      sizes.set(region, ofRegion);
      if (!ofRegion.has(member) && ofRegion.size >= MOST_AGENTS) return `${MOST_AGENTS} agents of the region are kept`;
      let others = 0;
      for (const [other, size] of ofRegion) if (other !== member) others += size;
      if (others + octets > MOST_OCTETS) return `the region's reports are longer than ${MOST_OCTETS} together`;
      ofRegion.set(member, octets);
      return null;
    },
    forget: (region, member) => {
      sizes.get(region)?.delete(member);
    },
  };
};
