/** The list of models as vLLM gives it: a card for each served name, all of the same root. */

export type ModelFacts = {
  /** The model, then its aliases. */
  readonly names: readonly string[];
  readonly contextLimitTokens: number;
  readonly nowSeconds: number;
};

export const modelsPage = ({ names, contextLimitTokens, nowSeconds }: ModelFacts) => ({
  object: "list",
  data: names.map((id) => ({
    id,
    object: "model",
    // vLLM gives the time of the call.
    created: nowSeconds,
    owned_by: "vllm",
    root: names[0] ?? id,
    parent: null,
    max_model_len: contextLimitTokens,
    permission: [],
  })),
});
