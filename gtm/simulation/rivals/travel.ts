/** What the way to a region and back costs a turn, as measured round trips have it. */
import { tripsFor } from "../network.ts";
import type { Arena, Asked } from "../rival.ts";

export type Travel = {
  /** Round trips until the first token is back, ms. */
  readonly networkMs: number;
  /** When the request reaches the region. */
  readonly arrivalAtMs: number;
};

/** One round trip where the connection of the turn before is still open, else three. */
export const travelTo = (turn: Asked, region: number, { agenda, known }: Pick<Arena, "agenda" | "known">): Travel => {
  const rttMs = known.rttMs(turn.city, region) + turn.lastMileMs;
  const trips = tripsFor(turn.previous === region, turn.idleMs);
  return { networkMs: trips * rttMs, arrivalAtMs: agenda.nowMs() + (trips - 0.5) * rttMs };
};
