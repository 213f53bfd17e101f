/** What follows from a region's states: whether it keeps the conversations it holds and takes new ones, and why. */
import { KV_CACHE_FULL_FRACTION } from "#gtm/domain/health.ts";
import type { Region } from "#gtm/domain/region.ts";
import type { Policy } from "#gtm/steering/policy.ts";
import { formatMs } from "#gtm/steering/quantity-text.ts";
import { ageText } from "./quantity-text.ts";

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
      because: `Draining: keeps the conversations it holds, takes no new ones.${alsoDegraded(region, policy)}`,
    };
  }
  return { takesNew: true, keepsHeld: true, because: inService(region, policy) };
};

const nothing = (because: string): Standing => ({ takesNew: false, keepsHeld: false, because });

const inService = (region: Region, policy: Policy): string => {
  const { admin, health } = region;
  const why = degradedBecause(region, policy);
  if (admin === "forced-up") {
    const said = health === "degraded" ? `degraded: ${why}` : health;
    return `Forced up: in service although monitoring is ignored (${said}).`;
  }
  if (health === "degraded") return `In service, though degraded: ${why}.`;
  return health === "healthy" ? "In service." : `In service, though ${health}.`;
};

const alsoDegraded = (region: Region, policy: Policy): string =>
  region.health === "degraded" ? ` Degraded: ${degradedBecause(region, policy)}.` : "";

/** What makes a region that is degraded degraded, in the order in which monitoring asks (gtm/domain/health.ts). */
const degradedBecause = ({ reportAgeMs, isPartial, placements }: Region, policy: Policy): string => {
  const isStale = reportAgeMs !== null && reportAgeMs > policy.staleAfterMs;
  const known = [
    ...(isStale ? [`last reported ${ageText(reportAgeMs)} ago`] : []),
    ...(isPartial ? ["an agent is missing, so counts and capacity are lower bounds"] : []),
    ...[...placements.values()].flatMap(({ model, kvCacheUsedFraction: used }) =>
      used === null || used < KV_CACHE_FULL_FRACTION
        ? []
        : [`the KV cache of ${model} is ${Math.floor(used * 100)} % full`],
    ),
  ];
  // There is one more cause, of which a region keeps nothing.
  return known.length === 0 ? "its last probe failed" : known.join("; ");
};
