/** The list of models as engines give it: a card for each served name, all of the same root. */
import { type Flavour, OWNER } from "./flavour.ts";

export type ModelFacts = {
  /** The model, then its aliases. */
  readonly names: readonly string[];
  readonly contextLimitTokens: number;
  readonly flavour: Flavour;
  readonly nowSeconds: number;
};

export const modelsPage = ({ names, contextLimitTokens, flavour, nowSeconds }: ModelFacts) => ({
  object: "list",
  data: names.map((id) => ({
    id,
    object: "model",
    // vLLM gives the time of the call.
    created: nowSeconds,
    owned_by: OWNER[flavour],
    root: names[0] ?? id,
    parent: null,
    max_model_len: contextLimitTokens,
    permission: [],
  })),
});
