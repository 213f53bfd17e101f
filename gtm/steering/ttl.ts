/** How long a DNS answer may be kept: short while something is about to change. */
import { regionOf, type Verdict } from "#gtm/domain/decision.ts";
import type { Region } from "#gtm/domain/region.ts";
import type { Turn } from "#gtm/domain/turn.ts";
import type { World } from "#gtm/domain/world.ts";
import type { Policy } from "./policy.ts";

/** Steady unless the region answered, or the home left, drains or is degraded, or the choice is close. */
export const ttlSeconds = (verdict: Verdict, marginMs: number, turn: Turn, world: World, policy: Policy): number => {
  const isSettled =
    isSteadyVerdict(verdict, marginMs) &&
    world.regions.every((region) => !concerns(region, verdict, turn) || isSteadyRegion(region));
  return isSettled ? policy.ttlSteadySeconds : policy.ttlUnsettledSeconds;
};

const isSteadyVerdict = (verdict: Verdict, marginMs: number): boolean => {
  switch (verdict.kind) {
    case "pinned":
      return true;
    case "placed":
      return verdict.leadMs === null ? verdict.runnerUp === null : verdict.leadMs >= marginMs;
    case "migrated":
    case "displaced":
    case "unserved":
      return false;
  }
};

const concerns = (region: Region, verdict: Verdict, turn: Turn): boolean =>
  region.id === regionOf(verdict) || region.id === turn.home;

const isSteadyRegion = (region: Region): boolean =>
  region.health !== "degraded" &&
  region.health !== "silent" &&
  (region.admin === "active" || region.admin === "forced-up");
