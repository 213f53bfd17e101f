/** One model, as the admin API shows it: its names, who is to serve it, who can, and whether anybody would. */
import { z } from "@hono/zod-openapi";
import type { Model } from "#gtm/domain/model.ts";
import type { Pool } from "#gtm/domain/pool.ts";
import type { World } from "#gtm/domain/world.ts";
import type { Policy } from "#gtm/steering/policy.ts";
import type { ModelId } from "#shared/ids.ts";
import type { AgentSeen } from "./agents-port.ts";
import { ModelPlaceView, modelPlace } from "./model-place.ts";
import type { Moment } from "./models-served.ts";
import { newConversationOf } from "./new-conversation.ts";

const known = z.number().nullable();

export const ModelView = z
  .looseObject({
    id: z.string(),
    isConfigured: z.boolean(),
    /** Of the configuration, and what engines call it beside that. */
    aliases: z.array(z.string()),
    /** Where a new conversation of unknown length would go, and why; `region` null: nowhere. */
    pools: z.array(z.looseObject({ name: z.string(), region: z.string().nullable(), why: z.string() })),
    weightBytes: known,
    coldStartMs: known,
    /** Every pool that is to serve it would find a region now. */
    isServed: z.boolean(),
    /** One sentence. */
    because: z.string(),
    regions: z.array(ModelPlaceView),
  })
  .openapi("Model");
export type ModelView = z.infer<typeof ModelView>;

export type ModelsInputs = {
  readonly world: World;
  readonly models: readonly Model[];
  readonly pools: readonly Pool[];
  readonly policy: Policy;
  readonly agents: readonly AgentSeen[];
  readonly at: Moment;
};

/** Configured ones in the order of the configuration, then those that are only reported, by name. */
export const modelViews = (inputs: ModelsInputs): readonly ModelView[] => {
  const { world, models, pools, policy, at } = inputs;
  const configured = new Set<string>([...models.map(({ id }) => id), ...pools.flatMap((pool) => pool.models)]);
  const reported = world.regions.flatMap(({ placements }) => [...placements.values()].map(({ model }) => model));
  const others = [...new Set<string>(reported)].filter((id) => !configured.has(id)).sort();
  return [...configured, ...others].map((id) =>
    modelView(id, inputs, {
      isConfigured: configured.has(id),
      pools: pools
        .filter((pool) => pool.models.some((one) => one === id))
        .map((pool) => newConversationOf(pool, id as ModelId, { world, policy, at })),
    }),
  );
};

const modelView = (
  id: string,
  { world, models, pools, policy, agents }: ModelsInputs,
  found: Pick<ModelView, "isConfigured" | "pools">,
): ModelView => {
  const model = models.find((one) => one.id === id);
  const members = new Set(
    pools.filter((pool) => pool.models.some((one) => one === id)).flatMap((pool) => pool.regions),
  );
  const placed = world.regions.flatMap(({ placements }) => [...placements.values()].filter((one) => one.model === id));
  const weightBytes = model?.weightBytes ?? placed.find((one) => one.weightBytes !== null)?.weightBytes ?? null;
  const coldStartMs = model?.coldStartMs ?? placed.find((one) => one.coldStartMs !== null)?.coldStartMs ?? null;
  const regions = world.regions
    .filter((region) => members.has(region.id) || [...region.placements.values()].some((one) => one.model === id))
    .map((region) =>
      modelPlace({
        ...{ model: id, region, isMember: members.has(region.id), regions: world.regions, agents, policy },
        ...{ weightBytes, coldStartMs },
      }),
    );
  const said = agents.flatMap(({ report }) => report?.models.filter((one) => one.model === id) ?? []);
  return {
    id,
    ...found,
    aliases: [...new Set([...(model?.aliases ?? []), ...said.flatMap(({ aliases }) => aliases)])],
    ...{ weightBytes, coldStartMs, regions },
    ...servedBy(found, regions),
  };
};

const servedBy = (
  { isConfigured, pools }: Pick<ModelView, "isConfigured" | "pools">,
  regions: readonly ModelPlaceView[],
): Pick<ModelView, "isServed" | "because"> => {
  const loaded = regions.filter(({ state }) => state === "loaded").map(({ region }) => region);
  if (pools.length === 0) {
    const where = `${loaded.length === 0 ? "Reported" : `Loaded in ${loaded.join(", ")}`}, and no pool serves it`;
    const remedy = isConfigured ? "add it to `models:` of a pool" : "add it to `models:` and to a pool's, or ignore it";
    return { isServed: false, because: `${where}: ${remedy}.` };
  }
  const without = pools.filter(({ region }) => region === null);
  if (without.length > 0) {
    const words = without.map(({ name, why }) => `${name}: ${why}`);
    return { isServed: false, because: `No region serves it for ${words.join("; for ")}.` };
  }
  if (loaded.length > 0) return { isServed: true, because: `Loaded in ${loaded.join(", ")}.` };
  return { isServed: true, because: "Loaded nowhere: a turn waits for a region to load it." };
};
