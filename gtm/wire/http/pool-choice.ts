/** Which pool a request is for, and which of its models. */
import type { Model } from "#gtm/domain/model.ts";
import type { Pool } from "#gtm/domain/pool.ts";
import type { ModelId } from "#shared/ids.ts";
import type { PoolAt } from "./arrival.ts";

export type PoolChoice =
  /** `model` null: none was named, and the pool's first is meant. */
  | { readonly kind: "chosen"; readonly at: PoolAt; readonly model: ModelId | null }
  | { readonly kind: "unknown-model"; readonly model: string }
  /** No model is named, and no pool is the default. */
  | { readonly kind: "no-model" };

/**
 * @param pools in order of preference
 * @param isDefault whether the first is meant where no model is named
 * @param model id or alias; null: none is named
 */
export type ChoosePool = (pools: readonly PoolAt[], isDefault: boolean, model: string | null) => PoolChoice;

/** @param models where two models of a pool share an alias, the one that the pool lists first has it */
export const createPoolChooser = (all: readonly Pool[], models: readonly Model[]): ChoosePool => {
  const byPool = new Map(all.map((pool) => [pool, modelNames(pool, models)]));
  return (pools, isDefault, model) => {
    if (model === null) {
      const [first] = pools;
      return first !== undefined && isDefault ? { kind: "chosen", at: first, model: null } : { kind: "no-model" };
    }
    for (const at of pools) {
      const id = byPool.get(at.pool)?.get(model);
      if (id !== undefined) return { kind: "chosen", at, model: id };
    }
    return { kind: "unknown-model", model };
  };
};

const modelNames = (pool: Pool, models: readonly Model[]): ReadonlyMap<string, ModelId> => {
  const names = new Map<string, ModelId>();
  for (const id of pool.models.toReversed()) {
    for (const alias of models.find((model) => model.id === id)?.aliases ?? []) names.set(alias, id);
  }
  // An id is never hidden by another model's alias.
  for (const id of pool.models) names.set(id, id);
  return names;
};
