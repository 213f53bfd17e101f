/** What is answered when no region is a candidate: the same for every query while the state is the same. */
import type { Considered, Decision } from "#gtm/domain/decision.ts";
import { rendezvousDraw } from "#gtm/domain/hash.ts";
import type { LastResort } from "#gtm/domain/pool.ts";
import type { Region } from "#gtm/domain/region.ts";
import type { Turn } from "#gtm/domain/turn.ts";
import type { OverrideRule, World } from "#gtm/domain/world.ts";
import type { RegionId } from "#shared/ids.ts";
import { isAllowed } from "./candidates.ts";
import { type DrainsAt, overridesInForce } from "./leaving.ts";
import { overriddenBy, overShareOf } from "./overrides.ts";

/** The pool's last resort, without the regions that data residency keeps out; SERVFAIL where nothing is left. */
export const lastResortOf = (turn: Turn, world: World): LastResort => {
  const { lastResort } = turn.pool;
  if (lastResort.kind !== "regions") return lastResort;
  const order = lastResort.order.filter((id) => {
    const region = world.regions.find((one) => one.id === id);
    return region !== undefined && isAllowed(region, turn.pool);
  });
  return order.length > 0 ? { kind: "regions", order } : { kind: "servfail" };
};

/**
 * A GTM that knows nothing (no report of any region yet, or the store away since it started) still answers: where a signed
 * token points, else by rendezvous over the configured regions, the same on every instance.
 *
 * @returns null when something is known, and then the last resort holds
 */
export const blindVerdict = (
  considered: readonly Considered[],
  turn: Turn,
  world: World,
  { overrides, draining }: { readonly overrides: readonly OverrideRule[]; readonly draining: DrainsAt },
): Blind | null => {
  if (world.regions.some((region) => region.reportAgeMs !== null)) return null;
  const mayServe = (region: Region): boolean =>
    isUnheard(considered, region.id) &&
    isAllowed(region, turn.pool) &&
    overriddenBy(overridesInForce(overrides, region.id, turn, draining), region.id, region.id === turn.home) === null &&
    (turn.stateRegion === null || turn.stateRegion === region.id);
  const regions = world.regions.filter(mayServe).map((region) => region.id);
  const overShare = (region: RegionId) => (region === turn.home ? null : overShareOf(overrides, region, turn.hashKey));
  const within = regions.filter((region) => overShare(region) === null);
  const willing = within.filter((region) => !turn.refusedBy.includes(region));
  const open = [willing, within].find(({ length }) => length > 0) ?? regions;
  const chosen = open.find((region) => region === turn.home) ?? firstByHash(open, turn.hashKey);
  if (chosen === null) return null;
  const over = within.length > 0 ? null : overShare(chosen);
  return {
    verdict: { kind: chosen === turn.home ? "pinned" : "placed", region: chosen, runnerUp: null, leadMs: null },
    yieldedOverrideIds: over === null ? [] : [over.id],
  };
};

type Blind = Pick<Decision, "verdict" | "yieldedOverrideIds">;

const isUnheard = (considered: readonly Considered[], region: RegionId): boolean =>
  considered.some(
    (one) =>
      one.region === region &&
      one.kind === "excluded" &&
      one.exclusion.reason === "report-expired" &&
      one.exclusion.ageMs === null,
  );

const firstByHash = (regions: readonly RegionId[], hashKey: string): RegionId | null => {
  let winner: RegionId | null = null;
  for (const region of regions) {
    if (winner === null || rendezvousDraw(hashKey, region, 1) > rendezvousDraw(hashKey, winner, 1)) winner = region;
  }
  return winner;
};
