/** What is found when a conversation's label is looked up: the decision of where its home is, or that nobody knows of one. */
import type { Decision } from "#gtm/domain/decision.ts";
import type { Pool } from "#gtm/domain/pool.ts";
import type { Ports } from "#gtm/steering/ports.ts";
import type { Steer } from "#gtm/steering/steer.ts";
import type { Clock } from "#shared/clock.ts";
import type { DecisionId, PoolName, RegionId } from "#shared/ids.ts";
import { KEYS } from "#shared/keys.ts";
import { type LabelReading, type Labels, tagOf } from "#shared/pin-token.ts";

export type LabelFinding =
  /** Decided; the same for every client. */
  | { readonly kind: "home"; readonly decision: Decision }
  /** Nothing is known of a home: answered like the pool's name, by the client's cell, and not for long. */
  | { readonly kind: "stranger"; readonly pool: PoolName };

export type FoundLabel = {
  readonly finding: LabelFinding;
  /** On the instance's monotonic clock. */
  readonly atMs: number;
  /** Of the world that it was found in. */
  readonly candidacyVersion: number;
};

/** @param clientSubnet of whoever asks first, for the record */
export type FindLabel = (label: string, clientSubnet: string) => Promise<FoundLabel>;

export type LabelFinderOptions = {
  readonly ports: Pick<Ports, "world" | "findConversation">;
  readonly steer: Steer;
  /** null: labels are not minted here, and every label is a stranger's. */
  readonly labels: Labels | null;
  readonly pools: readonly Pool[];
  readonly regions: readonly { readonly id: RegionId }[];
  readonly defaultPool: Pool;
  readonly newId: () => DecisionId;
  readonly clock: Clock;
  /** A label was read as one of these. */
  readonly onRead: (kind: LabelReading["kind"]) => void;
};

/** As long as the ledger remembers: an older token may point anywhere. */
const HOME_HINT_MS = KEYS.conversation.ttlMs;

export const createLabelFinder = (options: LabelFinderOptions): FindLabel => {
  const { ports, steer, labels, defaultPool, newId, clock, onRead } = options;
  const poolOfTag = new Map(options.pools.map((pool) => [tagOf(pool.name), pool]));
  const regionOfTag = new Map(options.regions.map(({ id }) => [tagOf(id), id]));

  const poolOf = (reading: LabelReading): Pool =>
    reading.kind === "ours" ? (poolOfTag.get(reading.poolTag) ?? defaultPool) : defaultPool;
  const hintOf = (reading: LabelReading): RegionId | null => {
    if (reading.kind !== "ours" || clock.epochMs() - reading.issuedAtMs > HOME_HINT_MS) return null;
    return regionOfTag.get(reading.regionTag) ?? null;
  };

  const find = async (label: string, clientSubnet: string): Promise<LabelFinding> => {
    if (labels === null) return { kind: "stranger", pool: defaultPool.name };
    const reading = labels.read(label);
    onRead(reading.kind);
    const pool = poolOf(reading);
    const pinnedTo = hintOf(reading);
    const conversation = await ports.findConversation(reading.conversation);
    if (conversation === null && pinnedTo === null) return { kind: "stranger", pool: pool.name };
    const query = {
      id: newId(),
      channel: "dns",
      kind: "label",
      pool,
      // The name says nothing of the model; the ledger does.
      model: conversation?.model ?? null,
      tenant: "default",
      clientSubnet,
      conversationId: reading.conversation,
      parentId: null,
      pinnedTo,
      promptTokens: null,
      outputTokens: null,
      outputLimitTokens: null,
      stateRegion: null,
      receivedAtMs: clock.monotonicMs(),
    } as const;
    // Between the two look-ups the conversation may have been forgotten.
    return steer(query, (decision) =>
      decision.turn.home === null ? { kind: "stranger", pool: pool.name } : { kind: "home", decision },
    );
  };
  return async (label, clientSubnet) => {
    const finding = await find(label, clientSubnet);
    return { finding, atMs: clock.monotonicMs(), candidacyVersion: ports.world().candidacyVersion };
  };
};
