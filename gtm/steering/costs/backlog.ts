/** How long each replica of a region will be busy when this turn arrives. */
import type { Placement } from "#gtm/domain/placement.ts";
import type { Region } from "#gtm/domain/region.ts";
import { playForward, type Send } from "#gtm/domain/serving.ts";
import type { World } from "#gtm/domain/world.ts";
import type { Policy } from "../policy.ts";

/**
 * The reported backlogs, already played forward to `world.takenAtMs`, played on to the arrival with the sends since.
 *
 * @returns ms, 0 or more, one a replica in the placement's order
 */
export const backlogsAt = (
  arrivalAtMs: number,
  region: Region,
  placement: Placement,
  world: World,
  policy: Policy,
): readonly number[] => {
  const { replicas } = placement;
  const sends = sendsTo(region, placement, world);
  // Nearly always nothing was sent there since the world was taken, and then there is nothing to play but time.
  if (sends.length === 0) {
    const elapsedMs = Math.max(0, arrivalAtMs - world.takenAtMs);
    return replicas.map((replica) => Math.max(0, replica.backlogMs - elapsedMs));
  }
  return playForward(
    replicas.map((replica) => replica.backlogMs),
    replicas.map((replica) => replica.id),
    sends,
    { fromMs: world.takenAtMs, toMs: arrivalAtMs, patienceMs: policy.holderPatienceMs },
  );
};

const NO_SENDS: readonly Send[] = [];

/** In order of arrival: a turn from far away was sent before one from nearby and arrives after it. */
const sendsTo = (region: Region, placement: Placement, world: World): readonly Send[] => {
  if (world.sends === null) return NO_SENDS;
  const sends: Send[] = [];
  for (let item: World["sends"] = world.sends; item !== null; item = item.earlier) {
    if (item.region === region.id && item.model === placement.model) sends.push(item.send);
  }
  return sends.sort((a, b) => a.arrivalAtMs - b.arrivalAtMs || a.workMs - b.workMs);
};
