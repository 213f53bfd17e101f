/** What engines say of themselves, and turns that come for them; a test names what matters to it. */
import type { Turn } from "#edge-agent/gateway/ports.ts";
import type { ReplicaFacts } from "#edge-agent/gateway/replica-facts.ts";
import type { ConversationId, ModelId, ReplicaId } from "#shared/ids.ts";

export const aReplicaId = (at: number): ReplicaId => `192.0.2.${at}:8000/0` as ReplicaId;

/** 1 ms a token, nothing known of its memory. */
export const someFacts = (at: number, change: Partial<ReplicaFacts> = {}): ReplicaFacts => ({
  id: aReplicaId(at),
  origin: `http://192.0.2.${at}:8000`,
  model: "model-a" as ModelId,
  names: new Set(["model-a", "alias-a"]),
  rank: null,
  isDown: false,
  startedAtMs: 1_000_000,
  kvCapacityTokens: null,
  prefillTokensPerSecond: 1_000,
  slots: null,
  isRouter: false,
  ...change,
});
export const factsMap = (...facts: readonly ReplicaFacts[]): ReadonlyMap<ReplicaId, ReplicaFacts> =>
  new Map(facts.map((one) => [one.id, one]));

/** 4 000 tokens of one conversation. */
export const aTurn = (change: Partial<Turn> = {}): Turn => ({
  model: "model-a" as ModelId,
  conversation: "0123456789abc" as ConversationId,
  parent: null,
  pool: null,
  tenantTag: 7,
  promptTokens: 4_000,
  outputTokens: 100,
  clientPrefix: "198.51.100.0/24",
  rttMs: 20,
  predictedTtftMs: null,
  decision: null,
  path: "/v1/chat/completions",
  receivedAtMs: 0,
  ...change,
});
