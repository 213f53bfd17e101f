/** What turns have taught about one turn before it is priced: the policy's numbers hold where that is not enough. */
import type { Client } from "#gtm/domain/client.ts";
import { learntOutputTokens } from "#gtm/domain/learnt.ts";
import { lastMileMs, type MeasuredRoundTrips } from "#gtm/domain/round-trips.ts";
import type { Turn } from "#gtm/domain/turn.ts";
import type { World } from "#gtm/domain/world.ts";
import type { Policy } from "./policy.ts";
import type { Query } from "./ports.ts";

type LearntForTurn = Pick<
  Turn,
  | "outputTokens"
  | "outputSource"
  | "outputLimitTokens"
  | "nextTurnFraction"
  | "nextTurnSource"
  | "reuseFraction"
  | "reuseSource"
  | "roundTrips"
>;

export const learntFor = (query: Query, client: Client, world: World, policy: Policy): LearntForTurn => {
  const { learnt } = world;
  const pool = learnt.pools.get(query.pool.name);
  const nextTurnFraction = pool?.nextTurnFraction ?? null;
  const reuseFraction = pool?.reuseFraction ?? null;
  return {
    ...outputOf(query, world, policy),
    nextTurnFraction: nextTurnFraction ?? policy.nextTurnFraction,
    nextTurnSource: nextTurnFraction === null ? "prior" : "learnt",
    reuseFraction: reuseFraction ?? policy.reuseFraction,
    reuseSource: reuseFraction === null ? "prior" : "learnt",
    roundTrips: roundTripsOf(query, client, world, policy),
  };
};

/** A limit says how long an answer may become, and most end long before: it bounds what is expected and replaces it never. */
const outputOf = (
  query: Query,
  { learnt }: World,
  policy: Policy,
): Pick<Turn, "outputTokens" | "outputSource" | "outputLimitTokens"> => {
  const learntTokens = learntOutputTokens(learnt, query.pool.name, query.promptTokens);
  const usualTokens = learntTokens ?? policy.assumedOutputTokens;
  const mostTokens = query.outputLimitTokens ?? Number.POSITIVE_INFINITY;
  const usualSource = learntTokens === null ? "prior" : "learnt";
  const isClaimed = query.outputTokens !== null;
  return {
    outputTokens: Math.min(query.outputTokens ?? usualTokens, mostTokens),
    outputSource: isClaimed ? "claimed" : usualTokens > mostTokens ? "limited" : usualSource,
    outputLimitTokens: query.outputLimitTokens,
  };
};

/** A cell answers for all networks of an area, whichever of them asked first: only one that is its own area was measured. */
const roundTripsOf = (query: Query, client: Client, world: World, policy: Policy): MeasuredRoundTrips | null => {
  if (query.kind === "cell" && client.area !== null) return null;
  const byRegion = world.learnt.roundTrips.get(client.subnet);
  if (byRegion === undefined) return null;
  return { byRegion, lastMileMs: lastMileMs(byRegion, client.location, world.regions, policy.unknownRttMs) };
};
