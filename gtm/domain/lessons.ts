/**
 * What turns teach, those that gateways measured and those that were only sent: follow-ups, reuse, lengths of answers, and how
 * much of what the ledger says is held really is. In the order of the turns' times; by time that is passed in.
 */
import type { ConversationId, ModelId, PoolName, RegionId, ReplicaId } from "#shared/ids.ts";
import { type Decision, regionOf } from "./decision.ts";
import { SURELY_HELD } from "./follow-ups.ts";
import { LEAST_HELD_TOKENS } from "./held-observed.ts";
import { survivalOf } from "./kv-cache.ts";
import { createLearntHeld, type LearntHeld } from "./learnt-held.ts";
import { createLearntPools, type LearntPools, type PoolPriors } from "./learnt-pools.ts";
import type { RegionSite } from "./region.ts";
import type { World } from "./world.ts";

/** The last turn of a conversation, as it was heard: what the next one is measured against. */
export type PastTurn = {
  readonly region: RegionId;
  readonly model: ModelId;
  readonly replica: ReplicaId | null;
  /** null: not of a configured pool. */
  readonly pool: PoolName | null;
  /** Of the context when it was over; null: unknown. */
  readonly tokens: number | null;
  /** Monotonic ms. */
  readonly atMs: number;
};

/** Bounded: a conversation that is pushed out counts as one that was not followed. */
export type TurnHistory = {
  /** Notes a turn. @returns the one before it; null: it is the first that was heard */
  readonly followed: (id: ConversationId, turn: PastTurn) => PastTurn | null;
};

/** What of a measured turn teaches. Unknown is null. */
export type MeasuredLesson = {
  readonly region: RegionId;
  readonly model: ModelId;
  readonly replica: ReplicaId | null;
  readonly conversation: ConversationId | null;
  readonly pool: string | null;
  readonly promptTokens: number | null;
  readonly cachedTokens: number | null;
  readonly completionTokens: number | null;
  readonly outcome: "served" | "refused" | "aborted" | "failed";
};

/** A decision was made: where no gateway measures, it is all that is known of the turn. */
export type SentLesson = {
  readonly conversationId: ConversationId | null;
  readonly promptTokens: number | null;
  readonly decision: Decision;
};

export type Lessons = {
  /** @param nowMs when it was heard, which is after `atMs` */
  readonly measured: (turn: MeasuredLesson, atMs: number, nowMs: number) => void;
  readonly sent: (turn: SentLesson, atMs: number) => void;
  /** What was taught since the last time is known from now. */
  readonly fold: (nowMs: number) => void;
  readonly pools: LearntPools;
  readonly held: LearntHeld;
  /** `sites` and `pools` are others now. */
  readonly settle: () => void;
};

export type LessonsOptions = {
  /** These and the policy may change; `settle` says when. */
  readonly sites: readonly RegionSite[];
  readonly pools: readonly PoolName[];
  readonly policy: PoolPriors;
  readonly history: TurnHistory;
  readonly world: () => World;
};

/** A region whose gateway was heard of within this time is measured, whatever the configuration says. */
const MEASURED_FOR_MS = 600_000;

export const createLessons = (options: LessonsOptions): Lessons => {
  const { history } = options;
  const pools = createLearntPools(
    options.pools,
    options.sites.map(({ id }) => id),
    priorsOf(options),
  );
  const held = createLearntHeld();
  const poolNamesNow = () => new Map<string, PoolName>(options.pools.map((name) => [name, name]));
  const withGatewayNow = () => new Set(options.sites.filter(({ hasGateway }) => hasGateway).map(({ id }) => id));
  let poolNames = poolNamesNow();
  let withGateway = withGatewayNow();
  const measuredAtMs = new Map<RegionId, number>();

  /** @returns the turn before it, where there was one */
  const follow = (id: ConversationId | null, turn: PastTurn): PastTurn | null => {
    if (turn.pool !== null) pools.turn(turn.pool, turn.region, turn.atMs);
    const before = id === null ? null : history.followed(id, turn);
    const sinceMs = before === null ? Number.POSITIVE_INFINITY : turn.atMs - before.atMs;
    if (before?.pool != null && sinceMs >= 0 && sinceMs <= options.policy.pinMs) {
      pools.followUp(before.pool, before.region, before.atMs);
    }
    return before;
  };
  /** How much of what it left behind a turn found again. */
  const compare = (turn: MeasuredLesson, pool: PoolName | null, before: PastTurn, atMs: number): void => {
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
  /** An answer that was broken off says nothing of how long it would have been. */
  const learnAnswer = ({ outcome, region, promptTokens, completionTokens }: MeasuredLesson, pool: PoolName): void => {
    if (outcome === "served" && promptTokens !== null && completionTokens !== null) {
      pools.answer(pool, region, promptTokens, completionTokens);
    }
  };
  const isMeasured = (region: RegionId, nowMs: number): boolean =>
    withGateway.has(region) || nowMs - (measuredAtMs.get(region) ?? Number.NEGATIVE_INFINITY) < MEASURED_FOR_MS;

  return {
    measured: (turn, atMs, nowMs) => {
      const { region, model, replica, promptTokens, completionTokens } = turn;
      measuredAtMs.set(region, nowMs);
      // What was refused or broke off before it began left nothing behind.
      if (turn.outcome === "refused" || turn.outcome === "failed") return;
      const pool = poolNames.get(turn.pool ?? "") ?? null;
      const tokens = promptTokens === null ? null : promptTokens + (completionTokens ?? 0);
      const before = follow(turn.conversation, { region, model, replica, pool, tokens, atMs });
      if (before !== null) compare(turn, pool, before, atMs);
      if (pool !== null) learnAnswer(turn, pool);
    },
    sent: ({ conversationId, promptTokens, decision }, atMs) => {
      const region = regionOf(decision.verdict);
      const chosen = decision.considered.find((one) => one.region === region);
      if (region === null || chosen?.kind !== "candidate" || isMeasured(region, atMs)) return;
      const { turn } = decision;
      const pool = poolNames.get(turn.pool.name) ?? null;
      const tokens = promptTokens === null ? null : promptTokens + turn.outputTokens;
      follow(conversationId, { region, model: turn.model, replica: null, pool, tokens, atMs });
      if (promptTokens === null) return;
      const holding = turn.conversation?.holdings.find((one) => one.region === region);
      const heldTokens = Math.min(holding?.tokens ?? 0, turn.contextTokens);
      held.sent({ region, model: turn.model }, promptTokens, heldTokens * chosen.plan.survivalFraction);
    },
    fold: (nowMs) => {
      pools.fold(nowMs);
      held.fold(options.world, nowMs);
    },
    settle: () => {
      pools.configure(
        options.pools,
        options.sites.map(({ id }) => id),
      );
      poolNames = poolNamesNow();
      withGateway = withGatewayNow();
    },
    ...{ pools, held },
  };
};

/** The policy's as it is whenever they are looked at. */
const priorsOf = (options: Pick<LessonsOptions, "policy">): PoolPriors => ({
  get pinMs() {
    return options.policy.pinMs;
  },
  get assumedOutputTokens() {
    return options.policy.assumedOutputTokens;
  },
  get nextTurnFraction() {
    return options.policy.nextTurnFraction;
  },
  get reuseFraction() {
    return options.policy.reuseFraction;
  },
});

/** What the turn before left behind, as far as this prompt can repeat it; 0 where either is not known. */
const repeatedTokens = ({ promptTokens }: MeasuredLesson, { tokens }: PastTurn): number =>
  Math.min(tokens ?? 0, promptTokens ?? 0);
