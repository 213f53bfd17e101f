/** Round trips until the request is at the region and its first token back. */
import type { RttSource } from "#gtm/domain/decision.ts";
import type { Region } from "#gtm/domain/region.ts";
import { greatCircleRttMs } from "#gtm/domain/topology.ts";
import type { Turn } from "#gtm/domain/turn.ts";
import type { Policy } from "../policy.ts";

/**
 * One round trip between client and region: measured for its network, else by distance, else where either location is
 * unknown the policy's; to what is not measured comes what the measured ones say of the client's last mile.
 */
export const roundTripOf = (turn: Turn, region: Region, policy: Policy): { rttMs: number; source: RttSource } => {
  const { client, roundTrips: measured } = turn;
  const here = measured?.byRegion.get(region.id);
  if (here !== undefined) return { rttMs: here, source: "measured" };
  const lastMileMs = measured?.lastMileMs ?? 0;
  return client.location === null || region.location === null
    ? { rttMs: policy.unknownRttMs + lastMileMs, source: "unknown" }
    : { rttMs: greatCircleRttMs(client.location, region.location) + lastMileMs, source: "geo" };
};

/** One where a connection to home is likely still open; else TCP, TLS 1.3 and the request. */
export const roundTrips = (turn: Turn, region: Region, policy: Policy): number => {
  const idleMs =
    turn.conversation === null ? Number.POSITIVE_INFINITY : turn.receivedAtMs - turn.conversation.lastTurnAtMs;
  const isOpen = turn.kind === "turn" && region.id === turn.home && idleMs < policy.connectionIdleMs;
  return isOpen ? policy.roundTripsOpen : policy.roundTripsNew;
};
