/** This GTM as a policy under comparison: the production decision, ledger and learning on a world that the production assembly makes. */
import { type Decision, regionOf } from "#gtm/domain/decision.ts";
import { hash32 } from "#gtm/domain/hash.ts";
import type { createCellSteer } from "#gtm/steering/cell.ts";
import { knownOrBorn } from "#gtm/steering/parent.ts";
import { DEFAULT_POLICY, type Policy } from "#gtm/steering/policy.ts";
import { decisionOf } from "#gtm/steering/steer.ts";
import { turnOf } from "#gtm/steering/turn.ts";
import { type Answered, createDnsSteered } from "./dns-steered.ts";
import { createLedger } from "./ledger.ts";
import { replicaId, SIMULATED } from "./region-reporter.ts";
import type { Arena, Asked, Choice, Contender, CreateContender } from "./rival.ts";
import { createSimulatedGtm, type SimulatedGtm } from "./simulated-gtm.ts";
import { clientOf, conversationIdOf, networkOf, poolOf, turnQueryOf } from "./simulated-query.ts";
import type { TurnRecord } from "./turn-record.ts";

export type SteeredOptions = {
  readonly policy?: Policy;
  /** Production's where it is not given; another one to compare it with. */
  readonly cellSteer?: typeof createCellSteer;
  /** Each decision on a turn, for who looks for the reasons. */
  readonly onDecision?: (turn: Asked, decision: Decision) => void;
  /** The first answer to each city, and each that differs from the one before. */
  readonly onAnswer?: (answered: Answered) => void;
};

/** How often GTMs tell each other what they sent, as production does. */
const SHARE_EVERY_MS = 200;

export const steered =
  (options: SteeredOptions = {}): CreateContender =>
  (arena) =>
    createSteered(arena, options);

const createSteered = (arena: Arena, options: SteeredOptions): Contender => {
  const { agenda, scenario } = arena;
  const policy = options.policy ?? DEFAULT_POLICY;
  const pool = poolOf(scenario);
  const ledger = createLedger();
  const count = scenario.leading.kind === "redirect" ? scenario.leading.gtms : 1;
  const gtms = Array.from({ length: count }, () => createSimulatedGtm(arena, policy, pool));
  const indices = new Map(scenario.fleet.map(({ site }, index) => [site.id, index]));
  const replicaIds = scenario.fleet.map(({ site, replicas }) =>
    Array.from({ length: replicas }, (_, replica) => replicaId(site, replica)),
  );
  let decisions = 0;
  if (scenario.leading.kind === "redirect" && scenario.leading.sharesSends && count > 1) share(arena, gtms);
  const [first] = gtms;
  if (first === undefined) throw new RangeError("a scenario has at least one GTM");

  /** Each client keeps to one, as a name's answers keep it. */
  const gtmOf = ({ client }: Asked): SimulatedGtm =>
    (count === 1 ? first : gtms[hash32(String(client)) % count]) ?? first;
  const decide = (turn: Asked, gtm: SimulatedGtm): Decision => {
    decisions += 1;
    const nowMs = agenda.nowMs();
    const query = turnQueryOf(turn, { pool, decisions, nowMs });
    const { conversationId: id, parentId } = query;
    const known = ledger.find(id, nowMs);
    const parent = known === null && parentId !== null ? ledger.find(parentId, nowMs) : null;
    const conversation = knownOrBorn(known, parent, id, turn.promptTokens);
    const world = gtm.world();
    return decisionOf(query, turnOf(query, clientOf(turn.city), conversation, world, policy), world, policy);
  };
  const follow = (turn: Asked, gtm: SimulatedGtm, decision: Decision): Choice | null => {
    const region = regionOf(decision.verdict);
    const chosen = decision.considered.find((one) => one.region === region);
    const index = region === null ? undefined : indices.get(region);
    if (region === null || index === undefined) return null;
    gtm.sent(decision, turn.promptTokens);
    const tokens = turn.promptTokens + decision.turn.outputTokens;
    const id = decision.turn.conversationId ?? conversationIdOf(turn.conversation);
    ledger.commit({ id, model: SIMULATED, region, tokens, atMs: decision.decidedAtMs });
    const cost = chosen?.kind === "candidate" ? chosen.cost : null;
    const prediction = cost === null ? null : { queueMs: cost.queueMs, ttftMs: cost.predictedTtftMs };
    return { region: index, prediction, verdict: decision.verdict.kind };
  };
  const measured = (turn: Asked, record: TurnRecord): void => {
    const site = scenario.fleet[record.region]?.site;
    if (scenario.reporting.eyes !== "gateway" || site === undefined) return;
    const id = conversationIdOf(turn.conversation);
    const { promptTokens, outputTokens, cachedTokens } = record;
    const replica = replicaIds[record.region]?.[record.replica] ?? replicaId(site, record.replica);
    const after = ledger.measured(id, site.id, replica, promptTokens + outputTokens);
    const lesson = {
      region: site.id,
      model: SIMULATED,
      replica,
      conversation: id,
      pool: pool.name,
      promptTokens,
      cachedTokens,
      completionTokens: outputTokens,
      outcome: "served" as const,
    };
    const rttMs = turn.lastMileMs + scenario.rttMs(turn.city, record.region);
    for (const gtm of gtms) {
      gtm.measured(lesson, networkOf(turn.city), rttMs);
      if (after !== null) gtm.hear(after);
    }
  };

  return {
    choose: (turn) => {
      const gtm = gtmOf(turn);
      const decision = decide(turn, gtm);
      options.onDecision?.(turn, decision);
      return follow(turn, gtm, decision);
    },
    resolve: createDnsSteered(arena, { ...options, policy, pool, world: first.world }),
    onFirstToken: () => undefined,
    onFinished: measured,
    // Who forwards nothing learns of a death by probes alone.
    onFailed: () => undefined,
  };
};

/** Each hears what all others have said up to the last round. */
const share = ({ agenda }: Arena, gtms: readonly SimulatedGtm[]): void => {
  const round = (): void => {
    const said = gtms.map((gtm) => gtm.says());
    for (const [at, gtm] of gtms.entries()) gtm.hearOthers(said.filter((_, index) => index !== at));
    agenda.at(agenda.nowMs() + SHARE_EVERY_MS, round);
  };
  agenda.at(SHARE_EVERY_MS, round);
};
