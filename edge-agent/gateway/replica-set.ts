/** The region's replicas, and the choice among them: pure but for what turns and looks at the engines have taught. */
import type { ConversationId, ModelId, ReplicaId } from "#shared/ids.ts";
import { type Candidate, type Chosen, choose } from "./choice.ts";
import type { RefusalReason, Turn } from "./ports.ts";
import { createReplica, type Replica } from "./replica.ts";
import type { ReplicaFacts } from "./replica-facts.ts";
import type { PrefillSpeed } from "./replica-speed.ts";

export type QueueRules = {
  /** A turn that would take longer than so many times what the GTM expected is refused … */
  readonly factor: number;
  /** … where it is also longer by this, ms. */
  readonly floorMs: number;
};

export type Picked =
  | { readonly kind: "picked"; readonly replica: Replica; readonly chosen: Chosen }
  | { readonly kind: "refused"; readonly reason: RefusalReason; readonly retryAfterMs: number };

export type ReplicaSet = {
  /** What engines say now; a replica that none names any more is gone. */
  readonly learn: (facts: ReadonlyMap<ReplicaId, ReplicaFacts>, nowEpochMs: number) => void;
  /** @param not that failed this turn already */
  readonly pick: (turn: Turn, not: ReadonlySet<ReplicaId>, nowMs: number) => Picked;
  /** By id. */
  readonly all: () => readonly Replica[];
};

/** Engines are looked at each two seconds, and load in more. */
const ASK_AGAIN_MS = 5_000;
const LEAST_RETRY_MS = 1_000;
const MOST_NAMES = 10_000;

export const createReplicaSet = (rules: QueueRules): ReplicaSet => {
  const replicas = new Map<ReplicaId, Replica>();
  /** Models that were served here since this process began. */
  const seenNames = new Set<string>();

  /** Of those that serve the model; the GTM's word that the region has it counts where no engine calls it so. */
  const serving = ({ model, decision }: Turn): readonly Replica[] => {
    const all = [...replicas.values()];
    const named = all.filter((replica) => model === null || namesModel(replica, model));
    const isOnlyTheirs = model !== null && decision !== null && !seenNames.has(model);
    return named.length === 0 && isOnlyTheirs ? all : named;
  };
  const know = (names: ReadonlySet<string> | null): void => {
    for (const name of names ?? []) if (seenNames.size < MOST_NAMES) seenNames.add(name);
  };
  return {
    learn: (facts, nowEpochMs) => {
      for (const id of [...replicas.keys()].filter((one) => !facts.has(one))) replicas.delete(id);
      const written = [...replicas.values()].map((replica) => replica.tokensWritten());
      const least = written.length === 0 ? 0 : Math.min(...written);
      for (const [id, one] of facts) {
        const known = replicas.get(id);
        if (known === undefined) replicas.set(id, createReplica(one, least, nowEpochMs));
        else known.learn(one);
        know(one.names);
      }
    },
    pick: (turn, not, nowMs) => {
      const able = serving(turn).filter((replica) => !not.has(replica.id) && !replica.facts().isDown);
      const chosen = choose(candidatesOf(able, turn, nowMs), turn.promptTokens);
      const replica = able.find(({ id }) => id === chosen?.id);
      if (chosen === null || replica === undefined) {
        return { kind: "refused", reason: "model-gone", retryAfterMs: ASK_AGAIN_MS };
      }
      const excessMs = excessOf(chosen, turn, rules);
      // Of a queue that others keep nothing is known: better a turn that waits than one that is refused by a guess.
      const isKnown = !replica.facts().isRouter && replica.speed(nowMs).source !== "guessed";
      if (excessMs > 0 && isKnown) {
        return { kind: "refused", reason: "queue", retryAfterMs: Math.max(LEAST_RETRY_MS, Math.ceil(excessMs)) };
      }
      return { kind: "picked", replica, chosen };
    },
    all: () => [...replicas.values()].sort((a, b) => (a.id < b.id ? -1 : 1)),
  };
};

/** A replica that has not been measured is as fast as its like were measured: a number of another kind would compare with nothing. */
const candidatesOf = (able: readonly Replica[], turn: Turn, nowMs: number): readonly Candidate[] => {
  const conversation = contextOf(able, turn, nowMs);
  const measured = able.map((replica) => replica.speed(nowMs)).filter(({ source }) => source === "measured");
  const usual = meanSpeed(measured);
  return able.map((replica) => {
    const candidate = replica.candidate(conversation, nowMs);
    const isMeasured = usual === null || replica.speed(nowMs).source === "measured";
    return isMeasured ? candidate : { ...candidate, speed: usual };
  });
};

/** Whose context is looked for: its own, and where nobody holds that yet the one that it begins with. */
const contextOf = (able: readonly Replica[], { conversation, parent }: Turn, nowMs: number): ConversationId | null => {
  const isHeld = able.some((replica) => replica.candidate(conversation, nowMs).heldTokens > 0);
  return isHeld ? conversation : (parent ?? conversation);
};

const meanSpeed = (speeds: readonly PrefillSpeed[]): PrefillSpeed | null => {
  const mean = (of: (speed: PrefillSpeed) => number): number =>
    speeds.reduce((sum, speed) => sum + of(speed), 0) / speeds.length;
  if (speeds.length === 0) return null;
  return { fixedMs: mean((one) => one.fixedMs), linMs: mean((one) => one.linMs), attnMs: mean((one) => one.attnMs) };
};

const namesModel = (replica: Replica, model: ModelId): boolean => replica.facts().names?.has(model) ?? true;

/** By how much the queue is beyond what the GTM's estimate allows; without an estimate never. */
const excessOf = ({ costMs }: Chosen, { predictedTtftMs }: Turn, { factor, floorMs }: QueueRules): number =>
  predictedTtftMs === null ? 0 : costMs - (predictedTtftMs * factor + floorMs);
