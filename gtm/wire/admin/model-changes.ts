/** Which regions each model has for new conversations before an order and under it. */
import type { World } from "#gtm/domain/world.ts";
import { EVERYBODY, type Moment, modelsServed, type Served } from "./models-served.ts";
import type { AdminPorts } from "./ports.ts";

export type ModelChanges = {
  /** Each model of each pool, as it is and as it would be. */
  readonly served: readonly { readonly before: Served; readonly after: Served }[];
  /** Served now, and then by no region. */
  readonly lost: readonly Served[];
  /** Loaded somewhere now, and then only after a cold start. */
  readonly toLoad: { pool: string; model: string; region: string; coldStartMs: number }[];
};

export const modelChanges = (
  now: World,
  then: World,
  { pools, policy }: Pick<AdminPorts, "pools" | "policy">,
  at: Moment & { readonly tenants?: readonly string[] },
): ModelChanges => {
  const after = modelsServed(then, pools, policy, at);
  const served = modelsServed(now, pools, policy, at).flatMap((before, i) => {
    const will = after[i];
    return will === undefined ? [] : [{ before, after: will }];
  });
  const changed = served.filter(({ before }) => before.region !== null);
  return {
    served,
    lost: onePerModel(changed.flatMap(({ after: will }) => (will.region === null ? [will] : []))),
    toLoad: onePerModel(
      changed.flatMap(({ before, after: { pool, model, region, coldStartMs } }) =>
        region !== null && coldStartMs > before.coldStartMs ? [{ pool, model, region, coldStartMs }] : [],
      ),
    ),
  };
};

/** What befalls several tenants is told once. */
const onePerModel = <One extends { readonly pool: string; readonly model: string }>(all: readonly One[]): One[] => [
  ...new Map(all.map((one) => [`${one.pool} ${one.model}`, one])).values(),
];

/** A tenant that an override's glob names; those that it does not name are everybody. */
export const tenantsOf = (glob: string): readonly string[] => {
  const named = glob.replaceAll("*", "");
  return named === "" || named === EVERYBODY ? [EVERYBODY] : [EVERYBODY, named];
};
