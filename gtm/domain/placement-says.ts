/** What the reports of one model in one region say, whatever time it is: read once, however often a world is made of it. */
import type { ReplicaId } from "#shared/ids.ts";
import { type HeardReport, type ModelHeard, madeAtMs, type ReplicaHeard } from "./heard-report.ts";
import { bounded, evenMeanOfKnown, greatestKnown, leastKnown, meanOfKnown, sumOfKnown } from "./known.ts";
import type { Placement, PlacementState } from "./placement.ts";
import { reportedModelSpeed, reportedSpeed } from "./prefill-speeds.ts";
import type { PrefillSpeed } from "./serving.ts";

/** What one agent says of the model. */
export type PlacementPart = { readonly heard: HeardReport; readonly model: ModelHeard };

export type ReplicaSaid = {
  readonly id: ReplicaId;
  /** null: unknown. */
  readonly backlogMs: number | null;
  /** When its report was made, monotonic ms. */
  readonly readAtMs: number;
  /** null: the report says nothing of it. */
  readonly speed: PrefillSpeed | null;
  /** Requests of its model that wait, for each of the agent's replicas. */
  readonly waitingEach: number;
  readonly kvCapacityTokens: number | null;
  readonly kvPinnedTokens: number | null;
  readonly startedAtMs: number | null;
};

type Figures = Pick<
  Placement,
  | "contextLimitTokens"
  | "requestsRunning"
  | "requestsWaiting"
  | "kvCapacityTokens"
  | "kvCacheUsedFraction"
  | "prefixHitFraction"
  | "newTokensPerSecond"
  | "prefillTokensPerSecond"
  | "prefillConfidence"
  | "itlMs"
  | "ttftP50Ms"
  | "coldStartMs"
  | "weightBytes"
>;

export type PlacementSays = {
  readonly state: PlacementState;
  /** By id; of a replica that two agents report, the newer word. */
  readonly replicas: readonly ReplicaSaid[];
  /** Of the known backlogs; null: none is known. */
  readonly meanBacklogMs: number | null;
  readonly isBacklogKnown: boolean;
  /** What a replica does where it is not known which; null: the reports say nothing. */
  readonly modelSpeed: PrefillSpeed | null;
  readonly figures: Figures;
};

type Said = { readonly parts: readonly PlacementPart[]; readonly says: PlacementSays };

/** By the first part, which lives as long as its report does. */
const said = new WeakMap<PlacementPart, Said>();

/** @param parts one an agent, in the order of the agents' names; at least one; what was said of the same ones is kept */
export const saysOf = (parts: readonly PlacementPart[]): PlacementSays => {
  const [first] = parts;
  if (first === undefined) throw new Error("saysOf: nobody says anything");
  const known = said.get(first);
  if (known !== undefined && isSame(known.parts, parts)) return known.says;
  const says = read(parts);
  said.set(first, { parts, says });
  return says;
};

const isSame = (a: readonly PlacementPart[], b: readonly PlacementPart[]): boolean =>
  a.length === b.length && a.every((part, at) => part === b[at]);

/** The first of these that any agent reports is the state of the whole. */
const STATES: readonly PlacementState[] = ["loaded", "loading", "asleep", "on-disk", "down"];

const read = (parts: readonly PlacementPart[]): PlacementSays => {
  const state = STATES.find((one) => parts.some(({ model }) => model.state === one)) ?? "down";
  const serving = parts.length === 1 ? parts : parts.filter(({ model }) => model.state === state);
  const models = serving.map(({ model }) => model);
  const replicas = replicasIn(serving, state);
  return {
    state,
    replicas,
    meanBacklogMs: evenMeanOfKnown(replicas, ({ backlogMs }) => backlogMs),
    isBacklogKnown: replicas.every(({ backlogMs }) => backlogMs !== null),
    modelSpeed: models.map(reportedModelSpeed).find((speed) => speed !== null) ?? null,
    figures: {
      contextLimitTokens: leastKnown(models.map((model) => bounded(model.contextLimitTokens))),
      requestsRunning: sumOver(models, (model) => model.requestsRunning),
      requestsWaiting: sumOver(models, (model) => model.requestsWaiting),
      kvCapacityTokens: sumOver(models, capacityOf),
      kvCacheUsedFraction: meanOver(models, usedFractionOf, capacityOf),
      prefixHitFraction: meanOver(models, hitFractionOf, (model) => model.newTokensPerSecond),
      newTokensPerSecond: sumOver(models, (model) => model.newTokensPerSecond),
      prefillTokensPerSecond: meanOver(models, (model) => model.prefillTokensPerSecond, replicaCount),
      prefillConfidence: meanOver(models, confidenceOf, replicaCount) ?? 0,
      itlMs: meanOver(models, ({ itlMs }) => itlMs, replicaCount),
      ttftP50Ms: meanOver(models, ({ ttftP50Ms }) => ttftP50Ms, replicaCount),
      coldStartMs: greatestOver(parts, ({ coldStartMs }) => coldStartMs),
      weightBytes: greatestOver(parts, ({ weightBytes }) => weightBytes),
    },
  };
};

type Read = (model: ModelHeard) => number | null;

const sumOver = (models: readonly ModelHeard[], one: Read): number | null => {
  const only = onlyOf(models);
  return only === null ? bounded(sumOfKnown(models.map((model) => bounded(one(model))))) : bounded(one(only));
};

const meanOver = (models: readonly ModelHeard[], one: Read, weigh: Read): number | null => {
  const only = onlyOf(models);
  if (only !== null) return bounded(one(only));
  return meanOfKnown(models.map((model) => ({ value: bounded(one(model)), weight: bounded(weigh(model)) })));
};

/** Most regions have one agent: its word is the sum and the mean, and nothing has to be made to say so. */
const onlyOf = ([first, second]: readonly ModelHeard[]): ModelHeard | null =>
  first !== undefined && second === undefined ? first : null;

/** Of all agents', whatever state they report: how big a model is does not depend on it. */
const greatestOver = (parts: readonly PlacementPart[], one: Read): number | null =>
  greatestKnown(parts.map(({ model }) => bounded(one(model))));

const replicaCount = (model: ModelHeard): number => Math.max(1, model.replicas.length);
const usedFractionOf = (model: ModelHeard): number | null => bounded(model.kvCacheUsedFraction, 0, 1);
const hitFractionOf = (model: ModelHeard): number | null => bounded(model.prefixHitFraction, 0, 1);

const capacityOf = (model: ModelHeard): number | null =>
  model.kvCapacityTokens ?? sumOfKnown(model.replicas.map((replica) => bounded(replica.kvCapacityTokens)));

/** A rate that is borrowed, or whose agent does not say how sure it is, is a guess. */
const confidenceOf = (model: ModelHeard): number =>
  reportedModelSpeed(model) === null ? 0 : (bounded(model.prefillConfidence, 0, 1) ?? 0);

const replicasIn = (parts: readonly PlacementPart[], state: PlacementState): readonly ReplicaSaid[] => {
  const all: ReplicaSaid[] = [];
  const newestFirst = parts.length === 1 ? parts : parts.toSorted((a, b) => madeAtMs(b.heard) - madeAtMs(a.heard));
  for (const part of newestFirst) {
    for (const replica of reportedReplicas(part, state)) all.push(replicaSaid(replica, part));
  }
  // Stable: of those with one id the first said stays the first.
  all.sort((a, b) => (a.id < b.id ? -1 : a.id === b.id ? 0 : 1));
  return all.filter(({ id }, at) => id !== all[at - 1]?.id);
};

const replicaSaid = (replica: ReplicaHeard, { heard, model }: PlacementPart): ReplicaSaid => ({
  id: replica.id,
  backlogMs: bounded(replica.backlogMs),
  readAtMs: madeAtMs(heard),
  speed: reportedSpeed(replica, model),
  waitingEach: (bounded(model.requestsWaiting) ?? 0) / Math.max(1, model.replicas.length),
  kvCapacityTokens: bounded(replica.kvCapacityTokens),
  kvPinnedTokens: bounded(replica.kvPinnedTokens),
  startedAtMs: startedAtMs(replica, heard),
});

/** What is loaded is served by something, also where the agent does not say by how many. */
const reportedReplicas = ({ heard, model }: PlacementPart, state: PlacementState): readonly ReplicaHeard[] =>
  model.replicas.length > 0 || state !== "loaded"
    ? model.replicas
    : [{ ...UNKNOWN, id: `${heard.report.agent}/0` as ReplicaId }];

const UNKNOWN = {
  startedAtMs: null,
  backlogMs: null,
  prefillLinMs: null,
  prefillAttnMs: null,
  kvCapacityTokens: null,
  kvPinnedTokens: null,
};

/** How long the process had run when the report was made is the same by every clock. */
const startedAtMs = (replica: ReplicaHeard, heard: HeardReport): number | null => {
  const ranMs = bounded(replica.startedAtMs === null ? null : heard.report.reportedAtMs - replica.startedAtMs);
  return ranMs === null ? null : madeAtMs(heard) - ranMs;
};
