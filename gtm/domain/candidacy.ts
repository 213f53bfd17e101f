/** When the regions that may serve change: DNS cells are decided anew at once then. */
import type { ModelId } from "#shared/ids.ts";
import type { Region } from "./region.ts";
import type { OverrideRule, World } from "./world.ts";

/** Grows by one when health, orders, the state of a placement, an expiry, or the overrides differ from the previous world. */
export const candidacyVersionOf = (
  previous: World | null,
  regions: readonly Region[],
  overrides: readonly OverrideRule[],
  expiredAfterMs: number,
): number => {
  if (previous === null) return 1;
  const isSame =
    sameOverrides(previous.overrides, overrides) &&
    previous.regions.length === regions.length &&
    regions.every((region) => isSameCandidate(region, previous.regions, expiredAfterMs));
  return isSame ? previous.candidacyVersion : previous.candidacyVersion + 1;
};

/** The moment of this world if a region serves what it did not serve in the one before; else as it was. */
export const openedAtMsOf = (previous: World | null, regions: readonly Region[], nowMs: number): number => {
  if (previous === null) return nowMs;
  const isOpened = regions.some((region) => {
    const before = previous.regions.find(({ id }) => id === region.id);
    for (const model of region.placements.keys()) if (serves(region, model) && !serves(before, model)) return true;
    return false;
  });
  return isOpened ? nowMs : previous.openedAtMs;
};

/** Loaded, in a region that is there and takes new conversations. */
const serves = (region: Region | undefined, model: ModelId): boolean =>
  region !== undefined &&
  (region.admin === "forced-up" || isUp(region)) &&
  region.placements.get(model)?.state === "loaded";

const isUp = ({ admin, health }: Region): boolean =>
  admin === "active" && (health === "healthy" || health === "degraded");

const isSameCandidate = (region: Region, before: readonly Region[], expiredAfterMs: number): boolean => {
  const was = before.find(({ id }) => id === region.id);
  return (
    was !== undefined &&
    was.health === region.health &&
    was.admin === region.admin &&
    expiryOf(was, expiredAfterMs) === expiryOf(region, expiredAfterMs) &&
    samePlacements(was, region)
  );
};

const expiryOf = ({ reportAgeMs }: Region, expiredAfterMs: number): "never" | "live" | "expired" =>
  reportAgeMs === null ? "never" : reportAgeMs > expiredAfterMs ? "expired" : "live";

const samePlacements = (a: Region, b: Region): boolean => {
  if (a.placements.size !== b.placements.size) return false;
  for (const [model, { state }] of a.placements) if (b.placements.get(model)?.state !== state) return false;
  return true;
};

const sameOverrides = (a: readonly OverrideRule[], b: readonly OverrideRule[]): boolean =>
  a === b || (a.length === b.length && a.every((rule, i) => sameRule(rule, b[i])));

const sameRule = (a: OverrideRule, b: OverrideRule | undefined): boolean =>
  b !== undefined &&
  a.id === b.id &&
  a.kind === b.kind &&
  shareOf(a) === shareOf(b) &&
  a.region === b.region &&
  a.pool === b.pool &&
  a.model === b.model &&
  a.tenant === b.tenant;

const shareOf = (rule: OverrideRule): number | null => (rule.kind === "share" ? rule.share : null);
