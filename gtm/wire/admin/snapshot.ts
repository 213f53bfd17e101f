/** Everything that one decision rests on, as a file: written by the API, decided again by whoever has the program. */
import { z } from "@hono/zod-openapi";
import type { Client } from "#gtm/domain/client.ts";
import type { Conversation } from "#gtm/domain/conversation.ts";
import type { Model } from "#gtm/domain/model.ts";
import type { Pool } from "#gtm/domain/pool.ts";
import type { SendList, World } from "#gtm/domain/world.ts";
import { DEFAULT_POLICY, type Policy } from "#gtm/steering/policy.ts";
import type { Query } from "#gtm/steering/ports.ts";
import type { RegionId } from "#shared/ids.ts";
import { DecisionSchema } from "./decision-schema.ts";
import { fromPlain, toPlain } from "./plain-value.ts";

/** What a snapshot is of: one question, and all that its answer depends on. No prompt and no credential is ever among it. */
export type Facts = {
  readonly query: Query;
  readonly world: World;
  readonly policy: Policy;
  readonly pools: readonly Pool[];
  readonly models: readonly Model[];
  readonly client: Client;
  readonly conversation: Conversation | null;
  /** Regions that refuse the conversation, known or not; null: as the conversation says, such as in a snapshot of before. */
  readonly refusedBy: readonly RegionId[] | null;
};

export const FORMAT = "llm-gtm snapshot";
/** Raised when a reader of this version could no longer decide by a file of the next. */
export const FORMAT_VERSION = 1;

const json = z.record(z.string(), z.unknown());

export const Snapshot = z
  .looseObject({
    format: z.literal(FORMAT),
    v: z.literal(FORMAT_VERSION).openapi({ description: "Of this format" }),
    version: z.string().openapi({ description: "Of the GTM that made it" }),
    instance: z.string(),
    at: z.iso.datetime().openapi({ description: "When, by that GTM's clock" }),
    epochMs: z.number(),
    facts: json.openapi({
      description:
        "The question, the world, the policy, pools, models, the client's place, the conversation and who refuses it, as steering reads them: maps are written as $map, infinities as $number. For `gtm explain --offline`, not for other readers.",
    }),
    decision: DecisionSchema.openapi({ description: "What this GTM decided by them" }),
  })
  .openapi("Snapshot");
export type Snapshot = z.infer<typeof Snapshot>;

/** The world's list of sends is as long as a second's traffic: an array here, and round trips only of the client asked about. */
export const factsJson = ({ world, client, ...rest }: Facts): Readonly<Record<string, unknown>> => {
  const { learnt } = world;
  const measured = learnt.roundTrips.get(client.subnet);
  const roundTrips = new Map(measured === undefined ? [] : [[client.subnet, measured]]);
  const shortened = { ...world, sends: sendsOf(world.sends), learnt: { ...learnt, roundTrips } };
  return toPlain({ ...rest, client, world: shortened }) as Readonly<Record<string, unknown>>;
};

type FlatSend = Omit<SendList, "earlier">;

/** Newest first. */
const sendsOf = (list: SendList | null): readonly FlatSend[] => {
  const flat: FlatSend[] = [];
  for (let at = list; at !== null; at = at.earlier) flat.push({ region: at.region, model: at.model, send: at.send });
  return flat;
};

/** @throws {z.ZodError | RangeError} naming what was expected and where */
export const factsOf = (plain: Snapshot["facts"]): Facts => {
  const { world, ...rest } = FactsShape.parse(fromPlain(plain)) as unknown as Facts & {
    readonly world: Omit<World, "sends"> & { readonly sends: readonly FlatSend[] };
  };
  return { ...rest, world: { ...world, sends: listOf(world.sends) } };
};

const listOf = (flat: readonly FlatSend[]): SendList | null =>
  flat.reduceRight<SendList | null>((earlier, one) => ({ ...one, earlier }), null);

const number = z.number();
const maybe = number.nullable();
const text = z.string().min(1);
const fraction = number.min(0).max(1);
const location = z.looseObject({ latitude: number, longitude: number }).nullable();
const speed = z.looseObject({ linMs: number.positive(), attnMs: number.nonnegative() });

const ReplicaShape = z.looseObject({ id: text, backlogMs: number, speed, startedAtMs: maybe });
const PlacementShape = z.looseObject({
  model: text,
  state: z.enum(["loaded", "loading", "asleep", "on-disk", "down"]),
  contextLimitTokens: maybe,
  replicas: z.array(ReplicaShape),
  speedWithoutReplicas: speed,
  averageBacklogMs: number,
  longAverageBacklogMs: number,
  prefillConfidence: number,
  itlMs: maybe,
  coldStartMs: maybe,
  liveTokens: number,
  // Snapshots taken before there was one.
  leastOccupancy: number.nonnegative().default(0),
  heldCorrection: fraction,
  sparePrefillTokensPerSecond: number.positive(),
});
const RegionShape = z.looseObject({
  id: text,
  location,
  jurisdiction: z.string().nullable(),
  hasAffinity: z.boolean(),
  hasGateway: z.boolean(),
  admin: z.enum(["active", "drain-new", "drain-all", "down", "forced-up"]),
  health: z.enum(["healthy", "degraded", "unhealthy", "silent"]),
  reportAgeMs: maybe,
  gpuMemoryFreeBytes: maybe,
  placements: z.map(text, PlacementShape),
});
const WorldShape = z.looseObject({
  version: number,
  candidacyVersion: number,
  takenAtMs: number,
  epochAheadMs: number,
  isStoreUp: z.boolean(),
  areAgesFrozen: z.boolean(),
  regions: z.array(RegionShape),
  models: z.map(text, z.looseObject({ bestItlMs: maybe })),
  overrides: z.array(z.looseObject({ id: text, kind: text, region: text, pool: text, model: text, tenant: text })),
  sends: z.array(
    z.looseObject({
      region: text,
      model: text,
      send: z.looseObject({ replica: text.nullable(), arrivalAtMs: number, workMs: number }),
    }),
  ),
  learnt: z.looseObject({ pools: z.map(text, z.looseObject({})), roundTrips: z.map(text, z.map(text, number)) }),
});
const PoolShape = z.looseObject({
  name: text,
  models: z.array(text).min(1),
  regions: z.array(text),
  jurisdictions: z.array(text).nullable(),
  lastResort: z.looseObject({ kind: text }),
  steering: z.enum(["enforce", "shadow"]),
});
const QueryShape = z.looseObject({
  id: text,
  kind: z.literal("turn"),
  pool: PoolShape,
  model: text.nullable(),
  tenant: z.string(),
  clientSubnet: text,
  conversationId: text.nullable(),
  promptTokens: maybe,
  receivedAtMs: number,
});
const ConversationShape = z.looseObject({
  id: text,
  model: text,
  holdings: z.array(z.looseObject({ region: text, replica: text.nullable(), tokens: number, atMs: number })).min(1),
  turns: number,
  lastTurnAtMs: number,
  refusedBy: z.array(text),
});

/** What steering reads of each; fields beside them are kept as they are. */
const FactsShape = z.looseObject({
  query: QueryShape,
  world: WorldShape,
  policy: z.looseObject(Object.fromEntries(Object.keys(DEFAULT_POLICY).map((name) => [name, number]))),
  pools: z.array(PoolShape).min(1),
  models: z.array(z.looseObject({ id: text, aliases: z.array(text) })),
  client: z.looseObject({ subnet: text, location, area: z.string().nullable() }),
  conversation: ConversationShape.nullable(),
  refusedBy: z.array(text).nullable().default(null),
});
