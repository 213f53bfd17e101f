/**
 * Learns from turns, those that gateways measured and those that were sent from here. Observations are gathered and folded
 * into what is known once a second, so that the order in which they came within it does not matter.
 */
import { type HeldObserved, type Learnt, NOTHING_LEARNT } from "#gtm/domain/learnt.ts";
import type { LearntHeld } from "#gtm/domain/learnt-held.ts";
import type { LearntPools, PoolPriors } from "#gtm/domain/learnt-pools.ts";
import { createLessons } from "#gtm/domain/lessons.ts";
import type { RegionSite } from "#gtm/domain/region.ts";
import type { World } from "#gtm/domain/world.ts";
import type { Entry } from "#gtm/steering/ports.ts";
import type { Clock } from "#shared/clock.ts";
import type { PoolName } from "#shared/ids.ts";
import type { Part } from "#shared/lifecycle.ts";
import type { MeasuredTurn } from "#shared/measured-turn.ts";
import type { Metrics } from "#shared/metrics.ts";
import { createLearntRoundTrips } from "./learnt-round-trips.ts";
import { createTurnHistory } from "./turn-history.ts";

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
  /** Regions, pools or the policy are others now: what was learnt of those that stay stands. */
  readonly settle: () => void;
};

export type LearningOptions = {
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** These three may change; `settle` says when. */
  readonly sites: readonly RegionSite[];
  readonly pools: readonly PoolName[];
  readonly policy: PoolPriors;
  readonly world: () => World;
};

const FOLD_EVERY_MS = 1_000;
/** Turns that wait to be learnt from: eight gateways' batches of a second. Of more the rest teaches nothing. */
const MOST_WAITING = 20_000;

type Waiting =
  | { readonly kind: "measured"; readonly atMs: number; readonly turn: MeasuredTurn }
  | { readonly kind: "sent"; readonly atMs: number; readonly entry: Entry };

export const createLearning = (options: LearningOptions): Learning => {
  const { clock, world } = options;
  const lessons = createLessons({
    ...{ world, history: createTurnHistory() },
    get sites() {
      return options.sites;
    },
    get pools() {
      return options.pools;
    },
    get policy() {
      return options.policy;
    },
  });
  const { pools, held } = lessons;
  const roundTrips = createLearntRoundTrips();
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
  const learn = (one: Waiting, nowMs: number): void => {
    if (one.kind === "sent") {
      const { query, decision } = one.entry;
      lessons.sent({ conversationId: query.conversationId, promptTokens: query.promptTokens, decision }, one.atMs);
      return;
    }
    const { region, clientPrefix, rttMs } = one.turn;
    if (clientPrefix !== null && rttMs !== null) roundTrips.observe(region, clientPrefix, rttMs);
    lessons.measured(one.turn, one.atMs, nowMs);
  };
  const fold = (): void => {
    const nowMs = clock.monotonicMs();
    const turns = waiting.sort((a, b) => a.atMs - b.atMs);
    waiting = [];
    for (const one of turns) learn(one, nowMs);
    lessons.fold(nowMs);
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
      if (query.kind !== "turn" || query.channel !== "http") return;
      if (decision.answeredWith === "regions") add({ kind: "sent", entry, atMs: decision.decidedAtMs });
    },
    heldObserved: () => held.known(clock.monotonicMs()),
    learnt: () => known,
    fold,
    ...{ pools, held, settle: lessons.settle },
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
