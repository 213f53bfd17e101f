/** What a conversation's label answers: the region that holds it; looked up at most once a second, however often it is asked. */
import { LRUCache } from "lru-cache";
import type { Decision } from "#gtm/domain/decision.ts";
import type { Pool } from "#gtm/domain/pool.ts";
import type { World } from "#gtm/domain/world.ts";
import type { Ports } from "#gtm/steering/ports.ts";
import type { Steer } from "#gtm/steering/steer.ts";
import type { Clock } from "#shared/clock.ts";
import type { DecisionId, PoolName, RegionId } from "#shared/ids.ts";
import { KEYS } from "#shared/keys.ts";
import { type LabelReading, type Labels, tagOf } from "#shared/pin-token.ts";
import type { Render, Rendered } from "./render.ts";

export type StandingLabel =
  /** Decided; the same for every client. */
  | { readonly kind: "home"; readonly decision: Decision; readonly ipv4: Rendered; readonly ipv6: Rendered }
  /** Nothing is known of a home: answered like the pool's name, by the client's cell, and not for long. */
  | { readonly kind: "stranger"; readonly pool: PoolName };

export type LabelAnswers = {
  /** What was found within the last second, for as long as no region's candidacy changed; null: it must be looked up. */
  readonly standing: (label: string) => StandingLabel | null;
  /**
   * Looks a label up; queries for the same label share one look-up.
   *
   * @param clientSubnet of whoever asks first, for the record
   * @returns null: so many look-ups are under way that this one is not begun
   */
  readonly lookUp: (label: string, clientSubnet: string) => Promise<StandingLabel> | null;
};

export type LabelOptions = {
  readonly ports: Pick<Ports, "world" | "findConversation">;
  readonly steer: Steer;
  /** null: labels are not minted here, and every label is a stranger's. */
  readonly labels: Labels | null;
  readonly pools: readonly Pool[];
  readonly regions: readonly { readonly id: RegionId }[];
  readonly defaultPool: Pool;
  readonly render: Render;
  readonly newId: () => DecisionId;
  readonly clock: Clock;
  /** A label was read as one of these. */
  readonly onRead: (kind: LabelReading["kind"]) => void;
};

const STANDS_MS = 1_000;
const MOST_LABELS = 32_768;
const MOST_LOOK_UPS = 1_024;
/** As long as the ledger remembers: an older token may point anywhere. */
const HOME_HINT_MS = KEYS.conversation.ttlMs;

export const createLabelAnswers = (options: LabelOptions): LabelAnswers => {
  const { ports, steer, labels, defaultPool, render, newId, clock, onRead } = options;
  const poolOfTag = new Map(options.pools.map((pool) => [tagOf(pool.name), pool]));
  const regionOfTag = new Map(options.regions.map(({ id }) => [tagOf(id), id]));
  type Kept = { readonly answer: StandingLabel; readonly atMs: number; readonly candidacyVersion: number };
  const kept = new LRUCache<string, Kept>({ max: MOST_LABELS });
  const underWay = new Map<string, Promise<StandingLabel>>();

  const poolOf = (reading: LabelReading): Pool =>
    reading.kind === "ours" ? (poolOfTag.get(reading.poolTag) ?? defaultPool) : defaultPool;
  const hintOf = (reading: LabelReading): RegionId | null => {
    if (reading.kind !== "ours" || clock.epochMs() - reading.issuedAtMs > HOME_HINT_MS) return null;
    return regionOfTag.get(reading.regionTag) ?? null;
  };

  const find = async (label: string, clientSubnet: string): Promise<StandingLabel> => {
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
      pinnedTo,
      promptTokens: null,
      outputTokens: null,
      parentId: null,
      stateRegion: null,
      receivedAtMs: clock.monotonicMs(),
    } as const;
    // Between the two look-ups the conversation may have been forgotten.
    return steer(query, (decision) =>
      decision.turn.home === null
        ? { kind: "stranger", pool: pool.name }
        : { kind: "home", decision, ipv4: render(decision, 4), ipv6: render(decision, 6) },
    );
  };
  const findAndKeep = async (label: string, clientSubnet: string): Promise<StandingLabel> => {
    try {
      const answer = await find(label, clientSubnet);
      kept.set(label, { answer, ...standsFrom(ports.world(), clock.monotonicMs()) });
      return answer;
    } finally {
      underWay.delete(label);
    }
  };

  return {
    standing: (label) => {
      const found = kept.get(label);
      if (found === undefined || clock.monotonicMs() - found.atMs >= STANDS_MS) return null;
      return found.candidacyVersion === ports.world().candidacyVersion ? found.answer : null;
    },
    lookUp: (label, clientSubnet) => {
      const sharing = underWay.get(label);
      if (sharing !== undefined) return sharing;
      if (underWay.size >= MOST_LOOK_UPS) return null;
      const started = findAndKeep(label, clientSubnet);
      underWay.set(label, started);
      return started;
    },
  };
};

const standsFrom = ({ candidacyVersion }: World, atMs: number) => ({ candidacyVersion, atMs });
