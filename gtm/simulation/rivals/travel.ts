/** What the way to a region and back costs a turn, as measured round trips have it. */
import { createNearestRegion, tripsFor } from "../network.ts";
import type { Arena, Asked } from "../rival.ts";

export type Travel = {
  /** Round trips until the first token is back, ms. */
  readonly networkMs: number;
  /** When the request reaches the region. */
  readonly arrivalAtMs: number;
};

/** One round trip where the connection of the turn before is still open, else three; a redirect reaches the client first. */
export const createTravel = (
  arena: Pick<Arena, "agenda" | "known" | "scenario">,
): ((turn: Asked, region: number) => Travel) => {
  const { agenda, known, scenario } = arena;
  const nearest = createNearestRegion(scenario);
  return (turn, region) => {
    const rttMs = known.rttMs(turn.city, region) + turn.lastMileMs;
    const frontMs = known.rttMs(turn.city, nearest(turn.city)) + turn.lastMileMs;
    const leavesAfterMs = scenario.leading.kind === "redirect" ? frontMs / 2 : 0;
    const trips = tripsFor(turn.previous === region, turn.idleMs);
    return { networkMs: trips * rttMs, arrivalAtMs: agenda.nowMs() + leavesAfterMs + (trips - 0.5) * rttMs };
  };
};
