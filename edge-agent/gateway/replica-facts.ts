/** What engines say of themselves, as far as the choice among them rests on it: which models, how large, since when, whether there. */
import type { ModelId, ReplicaId } from "#shared/ids.ts";
import type { Endpoint, KnownModel } from "../endpoint.ts";
import { withAReplica } from "../model-report.ts";
import { type ModelSettings, placedReplicas, replicaReport } from "../replica-report.ts";

export type ReplicaFacts = {
  /** `host:port/engine`, as in the agent's report. */
  readonly id: ReplicaId;
  /** Scheme, host and port. */
  readonly origin: string;
  /** null: the engine does not say what it serves, and may serve anything, as a router of the region's own. */
  readonly model: ModelId | null;
  /** What a request may call it: models, aliases, adapters; null: anything. */
  readonly names: ReadonlySet<string> | null;
  /** Which of several data-parallel ranks behind the address; null: it is alone there, or cannot be asked for. */
  readonly rank: string | null;
  readonly isDown: boolean;
  /** Epoch ms of the process's start; null: not known. */
  readonly startedAtMs: number | null;
  readonly kvCapacityTokens: number | null;
  /** As the engine's metrics or the operator say; null: neither does. */
  readonly prefillTokensPerSecond: number | null;
  /** Most turns at once; null: not known. */
  readonly slots: number | null;
  /** Several replicas, chosen by others: how long a turn waits there, and how fast one of them is, cannot be told by its turns. */
  readonly isRouter: boolean;
};

/** One configured engine. */
export type EnginePlace = {
  readonly origin: string;
  readonly endpoint: Endpoint;
  readonly slots: number | null;
  readonly isRouter: boolean;
};

const NO_SETTINGS: ModelSettings = {
  weightBytes: null,
  coldStartMs: null,
  prefillTokensPerSecond: null,
  kvCapacityTokens: null,
};

/** Engines that take the rank as a header. Source: vLLM's openai/engine/serving.py. */
const RANKED = new Set(["vllm"]);

/** @param settings by model @returns one a replica, by its id: several models of one process share its memory and its time */
export const replicaFacts = (
  places: readonly EnginePlace[],
  settings: ReadonlyMap<string, ModelSettings>,
): ReadonlyMap<ReplicaId, ReplicaFacts> => {
  const byId = new Map<ReplicaId, ReplicaFacts>();
  for (const place of places) {
    const { models } = place.endpoint;
    const facts =
      models.length === 0 || place.isRouter
        ? [asOne(place)]
        : models.flatMap((model) => factsOf(place, model, settings));
    for (const one of facts) byId.set(one.id, together(byId.get(one.id), one));
  }
  return byId;
};

const together = (first: ReplicaFacts | undefined, other: ReplicaFacts): ReplicaFacts =>
  first === undefined ? other : { ...first, names: new Set([...(first.names ?? []), ...(other.names ?? [])]) };

/** Of which nothing is known but, of a router, what it serves. */
const asOne = ({ origin, endpoint, slots, isRouter }: EnginePlace): ReplicaFacts => ({
  id: `${endpoint.address}/0` as ReplicaId,
  origin,
  model: (endpoint.models[0]?.model ?? null) as ModelId | null,
  names: endpoint.models.length === 0 ? null : new Set(endpoint.models.flatMap(namesOf)),
  rank: null,
  isDown: endpoint.isDown,
  startedAtMs: null,
  kvCapacityTokens: null,
  prefillTokensPerSecond: null,
  slots,
  isRouter,
});

const namesOf = ({ model, aliases, adapters }: KnownModel): readonly string[] => [model, ...aliases, ...adapters];

const factsOf = (
  { origin, endpoint, slots }: EnginePlace,
  model: KnownModel,
  settings: ReadonlyMap<string, ModelSettings>,
): readonly ReplicaFacts[] => {
  const place = withAReplica({ endpoint, model });
  const placed = placedReplicas([place], settings.get(model.model) ?? NO_SETTINGS);
  const isRanked = placed.length > 1 && RANKED.has(endpoint.engine ?? "");
  return placed.map((one) => ({
    id: one.id as ReplicaId,
    origin,
    model: model.model as ModelId,
    names: new Set(namesOf(model)),
    rank: isRanked ? one.replica.engine : null,
    isDown: endpoint.isDown || one.replica.isAsleep === true,
    startedAtMs: replicaReport(one, placed).startedAtMs,
    kvCapacityTokens: one.kvCapacityTokens,
    prefillTokensPerSecond: one.speed?.tokensPerSecond ?? null,
    slots,
    isRouter: false,
  }));
};
