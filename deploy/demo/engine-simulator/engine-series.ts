/** Series of a page: one an engine, or one an engine and value of a further label. */
import type { ReplicaState } from "#gtm/simulation/serving/replica.ts";
import type { Labels, Series } from "./exposition.ts";
import type { Tally } from "./tally.ts";

export type EngineOnPage = { readonly state: ReplicaState; readonly tally: Tally };
/** By the value of the further label; "" where there is none. */
export type Values = Readonly<Record<string, (engine: EngineOnPage) => number>>;
export type LabelsOf = (engine: number) => Labels;

/** One series an engine and a value of the further label, where there is one. */
export const seriesOf = (
  engines: readonly EngineOnPage[],
  labelsOf: LabelsOf,
  values: Values,
  label: string | null,
): readonly Series[] =>
  engines.flatMap((engine, index) =>
    Object.entries(values).map(([key, pick]) => ({
      labels: label === null ? labelsOf(index) : { ...labelsOf(index), [label]: key },
      value: pick(engine),
    })),
  );
