/**
 * The main flow: a query comes in; the client is located; the conversation is identified; every region is considered;
 * the decision follows; the answer is rendered; the record is kept.
 */
import type { Considered, Decision, Verdict } from "#gtm/domain/decision.ts";
import { regionOf } from "#gtm/domain/decision.ts";
import type { Region } from "#gtm/domain/region.ts";
import type { Turn } from "#gtm/domain/turn.ts";
import type { World } from "#gtm/domain/world.ts";
import { type Want, whyExcluded } from "./candidates.ts";
import { priceOf } from "./cost.ts";
import { decide } from "./decide.ts";
import { blindVerdict, lastResortOf } from "./last-resort.ts";
import { type DrainsAt, mustLeaveAtMs } from "./leaving.ts";
import { isShare, overridesFor } from "./overrides.ts";
import { conversationOf } from "./parent.ts";
import { type MoveDemand, NO_DEMAND } from "./persistence.ts";
import type { Policy } from "./policy.ts";
import type { Ports, Query } from "./ports.ts";
import { withoutAffinity } from "./shadow.ts";
import { ttlSeconds } from "./ttl.ts";
import { turnOf } from "./turn.ts";

export type Steer = <Answer>(query: Query, render: (decision: Decision) => Answer) => Promise<Answer>;

export const createSteer =
  (ports: Ports, policy: Policy): Steer =>
  async (query, render) => {
    const client = ports.locate(query.clientSubnet);
    const conversation = await conversationOf(query, ports.findConversation);
    const world = ports.world();
    const refusedBy = ports.refusedBy?.(query.conversationId);
    const turn = turnOf(query, client, conversation, world, policy, refusedBy);
    const decision = decisionOf(query, turn, world, policy);
    const answer = render(decision);
    ports.record({ query, decision, answer, answered: { value: 1 } });
    return answer;
  };

/**
 * Everything between the question and the answer, pure: same world, same turn, same policy, same decision.
 *
 * @param demand what a move away from home must save where that is more than the margin
 */
export const decisionOf = (
  query: Query,
  turn: Turn,
  world: World,
  policy: Policy,
  demand: MoveDemand = NO_DEMAND,
): Decision => {
  const overrides = overridesFor(turn, world);
  const draining: DrainsAt = { drains: world.drains, epochMs: turn.receivedAtMs + world.epochAheadMs };
  const { considered, yieldedOverrideIds: yielded } = considerAll(
    { turn, policy, overrides, isColdAllowed: false, draining },
    world,
  );
  const { verdict: wished, marginMs } = decide(considered, turn, policy, demand);
  const shadowed = turn.pool.steering === "shadow" ? withoutAffinity(considered, turn, policy) : null;
  const verdict = shadowed ?? wished;
  // However close the choice is, where none is to be made soon the answer stands.
  const isSettled = shadowed !== null || (demand.savingMs > 0 && turn.home !== null);
  const closeMs = isSettled ? Number.NEGATIVE_INFINITY : marginMs;
  const known = { verdict, yieldedOverrideIds: yielded };
  const { verdict: answered, yieldedOverrideIds } =
    verdict.kind === "unserved" ? (blindVerdict(considered, turn, world, { overrides, draining }) ?? known) : known;
  const answer = answeredWith(answered, turn, world);
  return {
    id: query.id,
    turn,
    verdict: answered,
    considered,
    mode: turn.pool.steering,
    withheld: shadowed === null ? null : wished,
    overrideId: overrides[0]?.id ?? null,
    yieldedOverrideIds,
    answeredWith: answer.answeredWith,
    lastResort: answer.lastResort,
    ttlSeconds: ttlSeconds(answered, closeMs, turn, world, policy),
    marginMs,
    worldVersion: world.version,
    worldAgeMs: Math.max(0, query.receivedAtMs - world.takenAtMs),
    decidedAtMs: query.receivedAtMs,
  };
};

type AllConsidered = Pick<Decision, "considered" | "yieldedOverrideIds">;

/** Shares yield where they would leave no region, also none that would have to load the model first. */
const considerAll = (want: Want, world: World): AllConsidered => {
  const considered = considerEach(want, world);
  if (considered.some(isCandidate) || !want.overrides.some(isShare)) return { considered, yieldedOverrideIds: [] };
  const others = want.overrides.filter((rule) => !isShare(rule));
  const freed = considerEach({ ...want, overrides: others }, world);
  return freed.some(isCandidate)
    ? { considered: freed, yieldedOverrideIds: [...new Set(considered.flatMap(overShareIds))] }
    : { considered, yieldedOverrideIds: [] };
};

/** A region that must load the model first is a candidate only when no region is warm. */
const considerEach = (want: Want, world: World): readonly Considered[] => {
  const warm = world.regions.map((region) => consider(region, want, world));
  if (warm.some(isCandidate)) return warm;
  return world.regions.map((region) => consider(region, { ...want, isColdAllowed: true }, world));
};

const isCandidate = (one: Considered): boolean => one.kind === "candidate";

const overShareIds = (one: Considered): readonly string[] =>
  one.kind === "excluded" && one.exclusion.reason === "over-share" ? [one.exclusion.overrideId] : [];

const consider = (region: Region, want: Want, world: World): Considered => {
  const placement = region.placements.get(want.turn.model) ?? null;
  const exclusion = whyExcluded(region, placement, want);
  const { reportAgeMs } = region;
  if (exclusion !== null) return { kind: "excluded", region: region.id, exclusion, reportAgeMs };
  if (placement === null) throw new Error(`consider: ${region.id} is a candidate without a placement`);
  const { cost, plan } = priceOf(region, placement, want.turn, world, want.policy);
  return {
    kind: "candidate",
    region: region.id,
    cost,
    plan,
    sparePrefillTokensPerSecond: placement.sparePrefillTokensPerSecond,
    isTrusted: placement.prefillConfidence >= want.policy.confidenceFloor,
    reportAgeMs,
    leavesAtMs: mustLeaveAtMs(want.overrides, region.id, want.turn, want.draining),
  };
};

const answeredWith = (verdict: Verdict, turn: Turn, world: World): Pick<Decision, "answeredWith" | "lastResort"> => {
  if (regionOf(verdict) !== null) return { answeredWith: "regions", lastResort: null };
  const lastResort = lastResortOf(turn, world);
  const isAnswer = lastResort.kind === "regions" || lastResort.kind === "addresses";
  return { answeredWith: isAnswer ? "last-resort" : "nothing", lastResort };
};
