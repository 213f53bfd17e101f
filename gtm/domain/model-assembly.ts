/** What one region cannot know of the others: where a model writes fastest. */
import type { ModelId } from "#shared/ids.ts";
import { leastKnown } from "./known.ts";
import type { Model, ModelInWorld } from "./model.ts";
import type { Region } from "./region.ts";

/** Every model that is configured or reported. */
export const modelsIn = (
  regions: readonly Region[],
  configured: readonly Model[],
): ReadonlyMap<ModelId, ModelInWorld> => {
  const ids = new Set<ModelId>();
  for (const { id } of configured) ids.add(id);
  for (const { placements } of regions) for (const id of placements.keys()) ids.add(id);
  const models = new Map<ModelId, ModelInWorld>();
  for (const id of [...ids].sort()) {
    const bestItlMs = leastKnown(
      regions.map((region) => (isWarm(region, id) ? (region.placements.get(id)?.itlMs ?? null) : null)),
    );
    models.set(id, { bestItlMs });
  }
  return models;
};

const isWarm = (region: Region, model: ModelId): boolean =>
  region.placements.get(model)?.state === "loaded" && region.admin !== "down" && !isOut(region);

/** Forced up: monitoring is not heard. */
const isOut = ({ health, admin }: Region): boolean =>
  admin !== "forced-up" && (health === "unhealthy" || health === "silent");
