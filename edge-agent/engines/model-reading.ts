/** What a model list alone says of a model, and of which models a page speaks. */
import type { Fault, Page } from "../exposition.ts";
import { labelOf, type Sample } from "../exposition-line.ts";
import type { EngineReading, FieldNames, ModelReading } from "./engine.ts";
import { type Weights, weightsOf } from "./model-cards.ts";

/** @param weights as the list has them; null: it does not have this model */
export const modelReading = (model: string, weights: Weights | null): ModelReading => ({
  model,
  aliases: weights?.names.filter((name) => name !== model) ?? [],
  adapters: weights?.adapters ?? [],
  state: null,
  contextLimitTokens: weights?.contextLimitTokens ?? null,
  weightBytes: null,
  gpuMemoryBytes: null,
  kvCapacityTokens: null,
  replicas: [],
});

/** Models that nothing was measured of; who knew the replicas before knows them still. */
export const listedModels = (models: unknown): readonly ModelReading[] =>
  (weightsOf(models) ?? []).map((weights) => modelReading(weights.names[0] ?? "", weights));

export const unmeasuredReading = (engine: string, models: unknown): EngineReading => ({
  engine,
  isMeasured: false,
  models: listedModels(models),
  sources: [],
  faults: [],
});

/** The values of a label on all series under these names, each once, in the order of the page. */
export const labelValuesOn = (page: Page, names: readonly string[], label: string): readonly string[] => {
  const values = names.flatMap((name) => page.samples.get(name) ?? []).map((sample: Sample) => labelOf(sample, label));
  return [...new Set(values.filter((value) => value !== null && value !== ""))] as readonly string[];
};

/** What a page has to have, by the names it has had; none of a field's names there: that field's first name is told. */
export const brokenContract = (
  page: Page,
  prefix: string,
  required: readonly (readonly string[])[],
): readonly Fault[] =>
  required
    .filter((names) => names.every((name) => !page.samples.has(prefix + name)))
    .map(([name = ""]) => ({ field: prefix + name, code: "metrics-contract-broken" }));

export const prefixed = (prefix: string, names: FieldNames): FieldNames =>
  Object.fromEntries(Object.entries(names).map(([field, list]) => [field, list.map((name) => prefix + name)]));

/** What the list says of this model. @param faults takes one where the list is there and has it not */
export const weightsFor = (model: string, models: unknown, faults: Fault[]): Weights | null => {
  const listed = weightsOf(models) ?? [];
  const weights = listed.find(({ names }) => names.includes(model)) ?? null;
  if (weights === null && listed.length > 0) faults.push({ field: "aliases", code: "not-in-model-list" });
  return weights;
};
