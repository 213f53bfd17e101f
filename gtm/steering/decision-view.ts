/** A decision as every channel shows it: admin API, command line, page, decision stream. JSON-able, units in the names. */
import type { Considered, Cost, Exclusion, Plan, Verdict } from "#gtm/domain/decision.ts";
import { regionOf } from "#gtm/domain/decision.ts";
import type { Turn } from "#gtm/domain/turn.ts";
import { explain } from "./explain.ts";
import type { Policy } from "./policy.ts";
import type { Channel, Entry } from "./ports.ts";

export type ConsideredView =
  | {
      readonly region: string;
      readonly cost: Cost;
      readonly plan: PlanView;
      readonly reportAgeMs: number | null;
      /** Only where the region drains by a schedule: RFC 3339, until when this conversation may stay. */
      readonly leavesAt?: string;
    }
  | { readonly region: string; readonly exclusion: Exclusion; readonly reportAgeMs: number | null };

type PlanView = Pick<
  Plan,
  | "replica"
  | "holder"
  | "rttMs"
  | "rttSource"
  | "heldTokens"
  | "heldProbability"
  | "survivalFraction"
  | "heldCorrection"
  | "isHeldCorrectionLearnt"
  | "writingMs"
>;

export type DecisionView = {
  readonly id: string;
  /** RFC 3339, UTC. */
  readonly at: string;
  readonly channel: Channel;
  readonly kind: "turn" | "cell" | "label";
  readonly pool: string;
  readonly model: string;
  readonly tenant: string;
  readonly worldVersion: number;
  readonly worldAgeMs: number;
  readonly client: {
    readonly subnet: string;
    readonly area: string | null;
    readonly place: string | null;
    readonly source: string;
  };
  /** null: nothing in the query named a conversation. */
  readonly conversation: {
    readonly id: string;
    readonly contextTokens: number;
    readonly isContextAssumed: boolean;
    readonly newTokens: number;
    readonly home: string | null;
    readonly idleMs: number | null;
    readonly turns: number;
    /** Whose context it begins with; null: its own. */
    readonly parentId: string | null;
  } | null;
  /** What the turn was taken to be, and who says so. */
  readonly expected: Pick<
    Turn,
    | "outputTokens"
    | "outputSource"
    | "outputLimitTokens"
    | "nextTurnFraction"
    | "nextTurnSource"
    | "reuseFraction"
    | "reuseSource"
  >;
  readonly verdict: {
    readonly kind: Verdict["kind"];
    readonly region: string | null;
    readonly from: string | null;
    readonly runnerUp: string | null;
    readonly leadMs: number | null;
    readonly savedMs: number;
  };
  readonly marginMs: number;
  readonly mode: "enforce" | "shadow";
  /** In shadow what steering would have answered; null: the verdict is that. */
  readonly withheld: { readonly kind: Verdict["kind"]; readonly region: string | null } | null;
  readonly overrideId: string | null;
  /** Shares that would have left no region, and so did not hold. */
  readonly yieldedOverrideIds: string[];
  readonly answeredWith: "regions" | "last-resort" | "nothing";
  readonly answered: number;
  readonly ttlSeconds: number;
  readonly considered: readonly ConsideredView[];
  readonly explanation: string;
  readonly flipsIf: string | null;
};

/** @param toEpochMs from this instance's monotonic clock to Unix time */
export const decisionView = (
  entry: Entry,
  policy: Policy,
  toEpochMs: (monotonicMs: number) => number,
): DecisionView => {
  const { query, decision } = entry;
  const { turn, verdict } = decision;
  const { subnet, area, place, source } = turn.client;
  return {
    id: decision.id,
    at: new Date(toEpochMs(decision.decidedAtMs)).toISOString(),
    channel: query.channel,
    kind: turn.kind,
    pool: turn.pool.name,
    model: turn.model,
    tenant: turn.tenant,
    worldVersion: decision.worldVersion,
    worldAgeMs: round(decision.worldAgeMs),
    client: { subnet, area, place, source },
    conversation: conversationView(entry),
    expected: expectedView(turn),
    verdict: {
      kind: verdict.kind,
      region: regionOf(verdict),
      from: "from" in verdict ? verdict.from : null,
      runnerUp: verdict.kind === "unserved" ? null : verdict.runnerUp,
      leadMs: verdict.kind === "unserved" || verdict.leadMs === null ? null : round(verdict.leadMs),
      savedMs: verdict.kind === "migrated" ? round(verdict.savedMs) : 0,
    },
    marginMs: round(decision.marginMs),
    mode: decision.mode,
    withheld: decision.withheld === null ? null : { kind: decision.withheld.kind, region: regionOf(decision.withheld) },
    overrideId: decision.overrideId,
    yieldedOverrideIds: [...decision.yieldedOverrideIds],
    answeredWith: decision.answeredWith,
    answered: entry.answered.value,
    ttlSeconds: decision.ttlSeconds,
    considered: decision.considered.map(consideredView),
    ...explain(decision, policy),
  };
};

const conversationView = ({ decision }: Entry): DecisionView["conversation"] => {
  const { turn } = decision;
  if (turn.conversationId === null) return null;
  return {
    id: turn.conversationId,
    contextTokens: turn.contextTokens,
    isContextAssumed: turn.isContextAssumed,
    newTokens: turn.newTokens,
    home: turn.home,
    idleMs: turn.conversation === null ? null : round(turn.receivedAtMs - turn.conversation.lastTurnAtMs),
    turns: turn.conversation?.turns ?? 0,
    parentId: turn.parentId,
  };
};

const expectedView = (turn: Turn): DecisionView["expected"] => ({
  outputTokens: Math.round(turn.outputTokens),
  outputSource: turn.outputSource,
  outputLimitTokens: turn.outputLimitTokens,
  nextTurnFraction: round(turn.nextTurnFraction),
  nextTurnSource: turn.nextTurnSource,
  reuseFraction: round(turn.reuseFraction),
  reuseSource: turn.reuseSource,
});

const consideredView = (one: Considered): ConsideredView => {
  const reportAgeMs = one.reportAgeMs === null ? null : round(one.reportAgeMs);
  if (one.kind === "excluded") return { region: one.region, exclusion: one.exclusion, reportAgeMs };
  const { region, leavesAtMs } = one;
  const leaving = leavesAtMs === null ? {} : { leavesAt: new Date(leavesAtMs).toISOString() };
  return { region, cost: roundedCost(one.cost), plan: planView(one.plan), reportAgeMs, ...leaving };
};

const planView = (plan: Plan): PlanView => ({
  replica: plan.replica,
  holder: plan.holder,
  rttMs: round(plan.rttMs),
  rttSource: plan.rttSource,
  heldTokens: Math.round(plan.heldTokens),
  heldProbability: round(plan.heldProbability),
  survivalFraction: round(plan.survivalFraction),
  heldCorrection: round(plan.heldCorrection),
  isHeldCorrectionLearnt: plan.isHeldCorrectionLearnt,
  writingMs: plan.writingMs === null ? null : round(plan.writingMs),
});

const roundedCost = (cost: Cost): Cost => ({
  networkMs: round(cost.networkMs),
  queueMs: round(cost.queueMs),
  prefillMs: round(cost.prefillMs),
  migrationMs: round(cost.migrationMs),
  coldStartMs: round(cost.coldStartMs),
  memoryMs: round(cost.memoryMs),
  decodeMs: round(cost.decodeMs),
  moneyMs: round(cost.moneyMs),
  stalenessMs: round(cost.stalenessMs),
  predictedTtftMs: round(cost.predictedTtftMs),
  totalMs: round(cost.totalMs),
});

/** A thousandth: enough to compare recorded numbers, short enough to read. */
const round = (value: number): number => Math.round(value * 1_000) / 1_000;
