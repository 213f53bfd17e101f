/**
 * Learns from turns, those that gateways measured and those that were sent from here. Observations are gathered and folded
 * into what is known once a second, so that the order in which they came within it does not matter.
 */
import { regionOf } from "#gtm/domain/decision.ts";
import { SURELY_HELD } from "#gtm/domain/follow-ups.ts";
import { LEAST_HELD_TOKENS } from "#gtm/domain/held-observed.ts";
import { survivalOf } from "#gtm/domain/kv-cache.ts";
import { type HeldObserved, type Learnt, NOTHING_LEARNT } from "#gtm/domain/learnt.ts";
import type { RegionSite } from "#gtm/domain/region.ts";
import type { World } from "#gtm/domain/world.ts";
import type { Entry } from "#gtm/steering/ports.ts";
import type { Clock } from "#shared/clock.ts";
import type { ConversationId, PoolName, RegionId } from "#shared/ids.ts";
import type { Part } from "#shared/lifecycle.ts";
import type { MeasuredTurn } from "#shared/measured-turn.ts";
import type { Metrics } from "#shared/metrics.ts";
import { createLearntHeld, type LearntHeld } from "./learnt-held.ts";
import { createLearntPools, type LearntPools, type PoolPriors } from "./learnt-pools.ts";
import { createLearntRoundTrips } from "./learnt-round-trips.ts";
import { createTurnHistory, type PastTurn } from "./turn-history.ts";

export type Learning = Part & {
  /** Returns at once. */
  readonly measured: (turns: readonly MeasuredTurn[]) => void;
  /** A decision was made: where no gateway measures, it is all that is known of the turn. Returns at once. */
  readonly sent: (entry: Entry) => void;
  readonly heldObserved: () => readonly HeldObserved[];
  /** The same object until something was learnt. */
  readonly learnt: () => Learnt;
  /** What waits is learnt from now; done once a second by itself. */
  readonly fold: () => void;
  readonly pools: Pick<LearntPools, "saved" | "seed">;
  readonly held: Pick<LearntHeld, "known" | "seed">;
};

export type LearningOptions = {
  readonly clock: Clock;
  readonly metrics: Metrics;
  readonly sites: readonly RegionSite[];
  readonly pools: readonly PoolName[];
  readonly policy: PoolPriors;
  readonly world: () => World;
};

const FOLD_EVERY_MS = 1_000;
/** Turns that wait to be learnt from: eight gateways' batches of a second. Of more the rest teaches nothing. */
const MOST_WAITING = 20_000;
/** A region whose gateway was heard of within this time is measured, whatever the configuration says. */
const MEASURED_FOR_MS = 600_000;

type Waiting =
  | { readonly kind: "measured"; readonly atMs: number; readonly turn: MeasuredTurn }
  | { readonly kind: "sent"; readonly atMs: number; readonly entry: Entry };

export const createLearning = (options: LearningOptions): Learning => {
  const { clock, policy } = options;
  const regions = options.sites.map(({ id }) => id);
  const pools = createLearntPools(options.pools, regions, policy);
  const held = createLearntHeld();
  const roundTrips = createLearntRoundTrips();
  const history = createTurnHistory();
  const poolNames = new Map<string, PoolName>(options.pools.map((name) => [name, name]));
  const withGateway = new Set(options.sites.filter(({ hasGateway }) => hasGateway).map(({ id }) => id));
  const measuredAtMs = new Map<RegionId, number>();
  let waiting: Waiting[] = [];
  let known: Learnt = NOTHING_LEARNT;
  let timer: NodeJS.Timeout | null = null;
  const dropped = options.metrics.counter({
    name: "gtm_turns_unlearnt_total",
    help: "Turns that were heard or sent and taught nothing, because too many came within a second.",
  });

  const add = (one: Waiting): void => {
    if (waiting.length < MOST_WAITING) waiting.push(one);
    else dropped.inc();
  };
  /** @returns the turn before it, where there was one */
  const follow = (id: ConversationId | null, turn: PastTurn): PastTurn | null => {
    if (turn.pool !== null) pools.turn(turn.pool, turn.region, turn.atMs);
    const before = id === null ? null : history.followed(id, turn);
    const sinceMs = before === null ? Number.POSITIVE_INFINITY : turn.atMs - before.atMs;
    if (before?.pool != null && sinceMs >= 0 && sinceMs <= policy.pinMs) {
      pools.followUp(before.pool, before.region, before.atMs);
    }
    return before;
  };
  /** How much of what it left behind a turn found again. */
  const compare = (turn: MeasuredTurn, pool: PoolName | null, before: PastTurn, atMs: number): void => {
    const { region, model, cachedTokens } = turn;
    const heldTokens = before.region === region && before.model === model ? repeatedTokens(turn, before) : 0;
    const placement = options
      .world()
      .regions.find(({ id }) => id === region)
      ?.placements.get(model);
    if (placement === undefined || cachedTokens === null || heldTokens < LEAST_HELD_TOKENS) return;
    const holding = { region, replica: before.replica, tokens: heldTokens, atMs: before.atMs };
    const survival = survivalOf(holding, placement, atMs);
    held.measured({ region, model }, heldTokens, survival, cachedTokens);
    if (pool !== null && survival >= SURELY_HELD) pools.reuse(pool, region, heldTokens, cachedTokens);
  };
  const learnMeasured = (turn: MeasuredTurn, atMs: number): void => {
    const { region, model, replica, promptTokens, completionTokens } = turn;
    measuredAtMs.set(region, clock.monotonicMs());
    if (turn.clientPrefix !== null && turn.rttMs !== null) {
      roundTrips.observe(region, turn.clientPrefix, turn.rttMs);
    }
    // What was refused or broke off before it began left nothing behind.
    if (turn.outcome === "refused" || turn.outcome === "failed") return;
    const pool = poolNames.get(turn.pool ?? "") ?? null;
    const tokens = promptTokens === null ? null : promptTokens + (completionTokens ?? 0);
    const before = follow(turn.conversation, { region, model, replica, pool, tokens, atMs });
    if (before !== null) compare(turn, pool, before, atMs);
    if (pool !== null) learnAnswer(turn, pool);
  };
  /** An answer that was broken off says nothing of how long it would have been. */
  const learnAnswer = ({ outcome, region, promptTokens, completionTokens }: MeasuredTurn, pool: PoolName): void => {
    if (outcome === "served" && promptTokens !== null && completionTokens !== null) {
      pools.answer(pool, region, promptTokens, completionTokens);
    }
  };
  const isMeasured = (region: RegionId, nowMs: number): boolean =>
    withGateway.has(region) || nowMs - (measuredAtMs.get(region) ?? Number.NEGATIVE_INFINITY) < MEASURED_FOR_MS;
  const learnSent = ({ query, decision }: Entry, atMs: number): void => {
    const region = regionOf(decision.verdict);
    const chosen = decision.considered.find((one) => one.region === region);
    if (region === null || chosen?.kind !== "candidate" || isMeasured(region, atMs)) return;
    const { turn } = decision;
    const pool = poolNames.get(turn.pool.name) ?? null;
    const tokens = query.promptTokens === null ? null : query.promptTokens + turn.outputTokens;
    follow(query.conversationId, { region, model: turn.model, replica: null, pool, tokens, atMs });
    if (query.promptTokens === null) return;
    const holding = turn.conversation?.holdings.find((one) => one.region === region);
    const heldTokens = Math.min(holding?.tokens ?? 0, turn.contextTokens);
    held.sent({ region, model: turn.model }, query.promptTokens, heldTokens * chosen.plan.survivalFraction);
  };
  const fold = (): void => {
    const nowMs = clock.monotonicMs();
    const turns = waiting.sort((a, b) => a.atMs - b.atMs);
    waiting = [];
    for (const one of turns) {
      if (one.kind === "measured") learnMeasured(one.turn, one.atMs);
      else learnSent(one.entry, one.atMs);
    }
    pools.fold(nowMs);
    held.fold(options.world(), nowMs);
    roundTrips.fold(nowMs);
    known = { pools: pools.known(nowMs), roundTrips: roundTrips.known() };
  };

  return {
    name: "learning",
    measured: (turns) => {
      const nowMs = clock.monotonicMs();
      for (const turn of turns) add({ kind: "measured", turn, atMs: nowMs - turn.atAgeMs });
    },
    sent: (entry) => {
      const { query, decision } = entry;
      if (query.kind !== "turn" || query.channel !== "http" || decision.mode !== "enforce") return;
      if (decision.answeredWith === "regions") add({ kind: "sent", entry, atMs: decision.decidedAtMs });
    },
    heldObserved: () => held.known(clock.monotonicMs()),
    learnt: () => known,
    fold,
    ...{ pools, held },
    start: async () => {
      timer = setInterval(fold, FOLD_EVERY_MS);
      timer.unref();
    },
    stop: async () => {
      if (timer !== null) clearInterval(timer);
      timer = null;
    },
  };
};

/** What the turn before left behind, as far as this prompt can repeat it; 0 where either is not known. */
const repeatedTokens = ({ promptTokens }: MeasuredTurn, { tokens }: PastTurn): number =>
  Math.min(tokens ?? 0, promptTokens ?? 0);
