/** One simulated GTM: the world that production's assembly makes of what it has heard, sent and learnt. */
import type { Conversation } from "#gtm/domain/conversation.ts";
import { type Decision, regionOf } from "#gtm/domain/decision.ts";
import { NO_DRAINS } from "#gtm/domain/drain-schedule.ts";
import type { HeardReport } from "#gtm/domain/heard-report.ts";
import { type Learnt, NOTHING_LEARNT } from "#gtm/domain/learnt.ts";
import { createLessons, type MeasuredLesson, type PastTurn } from "#gtm/domain/lessons.ts";
import { createLiveLedger } from "#gtm/domain/live-tokens.ts";
import { createOldest } from "#gtm/domain/oldest.ts";
import type { Pool } from "#gtm/domain/pool.ts";
import type { SendTo } from "#gtm/domain/sends.ts";
import { type World, withSend } from "#gtm/domain/world.ts";
import { assembleWorld, type LiveTokens } from "#gtm/domain/world-assembly.ts";
import type { Policy } from "#gtm/steering/policy.ts";
import type { ConversationId, RegionId } from "#shared/ids.ts";
import { createMeasuredTrips } from "./measured-trips.ts";
import { createOwnSends } from "./own-sends.ts";
import { SIMULATED } from "./region-reporter.ts";
import type { Arena } from "./rival.ts";

export type SimulatedGtm = {
  readonly world: () => World;
  /** A turn was sent where the decision says; from now on every decision knows of it. */
  readonly sent: (decision: Decision, promptTokens: number) => void;
  /** What a gateway measured; every GTM hears all of it. @param network of the client */
  readonly measured: (turn: MeasuredLesson, network: string, rttMs: number) => void;
  /** The store has it so now. */
  readonly hear: (conversation: Conversation) => void;
  /** For the other GTMs. */
  readonly says: () => Said;
  /** What the others said last. */
  readonly hearOthers: (said: readonly Said[]) => void;
};

export type Said = { readonly sends: readonly SendTo[]; readonly live: readonly LiveTokens[] };

/** As production does at least ten times a second; a report, an order or a probe's result makes a new one at once. */
const WORLD_EVERY_MS = 1_000;
const FOLD_EVERY_MS = 1_000;
/** As production remembers. */
const MOST_CONVERSATIONS = 50_000;

/** One list for ever: what reports say of it is kept by it. */
const MODELS = [{ id: SIMULATED, aliases: [], weightBytes: null, coldStartMs: null }];

export const createSimulatedGtm = (arena: Arena, policy: Policy, pool: Pool): SimulatedGtm => {
  const { agenda, known } = arena;
  const sites = arena.scenario.fleet.map(({ site }) => site);
  const reports = new Map<number, HeardReport>();
  /** When the newest report of each was made. */
  const reportedMs = new Map<RegionId, number>();
  const own = createOwnSends((region) => reportedSinceMs(region));
  const live = createLiveLedger({ pinMs: policy.pinMs });
  const trips = createMeasuredTrips();
  let others: readonly Said[] = [];
  let learnt: Learnt = NOTHING_LEARNT;
  let previous: World | null = null;
  /** null: something was heard since the last one. */
  let current: World | null = null;

  const reportedSinceMs = (region: RegionId): number | null => reportedMs.get(region) ?? null;
  const withOthers = <T>(mine: readonly T[], read: (said: Said) => readonly T[]): readonly T[] =>
    others.length === 0 ? mine : [...mine, ...others.flatMap(read)];
  const assemble = (): World => {
    const nowMs = agenda.nowMs();
    return assembleWorld({
      previous,
      nowMs,
      epochAheadMs: 0,
      sites,
      policy,
      models: MODELS,
      reports: [...reports.values()],
      regionsWithAbsentAgents: [],
      probes: known.probes(),
      freezes: [],
      regionFreezes: new Map(),
      isStoreUp: true,
      admin: known.admin(),
      overrides: [],
      drains: NO_DRAINS,
      sends: withOthers(own.kept(nowMs), ({ sends }) => sends),
      live: withOthers(live.sums(nowMs), (said) => said.live),
      heldObserved: lessons.held.known(nowMs),
      learnt,
    });
  };
  const world = (): World => {
    if (current === null || agenda.nowMs() - current.takenAtMs >= WORLD_EVERY_MS) {
      current = assemble();
      previous = current;
    }
    return current;
  };
  const lessons = createLessons({
    sites,
    pools: [pool.name],
    policy,
    world: () => previous ?? world(),
    history: createHistory(),
  });
  const fold = (): void => {
    const nowMs = agenda.nowMs();
    lessons.fold(nowMs);
    trips.fold(nowMs);
    learnt = { pools: lessons.pools.known(nowMs), roundTrips: trips.known() };
    agenda.at(nowMs + FOLD_EVERY_MS, fold);
  };
  agenda.at(FOLD_EVERY_MS, fold);
  known.onReport((region, report) => {
    reports.set(region, report);
    reportedMs.set(report.report.region, report.heardAtMs - report.ageWhenHeardMs);
    current = null;
  });
  known.onNews(() => {
    current = null;
  });

  return {
    world,
    sent: (decision, promptTokens) => {
      const region = regionOf(decision.verdict);
      const chosen = decision.considered.find((one) => one.region === region);
      const { conversationId: id, conversation, nextTurnFraction, outputTokens } = decision.turn;
      if (region === null || chosen?.kind !== "candidate") return;
      const { holder, arrivalAtMs, workMs } = chosen.plan;
      const to = { region, model: SIMULATED, send: { replica: holder, arrivalAtMs, workMs } };
      own.add(to);
      current = withSend(world(), to.region, to.model, to.send);
      lessons.sent({ conversationId: id, promptTokens, decision }, decision.decidedAtMs);
      if (id === null) return;
      const turns = (conversation?.turns ?? 0) + 1;
      const tokens = promptTokens + outputTokens;
      live.commit({ id, region, model: SIMULATED, tokens, atMs: decision.decidedAtMs, nextTurnFraction, turns });
    },
    measured: (turn, network, rttMs) => {
      trips.observe(network, turn.region, rttMs);
      lessons.measured(turn, agenda.nowMs(), agenda.nowMs());
    },
    hear: live.hear,
    says: () => ({ sends: own.kept(agenda.nowMs()), live: live.sums(agenda.nowMs()) }),
    hearOthers: (said) => {
      others = said;
      current = null;
    },
  };
};

const createHistory = () => {
  const last = new Map<ConversationId, PastTurn>();
  const oldest = createOldest(last, ({ atMs }) => atMs);
  return {
    followed: (id: ConversationId, turn: PastTurn): PastTurn | null => {
      const before = last.get(id) ?? null;
      if (before !== null && before.atMs > turn.atMs) return before;
      last.delete(id);
      last.set(id, turn);
      const first = last.size > MOST_CONVERSATIONS ? oldest() : null;
      if (first !== null) last.delete(first[0]);
      return before;
    },
  };
};
