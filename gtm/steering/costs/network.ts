/** Round trips until the request is at the region and its first token back. */
import type { Region } from "#gtm/domain/region.ts";
import { greatCircleRttMs } from "#gtm/domain/topology.ts";
import type { Turn } from "#gtm/domain/turn.ts";
import type { Policy } from "../policy.ts";

/** One round trip between client and region in ms; where either location is unknown, the policy's. */
export const rttMs = (turn: Turn, region: Region, policy: Policy): number =>
  turn.client.location === null || region.location === null
    ? policy.unknownRttMs
    : greatCircleRttMs(turn.client.location, region.location);

/** One where a connection to home is likely still open; else TCP, TLS 1.3 and the request. */
export const roundTrips = (turn: Turn, region: Region, policy: Policy): number => {
  const idleMs =
    turn.conversation === null ? Number.POSITIVE_INFINITY : turn.receivedAtMs - turn.conversation.lastTurnAtMs;
  const isOpen = turn.kind === "turn" && region.id === turn.home && idleMs < policy.connectionIdleMs;
  return isOpen ? policy.roundTripsOpen : policy.roundTripsNew;
};
