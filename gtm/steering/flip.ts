/** A single change, as small as can be said, that would have sent a turn elsewhere. */
import { isHomeOrdered } from "#gtm/domain/conversation-move.ts";
import type { Candidate, Decision, Excluded, Exclusion } from "#gtm/domain/decision.ts";
import type { RegionId } from "#shared/ids.ts";
import { byHash, runnerUpTo } from "./choose.ts";
import { leastFlip } from "./least-flip.ts";
import { marginOf, savedMs } from "./persistence.ts";
import type { Policy } from "./policy.ts";

export type Flip =
  /** The region's queue would have to be longer (above 0) or shorter (below 0) by a little more than this. */
  | { readonly kind: "queue"; readonly region: RegionId; readonly byMs: number }
  /** The region would have to be a candidate again. */
  | { readonly kind: "returns"; readonly region: RegionId; readonly exclusion: Exclusion };

/** @returns null when no single change would do: there is no other region, or rates are too uncertain to say */
export const flipOf = (decision: Decision, general: Policy): Flip | null => {
  const { verdict, considered, turn } = decision;
  // What a cell's move must save depends on the moment.
  const policy = turn.kind === "cell" ? { ...general, marginMs: decision.marginMs } : general;
  const candidates = considered.filter((one): one is Candidate => one.kind === "candidate");
  if (candidates.some((one) => !one.isTrusted)) return null;
  if (verdict.kind === "unserved") return returnOf(considered.find(isMemberExcluded));
  if (verdict.kind === "displaced") {
    return returnOf(considered.find((one) => one.kind === "excluded" && one.region === verdict.from));
  }
  const chosen = candidates.find((one) => one.region === verdict.region);
  const runnerUp = chosen === undefined ? null : runnerUpTo(chosen, candidates);
  if (chosen === undefined || runnerUp === null) return null;
  const flip = queueFlipOf(decision, { chosen, runnerUp, candidates }, policy);
  // Of two regions it is the least already; of more, a third may come in between.
  if (flip?.kind !== "queue" || candidates.length === 2) return flip;
  return { kind: "queue", ...leastFlip(flip, chosen.region, candidates, turn, policy) };
};

type Compared = {
  readonly chosen: Candidate;
  readonly runnerUp: Candidate;
  readonly candidates: readonly Candidate[];
};

const queueFlipOf = ({ verdict, turn }: Decision, compared: Compared, policy: Policy): Flip | null => {
  const { chosen, runnerUp, candidates } = compared;
  if (verdict.kind === "migrated") {
    const home = candidates.find((one) => one.region === verdict.from);
    return home === undefined ? null : unmovedBy(home, chosen, policy);
  }
  // A name's home is left by a turn, never by a query, and one that was ordered only once it was reached.
  if ((turn.kind === "label" || isHomeOrdered(turn)) && verdict.kind === "pinned") return null;
  return chosen.region === turn.home
    ? movedBy(chosen, candidates, policy)
    : outbidBy(chosen, runnerUp, turn.hashKey, policy);
};

/** Home loses when its queue grows, or when another's shrinks: the other way round needs less, where there is that much. */
const movedBy = (home: Candidate, candidates: readonly Candidate[], policy: Policy): Flip => {
  let best: Flip | null = null;
  for (const other of candidates) {
    if (other === home) continue;
    const flip = movedTo(other, home, policy);
    if (best === null || best.kind !== "queue" || Math.abs(flip.byMs) < Math.abs(best.byMs)) best = flip;
  }
  if (best === null) throw new Error("movedBy: needs another candidate");
  return best;
};

const movedTo = (other: Candidate, home: Candidate, policy: Policy): Extract<Flip, { kind: "queue" }> => {
  const saved = savedMs(home, other, policy);
  const shrinkMs = Math.max(
    marginOf(home.cost.totalMs, policy) - saved,
    // Even where later turns count, a decision is never dearer than staying.
    other.cost.totalMs - home.cost.totalMs,
  );
  if (shrinkMs <= other.cost.queueMs) return { kind: "queue", region: other.region, byMs: -shrinkMs };
  return { kind: "queue", region: home.region, byMs: growthMs(home, other, saved, policy) };
};

/** The margin grows with home's total, so home's queue has to grow by more than what is lacking. */
const growthMs = (home: Candidate, other: Candidate, saved: number, policy: Policy): number =>
  Math.max(policy.marginMs - saved, -overFraction(home, saved, policy), other.cost.totalMs - home.cost.totalMs);

/** A move is undone when it no longer saves the margin, or when it would be dearer than staying. */
const unmovedBy = (home: Candidate, chosen: Candidate, policy: Policy): Flip => {
  const saved = savedMs(home, chosen, policy);
  const leadMs = home.cost.totalMs - chosen.cost.totalMs;
  // The margin shrinks with home's total, so home's queue has to shrink by more than what the saving exceeds it by.
  const shrinkMs = Math.min(leadMs, Math.max(0, Math.min(saved - policy.marginMs, overFraction(home, saved, policy))));
  if (shrinkMs <= home.cost.queueMs) return { kind: "queue", region: home.region, byMs: -shrinkMs };
  const growMs = Math.min(leadMs, saved - marginOf(home.cost.totalMs, policy));
  return { kind: "queue", region: chosen.region, byMs: growMs };
};

const overFraction = (home: Candidate, saved: number, policy: Policy): number =>
  (saved - policy.marginFraction * home.cost.totalMs) / (1 - policy.marginFraction);

/** Among totals within the bucket the hash decides: whom it favours needs to come that close, who it does not needs to lead. */
const outbidBy = (chosen: Candidate, runnerUp: Candidate, hashKey: string, policy: Policy): Flip => {
  const leadMs = runnerUp.cost.totalMs - chosen.cost.totalMs;
  const isFavoured = byHash([chosen, runnerUp], hashKey) === runnerUp;
  const byMs = isFavoured ? leadMs - policy.bucketMs : leadMs + policy.bucketMs;
  return byMs <= runnerUp.cost.queueMs
    ? { kind: "queue", region: runnerUp.region, byMs: -byMs }
    : { kind: "queue", region: chosen.region, byMs };
};

const isMemberExcluded = (one: Decision["considered"][number]): one is Excluded =>
  one.kind === "excluded" && one.exclusion.reason !== "not-a-member";

const returnOf = (one: Decision["considered"][number] | undefined): Flip | null =>
  one?.kind === "excluded" ? { kind: "returns", region: one.region, exclusion: one.exclusion } : null;
