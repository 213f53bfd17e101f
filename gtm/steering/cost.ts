/** What serving a turn in a region costs, in named parts of milliseconds. */
import { holdingIn } from "#gtm/domain/conversation.ts";
import type { Cost, Plan } from "#gtm/domain/decision.ts";
import { survivalOf } from "#gtm/domain/kv-cache.ts";
import type { Placement } from "#gtm/domain/placement.ts";
import type { Region } from "#gtm/domain/region.ts";
import type { Turn } from "#gtm/domain/turn.ts";
import type { World } from "#gtm/domain/world.ts";
import { backlogsAt } from "./costs/backlog.ts";
import { coldStartMs } from "./costs/cold-start.ts";
import { decodeMs, writingMs } from "./costs/decode.ts";
import { memoryMs } from "./costs/memory.ts";
import { moneyMs } from "./costs/money.ts";
import { roundTripOf, roundTrips } from "./costs/network.ts";
import { serve, serveOnAverage } from "./costs/serve.ts";
import type { Policy } from "./policy.ts";

export type Priced = { readonly cost: Cost; readonly plan: Plan };

/** @param placement the turn's model in this region */
export const priceOf = (region: Region, placement: Placement, turn: Turn, world: World, policy: Policy): Priced => {
  const { rttMs: rtt, source: rttSource } = roundTripOf(turn, region, policy);
  const networkMs = bounded(roundTrips(turn, region, policy) * rtt);
  const arrivalAtMs = turn.receivedAtMs + networkMs;
  const held = heldIn(region, placement, turn);
  const prompt = {
    endTokens: turn.contextTokens + turn.newTokens,
    newTokens: turn.newTokens,
    heldTokens: held.tokens,
    outputTokens: turn.outputTokens,
    holder: held.replica,
  };
  const served =
    turn.kind === "cell"
      ? serveOnAverage(placement, prompt)
      : serve(
          placement,
          backlogsAt(arrivalAtMs, region, placement, world, policy),
          prompt,
          isRouted(region, placement),
        );
  const isHome = turn.kind !== "cell" && region.id === turn.home;
  const queueMs = bounded(served.queueMs);
  const prefillMs = bounded(served.prefillMs);
  const migrationMs = bounded(served.migrationMs);
  const coldMs = bounded(coldStartMs(placement, policy));
  const predictedTtftMs = networkMs + queueMs + prefillMs + migrationMs + coldMs;
  const memory = bounded(memoryMs(turn, placement, isHome, policy));
  const decode = bounded(decodeMs(turn, placement, world, policy));
  const money = bounded(moneyMs(migrationMs, policy));
  const staleness = bounded(stalenessMs(region, policy));
  return {
    cost: {
      networkMs,
      queueMs,
      prefillMs,
      migrationMs,
      coldStartMs: coldMs,
      memoryMs: memory,
      decodeMs: decode,
      moneyMs: money,
      stalenessMs: staleness,
      predictedTtftMs,
      totalMs: predictedTtftMs + memory + decode + money + staleness,
    },
    plan: {
      replica: served.replica,
      holder: served.holder,
      rttMs: rtt,
      rttSource,
      arrivalAtMs,
      workMs: prefillMs + migrationMs,
      heldTokens: held.tokens,
      heldProbability: held.probability,
      survivalFraction: held.survival,
      heldCorrection: placement.heldCorrection,
      isHeldCorrectionLearnt: placement.isHeldCorrectionLearnt,
      writingMs: writingMs(turn, placement),
    },
  };
};

/**
 * A gateway sends a turn to the holder or the least loaded, and so does a router that keeps conversations on a replica; one that is
 * only said to, and was seen not to, does not.
 */
const isRouted = ({ hasGateway, hasAffinity }: Region, placement: Placement): boolean =>
  hasGateway || (hasAffinity && !(placement.isHeldCorrectionLearnt && placement.heldCorrection < LEAST_KEPT));

/**
 * Of what should be cached, what is found where a router keeps conversations; by its engines' hits, which also count what
 * conversations share. Played: 0.6 to 0.9 with affinity, less in one decision of twelve; 0.3 to 0.5 by round robin over four replicas.
 */
const LEAST_KEPT = 0.5;

/** Eleven days: beyond it a cost is only "far too much", and sums of absurd reports must stay comparable numbers. */
const MOST_MS = 1e9;
const bounded = (ms: number): number => (ms >= 0 && ms < MOST_MS ? ms : MOST_MS);

/** held_r: what the ledger says was held here, times the chance that it still is; a token's word counts in full. */
const heldIn = (region: Region, placement: Placement, turn: Turn) => {
  const holding = holdingIn(turn.conversation, region.id);
  if (holding !== null) {
    const survival = survivalOf(holding, placement, turn.receivedAtMs);
    const probability = survival * placement.heldCorrection;
    const tokens = Math.min(holding.tokens, turn.contextTokens) * probability;
    return { tokens, probability, survival, replica: holding.replica };
  }
  const isHomeByToken = turn.conversation === null && turn.kind !== "cell" && region.id === turn.home;
  const probability = isHomeByToken ? placement.heldCorrection : 0;
  const survival = isHomeByToken ? 1 : 0;
  return { tokens: turn.contextTokens * probability, probability, survival, replica: null };
};

/** Played-forward backlogs carry about ten seconds; beyond that old numbers are worth less. */
const stalenessMs = (region: Region, policy: Policy): number =>
  (Math.max(0, (region.reportAgeMs ?? 0) - policy.stalenessFreeMs) / 1_000) * policy.stalenessMsPerSecond;
