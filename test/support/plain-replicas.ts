/** Replicas without memory, for tests of the gateway's other parts: each engine is one; the first that has not failed this turn takes it. */

import type { Refusal, Replicas, Turn, TurnOutcome } from "#edge-agent/gateway/ports.ts";
import type { ReplicaId } from "#shared/ids.ts";

export type PlainReplicas = Replicas & {
  readonly turns: Turn[];
  readonly outcomes: TurnOutcome[];
  /** Octets that passed. */
  readonly passed: () => number;
  /** From now on every turn is refused so; null: served again. */
  refusal: Refusal | null;
  answers: number;
};

export const plainReplicas = (origins: readonly string[]): PlainReplicas => {
  const turns: Turn[] = [];
  const outcomes: TurnOutcome[] = [];
  let passed = 0;
  const replicas: PlainReplicas = {
    turns,
    outcomes,
    passed: () => passed,
    refusal: null,
    answers: origins.length,
    choose: (turn, not) => {
      turns.push(turn);
      const origin = origins.find((one) => !not.has(`${new URL(one).host}/0` as ReplicaId));
      if (replicas.refusal !== null) return replicas.refusal;
      if (origin === undefined) return { kind: "refused", reason: "model-gone", retryAfterMs: 1_000 };
      return {
        kind: "chosen",
        replica: `${new URL(origin).host}/0` as ReplicaId,
        origin,
        headers: [],
        follow: {
          head: () => {},
          chunk: (octets) => {
            passed += octets.length;
          },
          before: () => null,
          end: (outcome) => {
            outcomes.push(outcome);
          },
        },
      };
    },
    answering: () => replicas.answers,
    start: async () => {},
    stop: async () => {},
  };
  return replicas;
};
