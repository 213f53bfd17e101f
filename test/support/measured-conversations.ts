/** What a gateway measured that turns left of a conversation; a test names what matters to it. */
import type { Measured } from "#edge-agent/gateway/ledger-entry.ts";
import type { ConversationId, ModelId, RegionId, ReplicaId } from "#shared/ids.ts";

/** 5 000 tokens in Paris, by a label, at 100 s. */
export const aMeasured = (change: Partial<Measured> = {}): Measured => ({
  id: "0123456789abc" as ConversationId,
  model: "model-a" as ModelId,
  isSameModel: () => false,
  region: "paris" as RegionId,
  replica: "192.0.2.10:8000/0" as ReplicaId,
  tokens: 5_000,
  atMs: 100_000,
  turns: 1,
  owner: { tenantTag: 7, poolTag: 9 },
  ...change,
});
