/**
 * Our decisions against the greedy oracle's, one by one, on the way that ours take: how much sooner the turn would have had its
 * first token where the oracle would have sent it, and which term of the cost it was that misled. What memory is worth to later
 * turns the oracle does not see; a price that costs something here may well pay.
 */
import { type Candidate, type Decision, regionOf } from "#gtm/domain/decision.ts";
import type { Policy } from "#gtm/steering/policy.ts";
import { playScenario } from "./play-scenario.ts";
import type { Arena, Asked, CreateContender } from "./rival.ts";
import { createTruth, type TrueOffer } from "./rivals/truth.ts";
import type { Scenario } from "./scenario.ts";
import { steered } from "./steered.ts";

/** What led to another region than the oracle's. */
export type Misled = {
  /** Queue, work that the cache spares, and way there, each believed longer or shorter than it was. */
  readonly queueMs: number;
  readonly cacheMs: number;
  readonly networkMs: number;
  /** Prices beside the wait for the first token: memory, and all others together. */
  readonly memoryMs: number;
  readonly otherPricesMs: number;
  /**
   * By how much ours was the dearer by our own numbers: above 0 where the margin of moving or the bucket of equals kept it;
   * below 0 it is the advantage that the terms above made us believe in.
   */
  readonly believedMs: number;
};

export type Regret = {
  readonly decisions: number;
  /** Where the oracle would have chosen another region. */
  readonly differing: number;
  /** A decision, on average; the parts of `misled` add up to it. */
  readonly regretMs: number;
  readonly misled: Misled;
};

export type OracleDiff = {
  readonly all: Regret;
  readonly first: Regret;
  readonly later: Regret;
  /** Of the region that was chosen, over all decisions: what was predicted less what was true. */
  readonly queueErrorMs: { readonly bias: number; readonly meanAbsolute: number; readonly trueMean: number };
  readonly cacheErrorMs: { readonly bias: number; readonly meanAbsolute: number; readonly trueMean: number };
};

/** Same scenario, policy and seed: same result. Decisions of the warm-up are left out. */
export const diffAgainstOracle = (
  scenario: Scenario,
  { policy, seed }: { readonly policy?: Policy; readonly seed: number },
): OracleDiff => {
  const tally = createTally();
  const create: CreateContender = (arena) => {
    const compare = comparer(arena, tally);
    return steered({ ...(policy === undefined ? {} : { policy }), onDecision: compare })(arena);
  };
  playScenario(scenario, create, { seed, onTurn: () => undefined, onLost: () => undefined });
  return tally.result();
};

const comparer = (arena: Arena, tally: Tally): ((turn: Asked, decision: Decision) => void) => {
  const truth = createTruth(arena);
  const indices = new Map(arena.scenario.fleet.map(({ site }, index) => [site.id, index]));
  return (turn, decision) => {
    const region = regionOf(decision.verdict);
    const offers: Offered[] = [];
    for (const candidate of decision.considered) {
      const index = indices.get(candidate.region);
      if (candidate.kind !== "candidate" || index === undefined) continue;
      offers.push({ candidate, truly: truth.offerOf(turn, index) });
    }
    const ours = offers.find(({ candidate }) => candidate.region === region);
    if (ours === undefined) return;
    truth.sent(ours.truly);
    if (arena.agenda.nowMs() < arena.scenario.warmUpMs) return;
    const best = offers.reduce((least, one) => (one.truly.ttftMs < least.truly.ttftMs ? one : least), ours);
    tally.count(turn, ours, best);
  };
};

type Offered = { readonly candidate: Candidate; readonly truly: TrueOffer };

/** How each term misled: what the oracle's region was better by, in the truth, and was not, in our numbers. */
export const misledBy = (ours: Offered, best: Offered): Misled => {
  const { cost: here } = ours.candidate;
  const { cost: there } = best.candidate;
  const workOf = ({ cost }: Candidate): number => cost.prefillMs + cost.migrationMs + cost.coldStartMs;
  const othersOf = ({ cost }: Candidate): number => cost.decodeMs + cost.moneyMs + cost.stalenessMs;
  return {
    queueMs: ours.truly.queueMs - here.queueMs - (best.truly.queueMs - there.queueMs),
    cacheMs: ours.truly.workMs - workOf(ours.candidate) - (best.truly.workMs - workOf(best.candidate)),
    networkMs: ours.truly.networkMs - here.networkMs - (best.truly.networkMs - there.networkMs),
    memoryMs: there.memoryMs - here.memoryMs,
    otherPricesMs: othersOf(best.candidate) - othersOf(ours.candidate),
    believedMs: here.totalMs - there.totalMs,
  };
};

type Tally = {
  readonly count: (turn: Asked, ours: Offered, best: Offered) => void;
  readonly result: () => OracleDiff;
};

const createTally = (): Tally => {
  const first = createRegret();
  const later = createRegret();
  const queue = createError();
  const cache = createError();
  return {
    count: (turn, ours, best) => {
      (turn.previous === null ? first : later).count(ours, best);
      const { cost } = ours.candidate;
      queue.count(cost.queueMs, ours.truly.queueMs);
      cache.count(cost.prefillMs + cost.migrationMs, ours.truly.workMs);
    },
    result: () => ({
      all: together(first.result(), later.result()),
      first: first.result(),
      later: later.result(),
      queueErrorMs: queue.result(),
      cacheErrorMs: cache.result(),
    }),
  };
};

const NOTHING: Misled = { queueMs: 0, cacheMs: 0, networkMs: 0, memoryMs: 0, otherPricesMs: 0, believedMs: 0 };
const TERMS = ["queueMs", "cacheMs", "networkMs", "memoryMs", "otherPricesMs", "believedMs"] as const;

/** Term by term a × `aWeight` + b × `bWeight`. */
const mixed = (a: Misled, aWeight: number, b: Misled, bWeight: number): Misled =>
  Object.fromEntries(TERMS.map((term) => [term, a[term] * aWeight + b[term] * bWeight])) as Misled;

const createRegret = () => {
  let decisions = 0;
  let differing = 0;
  let regretMs = 0;
  let misled = NOTHING;
  return {
    count: (ours: Offered, best: Offered): void => {
      decisions += 1;
      if (ours === best) return;
      differing += 1;
      regretMs += ours.truly.ttftMs - best.truly.ttftMs;
      misled = mixed(misled, 1, misledBy(ours, best), 1);
    },
    result: (): Regret => {
      const share = 1 / Math.max(1, decisions);
      return { decisions, differing, regretMs: regretMs * share, misled: mixed(misled, share, NOTHING, 0) };
    },
  };
};

const together = (a: Regret, b: Regret): Regret => {
  const decisions = a.decisions + b.decisions;
  const [aShare, bShare] = [a.decisions / Math.max(1, decisions), b.decisions / Math.max(1, decisions)];
  return {
    decisions,
    differing: a.differing + b.differing,
    regretMs: a.regretMs * aShare + b.regretMs * bShare,
    misled: mixed(a.misled, aShare, b.misled, bShare),
  };
};

const createError = () => {
  let count = 0;
  let sum = 0;
  let absolute = 0;
  let truth = 0;
  return {
    count: (predicted: number, truly: number): void => {
      count += 1;
      sum += predicted - truly;
      absolute += Math.abs(predicted - truly);
      truth += truly;
    },
    result: () => {
      const share = 1 / Math.max(1, count);
      return { bias: sum * share, meanAbsolute: absolute * share, trueMean: truth * share };
    },
  };
};
