/** Small worlds for tests; every argument that a test does not name is unremarkable. */
import type { Client } from "#gtm/domain/client.ts";
import type { Conversation, Holding } from "#gtm/domain/conversation.ts";
import type { Decision } from "#gtm/domain/decision.ts";
import { NO_DRAINS } from "#gtm/domain/drain-schedule.ts";
import { NOTHING_LEARNT } from "#gtm/domain/learnt.ts";
import type { Placement, Replica } from "#gtm/domain/placement.ts";
import type { Pool } from "#gtm/domain/pool.ts";
import type { Region } from "#gtm/domain/region.ts";
import { speedFromRate } from "#gtm/domain/serving.ts";
import type { World } from "#gtm/domain/world.ts";
import { DEFAULT_POLICY, type Policy } from "#gtm/steering/policy.ts";
import type { Query } from "#gtm/steering/ports.ts";
import { decisionOf } from "#gtm/steering/steer.ts";
import { turnOf } from "#gtm/steering/turn.ts";
import { ConversationId, DecisionId, ModelId, PoolName, RegionId, ReplicaId } from "#shared/ids.ts";

export const PLACES = {
  frankfurt: { latitude: 50.11, longitude: 8.68 },
  paris: { latitude: 48.86, longitude: 2.35 },
  virginia: { latitude: 38.95, longitude: -77.45 },
  singapore: { latitude: 1.35, longitude: 103.82 },
} as const;
export type Place = keyof typeof PLACES;

export const MODEL = ModelId.parse("llama-70b");
export const NOW_MS = 1_000_000;
export const regionId = (name: string): RegionId => RegionId.parse(name);
export const replicaId = (region: string, at: number): ReplicaId => ReplicaId.parse(`${region}.example.org:8000/${at}`);

export const aReplica = (region: string, at: number, wish: Partial<Replica> = {}): Replica => ({
  id: replicaId(region, at),
  backlogMs: 0,
  speed: { linMs: 0.2, attnMs: 0 },
  kvCapacityTokens: 400_000,
  kvPinnedTokens: 0,
  startedAtMs: 0,
  ...wish,
});

export type PlacementWish = Partial<Placement> & {
  /** The same backlog on every replica. */
  readonly backlogMs?: number;
  readonly replicaCount?: number;
};

/** 5 000 tokens/s a replica, without the attention term, so that sums in tests are easy. */
export const aPlacement = (region: string, wish: PlacementWish = {}): Placement => {
  const { backlogMs = 0, replicaCount = 1, ...rest } = wish;
  return {
    model: MODEL,
    state: "loaded",
    contextLimitTokens: 131_072,
    replicas: Array.from({ length: replicaCount }, (_, at) => aReplica(region, at, { backlogMs })),
    speedWithoutReplicas: speedFromRate(5_000),
    averageBacklogMs: backlogMs,
    longAverageBacklogMs: rest.averageBacklogMs ?? backlogMs,
    isBacklogKnown: true,
    requestsRunning: 1,
    requestsWaiting: 0,
    kvCapacityTokens: 400_000 * replicaCount,
    kvCacheUsedFraction: 0.1,
    prefixHitFraction: 0.5,
    newTokensPerSecond: null,
    prefillTokensPerSecond: 5_000,
    prefillConfidence: 1,
    itlMs: 20,
    ttftP50Ms: 200,
    coldStartMs: 80_000,
    weightBytes: 141e9,
    liveTokens: 0,
    leastOccupancy: 0,
    heldCorrection: 1,
    isHeldCorrectionLearnt: false,
    sparePrefillTokensPerSecond: 5_000,
    ...rest,
  };
};

export type RegionWish = Partial<Region> & { readonly placement?: PlacementWish | null; readonly place?: Place };

/** @param id also its place, where there is one of that name */
export const aRegion = (id: string, wish: RegionWish = {}): Region => {
  const { placement = {}, place, ...rest } = wish;
  return {
    id: regionId(id),
    location: PLACES[place ?? (id as Place)] ?? null,
    jurisdiction: "eu",
    endpoint: { url: `https://${id}.r.llm.example.org`, ipv4: ["192.0.2.10"], ipv6: [] },
    alpn: [],
    hasAffinity: true,
    hasGateway: false,
    admin: "active",
    health: "healthy",
    reportAgeMs: 500,
    isPartial: false,
    gpuMemoryFreeBytes: 8e9,
    gpuMemoryBytes: 640e9,
    placements: new Map(placement === null ? [] : [[MODEL, aPlacement(id, placement)]]),
    ...rest,
  };
};

export const aWorld = (regions: readonly Region[], wish: Partial<World> = {}): World => ({
  version: 7,
  candidacyVersion: 1,
  openedAtMs: Number.NEGATIVE_INFINITY,
  takenAtMs: NOW_MS,
  epochAheadMs: 0,
  isStoreUp: true,
  areAgesFrozen: false,
  regions,
  models: new Map([[MODEL, { bestItlMs: 20 }]]),
  overrides: [],
  drains: NO_DRAINS,
  sends: null,
  learnt: NOTHING_LEARNT,
  ...wish,
});

export const aPool = (regions: readonly Region[], wish: Partial<Pool> = {}): Pool => ({
  name: PoolName.parse("chat"),
  models: [MODEL],
  regions: regions.map((region) => region.id),
  jurisdictions: null,
  lastResort: { kind: "servfail" },
  answer: "regions",
  paths: ["/v1"],
  mode: "redirect",
  sharesResponses: false,
  steering: "enforce",
  ...wish,
});

export const aClient = (place: Place = "frankfurt", wish: Partial<Client> = {}): Client => ({
  subnet: "192.0.2.0/24",
  location: PLACES[place],
  area: place,
  place,
  source: "static",
  scopePrefixBits: 24,
  ...wish,
});

export const CONVERSATION = ConversationId.parse("abcdefgh01234");

export type ConversationWish = {
  readonly home: string;
  readonly contextTokens: number;
  readonly idleMs?: number;
  readonly alsoHeldBy?: readonly { readonly region: string; readonly tokens: number }[];
} & Partial<Pick<Conversation, "refusedBy" | "model">>;

export const aConversation = (wish: ConversationWish): Conversation => {
  const atMs = NOW_MS - (wish.idleMs ?? 30_000);
  const holding = (region: string, tokens: number): Holding => ({
    region: regionId(region),
    replica: null,
    tokens,
    atMs,
  });
  return {
    id: CONVERSATION,
    model: wish.model ?? MODEL,
    holdings: [
      holding(wish.home, wish.contextTokens),
      ...(wish.alsoHeldBy ?? []).map(({ region, tokens }) => holding(region, tokens)),
    ],
    turns: 3,
    lastTurnAtMs: atMs,
    rev: 3,
    refusedBy: wish.refusedBy ?? [],
  };
};

export const aQuery = (pool: Pool, wish: Partial<Query> = {}): Query => ({
  id: DecisionId.parse("01JDXV3Z000000000000000000"),
  channel: "http",
  kind: "turn",
  pool,
  model: null,
  tenant: "default",
  clientSubnet: "192.0.2.0/24",
  conversationId: null,
  pinnedTo: null,
  promptTokens: null,
  outputTokens: null,
  outputLimitTokens: null,
  parentId: null,
  stateRegion: null,
  receivedAtMs: NOW_MS,
  ...wish,
});

export type Situation = {
  readonly regions: readonly Region[];
  readonly conversation?: Conversation | null;
  readonly from?: Place;
  readonly query?: Partial<Query>;
  readonly pool?: Partial<Pool>;
  readonly world?: Partial<World>;
  readonly policy?: Partial<Policy>;
  readonly client?: Partial<Client>;
};

/** Decides one turn by the production code, without the flow around it. */
export const decideIn = (situation: Situation): Decision => {
  const { regions, conversation = null, from = "frankfurt" } = situation;
  const policy = { ...DEFAULT_POLICY, ...situation.policy };
  const pool = aPool(regions, situation.pool);
  const query = aQuery(pool, { conversationId: conversation?.id ?? null, ...situation.query });
  const world = aWorld(regions, situation.world);
  return decisionOf(query, turnOf(query, aClient(from, situation.client), conversation, world, policy), world, policy);
};
