/** A decision in English: what was decided, why, and the smallest change that would have decided otherwise. */
import { isHomeOrdered } from "#gtm/domain/conversation-move.ts";
import { type Candidate, type Cost, type Decision, type Exclusion, regionOf } from "#gtm/domain/decision.ts";
import type { RegionId } from "#shared/ids.ts";
import { exclusionClause } from "./exclusion-text.ts";
import { flipOf } from "./flip.ts";
import { leavingSentence } from "./leaving-text.ts";
import type { Policy } from "./policy.ts";
import { formatMs, formatTokens } from "./quantity-text.ts";

export type Explanation = { readonly explanation: string; readonly flipsIf: string | null };

export const explain = (decision: Decision, policy: Policy): Explanation =>
  decision.withheld === null
    ? {
        explanation: [verdictSentence(decision), runnerUpSentence(decision), ...shareSentences(decision)]
          .filter((one) => one !== "")
          .join(" "),
        flipsIf: flipSentence(decision, policy),
      }
    : shadowed(decision, decision.withheld);

/** What steering would have said, of the decision that it would have made. */
const shadowed = (decision: Decision, withheld: Decision["verdict"]): Explanation => {
  const wished = { ...decision, verdict: withheld, withheld: null };
  const region = regionOf(decision.verdict) ?? "nowhere";
  const steering = [verdictSentence(wished), runnerUpSentence(wished)].filter((one) => one !== "").join(" ");
  return {
    explanation: `Answered with ${region}, the nearest that may serve: the pool is in shadow. Steering would have said: ${steering}`,
    flipsIf: null,
  };
};

const verdictSentence = (decision: Decision): string => {
  const { verdict, turn } = decision;
  switch (verdict.kind) {
    case "pinned":
      if (isHomeOrdered(turn)) return `Goes to ${verdict.region}, where somebody ordered it moved.`;
      return `Stays in ${verdict.region}, ${holdingClause(decision, verdict.region)}.${leavingSentence(decision, verdict.region)}`;
    case "placed":
      return turn.kind === "cell"
        ? `Clients of ${turn.client.place ?? turn.client.area ?? turn.client.subnet} are answered with ${verdict.region}.`
        : `${newcomer(decision)} starts in ${verdict.region}, where its first token is expected soonest.`;
    case "migrated":
      return `Moves from ${verdict.from} to ${verdict.region}, which saves ${formatMs(verdict.savedMs)}, more than the margin of ${formatMs(decision.marginMs)}${homeBurden(decision, verdict.from, verdict.region)}.`;
    case "displaced":
      return `Leaves ${verdict.from} for ${verdict.region}, because ${verdict.from} ${exclusionClause(exclusionOf(decision, verdict.from))}.`;
    case "unserved":
      return `No region can serve: ${exclusions(decision)}.`;
  }
};

const newcomer = ({ turn }: Decision): string => {
  if (turn.conversationId === null) return "A turn without a conversation";
  return turn.parentId === null ? "It" : `It begins with ${formatTokens(turn.contextTokens)} of its parent's and`;
};

const holdingClause = (decision: Decision, region: RegionId): string => {
  const plan = candidateOf(decision, region)?.plan;
  const { turn } = decision;
  if (plan === undefined) return "where its token points; nothing is known of any region yet";
  if (turn.contextTokens === 0) return "its home";
  if (turn.isContextAssumed)
    return `its home by a signed token; ${formatTokens(turn.contextTokens)} of context are assumed`;
  if (plan.heldProbability < 0.5) {
    return `its home, although its ${formatTokens(turn.contextTokens)} are probably no longer cached there`;
  }
  return `which holds ${formatTokens(turn.contextTokens)} of it`;
};

const homeBurden = (decision: Decision, home: RegionId, chosen: RegionId): string => {
  const there = candidateOf(decision, home);
  const here = candidateOf(decision, chosen);
  if (there === undefined || here === undefined) return "";
  const part = largestPart(here.cost, there.cost);
  return part === null ? "" : `: ${PARTS[part]} would take ${formatMs(there.cost[part])} in ${home}`;
};

const runnerUpSentence = (decision: Decision): string => {
  const { verdict } = decision;
  if (verdict.kind === "unserved" || verdict.kind === "migrated" || verdict.runnerUp === null) return "";
  const chosen = candidateOf(decision, verdict.region);
  const other = candidateOf(decision, verdict.runnerUp);
  if (chosen === undefined || other === undefined || verdict.leadMs === null) return "";
  if (isHomeOrdered(decision.turn)) return orderedAgainst(other.region, verdict.leadMs);
  if (verdict.leadMs < 0) {
    return `${other.region} would cost ${formatMs(-verdict.leadMs)} less, under the margin of ${formatMs(decision.marginMs)}.`;
  }
  const part = largestPart(chosen.cost, other.cost);
  const cause = part === null ? "" : `, ${shareOf(chosen.cost, other.cost, part)} ${PARTS[part]}`;
  return `${other.region} would cost ${formatMs(verdict.leadMs)} more${cause}.`;
};

const orderedAgainst = (other: RegionId, leadMs: number): string =>
  `${other} would cost ${formatMs(Math.abs(leadMs))} ${leadMs < 0 ? "less" : "more"}.`;

type Part = Exclude<keyof Cost, "predictedTtftMs" | "totalMs">;
const PARTS: Readonly<Record<Part, string>> = {
  networkMs: "network",
  queueMs: "queueing",
  prefillMs: "prefill",
  migrationMs: "recomputing",
  coldStartMs: "loading the model",
  memoryMs: "what it would push out of the cache",
  decodeMs: "slower decoding",
  moneyMs: "money",
  stalenessMs: "old reports",
};
const PART_NAMES = Object.keys(PARTS) as readonly Part[];

/** The part in which `dear` exceeds `cheap` most; null where it exceeds in none. */
const largestPart = (cheap: Cost, dear: Cost): Part | null => {
  let largest: Part | null = null;
  let excessMs = 0;
  for (const part of PART_NAMES) {
    const differenceMs = dear[part] - cheap[part];
    if (differenceMs > excessMs) {
      largest = part;
      excessMs = differenceMs;
    }
  }
  return largest;
};

const shareOf = (cheap: Cost, dear: Cost, part: Part): string => {
  const fraction = (dear[part] - cheap[part]) / (dear.totalMs - cheap.totalMs);
  return fraction >= 0.8 ? "nearly all of it" : fraction >= 0.5 ? "most of it" : "for the most part";
};

const flipSentence = (decision: Decision, policy: Policy): string | null => {
  const flip = flipOf(decision, policy);
  if (flip === null) return null;
  if (flip.kind === "returns") return `${flip.region} could serve again; it ${exclusionClause(flip.exclusion)}`;
  return flip.byMs < 0
    ? `${flip.region}'s queue were ${formatMs(-flip.byMs)} shorter`
    : `${flip.region}'s queue grew by ${formatMs(flip.byMs)}`;
};

/** What a share kept away or could not: nobody sees it in the costs. */
const shareSentences = ({ considered, verdict, yieldedOverrideIds }: Decision): readonly string[] => {
  const yielded = yieldedOverrideIds.map(
    (id) => `The share of override ${id} would have left no region, so it yields.`,
  );
  if (verdict.kind === "unserved" || verdict.kind === "displaced") return yielded;
  const kept = considered.flatMap((one) =>
    one.kind === "excluded" && one.exclusion.reason === "over-share"
      ? [`Kept out: ${one.region} ${exclusionClause(one.exclusion)}.`]
      : [],
  );
  return [...kept, ...yielded];
};

const exclusions = (decision: Decision): string => {
  const reasons = decision.considered.flatMap((one) =>
    one.kind === "excluded" && one.exclusion.reason !== "not-a-member"
      ? [`${one.region} ${exclusionClause(one.exclusion)}`]
      : [],
  );
  return reasons.length === 0 ? "the pool has no regions" : reasons.join("; ");
};

const exclusionOf = (decision: Decision, region: RegionId): Exclusion | null => {
  const found = decision.considered.find((one) => one.region === region);
  return found?.kind === "excluded" ? found.exclusion : null;
};

const candidateOf = (decision: Decision, region: RegionId): Candidate | undefined =>
  decision.considered.find((one): one is Candidate => one.kind === "candidate" && one.region === region);
