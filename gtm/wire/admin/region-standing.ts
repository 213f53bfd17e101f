/** What follows from a region's states: whether it keeps the conversations it holds and takes new ones, and why. */
import type { Region } from "#gtm/domain/region.ts";
import type { Policy } from "#gtm/steering/policy.ts";
import { formatMs } from "#gtm/steering/quantity-text.ts";

export type Standing = {
  readonly takesNew: boolean;
  readonly keepsHeld: boolean;
  /** For people; one sentence. */
  readonly because: string;
};

/** The same questions in the same order as steering's exclusions ask them, as far as they do not depend on the turn. */
export const standingOf = (region: Region, policy: Policy): Standing => {
  if (region.admin === "down") return nothing("Ordered down: serves nothing.");
  const isForced = region.admin === "forced-up";
  if (region.health === "unhealthy" && !isForced) return nothing("Does not answer its probe: serves nothing.");
  if (region.admin === "drain-all") return nothing("Being drained: every conversation leaves at its next turn.");
  if (region.reportAgeMs === null) return nothing("Has never reported: what it places is not known.");
  if (region.reportAgeMs > policy.expiredAfterMs && !isForced) {
    return nothing(`Last reported ${formatMs(region.reportAgeMs)} ago: its numbers have expired.`);
  }
  if (![...region.placements.values()].some((placement) => placement.state !== "down")) {
    return nothing("No model is placed here.");
  }
  if (region.admin === "drain-new") {
    return {
      takesNew: false,
      keepsHeld: true,
      because: "Draining: keeps the conversations it holds, takes no new ones.",
    };
  }
  return { takesNew: true, keepsHeld: true, because: inService(region) };
};

const nothing = (because: string): Standing => ({ takesNew: false, keepsHeld: false, because });

const inService = (region: Region): string => {
  if (region.admin === "forced-up") return `Forced up: in service although monitoring is ignored (${region.health}).`;
  if (region.isPartial) return "In service; an agent is missing, so counts and capacity are lower bounds.";
  return region.health === "healthy" ? "In service." : `In service, though ${region.health}.`;
};
