/** A turn that has ended, in the words of those who learn from it: the GTMs, the ledger, the front that looks for stored responses. */
import type { ModelId, RegionId, ReplicaId } from "#shared/ids.ts";
import type { MeasuredTurn } from "#shared/measured-turn.ts";
import { tagOf } from "#shared/pin-token.ts";
import type { Measured } from "./ledger-entry.ts";
import type { Turn } from "./ports.ts";
import type { ReplicaFacts } from "./replica-facts.ts";
import type { Ended } from "./turn-watch.ts";

export type EndedHere = {
  readonly region: RegionId;
  readonly replica: ReplicaId;
  readonly facts: Pick<ReplicaFacts, "model" | "names">;
  readonly turn: Turn;
  readonly ended: Ended;
};

const LONGEST_PREFIX = 64;

/** null: it was no turn of a model, such as a look at the list of models. */
export const measuredTurn = ({
  region,
  replica,
  turn,
  ended,
  promisedTokens,
}: EndedHere & { readonly promisedTokens: number }): MeasuredTurn | null => {
  if (turn.model === null) return null;
  const { usage, passed, outcome } = ended;
  return {
    v: 1,
    region,
    replica,
    conversation: turn.conversation,
    pool: turn.pool,
    tenantTag: turn.tenantTag,
    model: turn.model,
    promptTokens: usage.promptTokens,
    cachedTokens: passed.cachedTokens,
    completionTokens: usage.completionTokens,
    isCompletionEstimated: usage.isCompletionEstimated,
    ttftMs: passed.ttftMs,
    totalMs: passed.totalMs,
    queuedMs: passed.queuedMs,
    clientPrefix: turn.clientPrefix !== null && turn.clientPrefix.length <= LONGEST_PREFIX ? turn.clientPrefix : null,
    rttMs: turn.rttMs,
    predictedTtftMs: turn.predictedTtftMs,
    predictedCachedTokens: turn.conversation === null ? null : promisedTokens,
    decision: turn.decision,
    outcome,
    atAgeMs: 0,
  };
};

/** null: it left nothing of a conversation, or nobody says how much. */
export const correctionOf = ({ region, replica, facts, turn, ended }: EndedHere): Measured | null => {
  const { heldTokens } = ended.passed;
  const { conversation, model } = turn;
  if (conversation === null || model === null || heldTokens === null) return null;
  return {
    id: conversation,
    model,
    isSameModel: sameModel(model, facts.names, turn.decision !== null),
    region,
    replica,
    tokens: heldTokens,
    atMs: turn.receivedAtMs,
    turns: turn.decision === null ? 1 : 0,
    owner: { tenantTag: turn.tenantTag ?? 0, poolTag: turn.pool === null ? 0 : tagOf(turn.pool) },
  };
};

/**
 * A GTM may call the model otherwise than the engine does. What its ticket says is its word; a client's own word, by a label,
 * does not make the entry another model's.
 */
const sameModel =
  (model: ModelId, names: ReadonlySet<string> | null, isGtmsWord: boolean): Measured["isSameModel"] =>
  (other) =>
    other === model || !isGtmsWord || names?.has(other) === true;

/** Whether its reply may be a response that a later turn builds on. */
export const makesResponse = ({ path }: Turn): boolean => path.endsWith("/responses");
