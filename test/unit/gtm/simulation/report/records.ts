/** Turns and fleets of simulations for tests of the report: what is not said is ordinary. */
import { speedFromRate } from "#gtm/domain/serving.ts";
import { createRunTally, type RunTallier } from "#gtm/simulation/report/run-tally.ts";
import type { FleetRegion, Happening } from "#gtm/simulation/scenario.ts";
import { DEFAULT_ENGINE } from "#gtm/simulation/serving/engine-options.ts";
import type { TurnRecord } from "#gtm/simulation/turn-record.ts";
import { RegionId } from "#shared/ids.ts";

/** @param tokensPerSecond linear: attention costs nothing */
export const aFleetRegion = (id: string, replicas = 1, tokensPerSecond = 1_000): FleetRegion => ({
  site: {
    id: RegionId.parse(id),
    location: null,
    jurisdiction: null,
    endpoint: { url: `https://${id}.example.org`, ipv4: [], ipv6: [] },
    alpn: [],
    hasAffinity: true,
    hasGateway: false,
  },
  replicas,
  engine: { ...DEFAULT_ENGINE, speed: { ...speedFromRate(tokensPerSecond), attnMs: 0 } },
  placement: "loaded",
});

export const FLEET: readonly FleetRegion[] = [aFleetRegion("us-east-1"), aFleetRegion("ap-southeast-1")];

export type TurnChanges = Partial<TurnRecord> & { readonly ttftMs?: number; readonly decodeMs?: number };

/** 1 000 tokens, nothing cached, 1 s to the first token, 2 s to the last. */
export const aTurn = ({ ttftMs = 1_000, decodeMs = 1_000, ...changes }: TurnChanges = {}): TurnRecord => {
  const askedAtMs = changes.askedAtMs ?? 0;
  return {
    ...{ conversation: 1, turn: 1, region: 0, replica: 0, nearest: 0, previous: null },
    ...{ promptTokens: 1_000, outputTokens: 101, cachedTokens: 0, askedAtMs },
    ...{ firstTokenAtMs: askedAtMs + ttftMs, lastTokenAtMs: askedAtMs + ttftMs + decodeMs },
    ...{ queuedMs: 0, prefillMs: 1_000, failedAttempts: 0, predicted: null, verdict: null },
    ...changes,
  };
};

/** 100 s of warm-up, 300 s measured; the promise is 2 s whatever is asked. */
export const aTally = (
  turns: readonly TurnRecord[] = [],
  fleet: readonly FleetRegion[] = FLEET,
  happenings: readonly Happening[] = [],
): RunTallier => {
  const tally = createRunTally({ fleet, warmUpMs: 100_000, measuredMs: 300_000, sloMs: () => 2_000, happenings });
  for (const turn of turns) tally.onTurn(turn);
  return tally;
};
