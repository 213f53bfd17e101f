/** What measured turns say of the predictions that sent them: how wrong the time was, and whether the ledger kept its word. */
import type { Entry } from "#gtm/steering/ports.ts";
import { DecisionId } from "#shared/ids.ts";
import type { MeasuredTurn } from "#shared/measured-turn.ts";
import type { Metrics } from "#shared/metrics.ts";

/** Below 0: it came sooner than predicted. */
const ERROR_BUCKETS = [-10, -3, -1, -0.5, -0.2, -0.1, -0.05, 0, 0.05, 0.1, 0.2, 0.5, 1, 3, 10, 30];
/** A promise is kept from this share of it on: engines cache whole blocks. */
const KEPT_FRACTION = 0.8;

/** @param find one of this instance's decisions; null: another's, or too old */
export const createPredictions = (
  metrics: Metrics,
  find: (id: DecisionId) => Entry | null,
): ((turns: readonly MeasuredTurn[]) => void) => {
  const error = metrics.histogram({
    name: "gtm_prediction_error_seconds",
    help: "Measured time to first token at the gateway minus the predicted one without the network; below 0: sooner than predicted. Of this instance's decisions.",
    labels: ["region", "model"],
    buckets: ERROR_BUCKETS,
  });
  const promises = metrics.counter({
    name: "gtm_held_promises_total",
    help: "Measured turns of which the ledger promised cached tokens: kept (0.8 of them were there) or broken. Every GTM counts all of them.",
    labels: ["region", "outcome"],
  });

  const observeError = ({ decision, region, ttftMs, outcome }: MeasuredTurn): void => {
    const id = DecisionId.safeParse(decision).data;
    if (id === undefined || ttftMs === null || outcome === "refused") return;
    const entry = find(id);
    const considered = entry?.decision.considered.find((one) => one.region === region);
    if (entry === null || considered?.kind !== "candidate") return;
    const { predictedTtftMs, networkMs } = considered.cost;
    // The model as it is configured: how an engine names it is the gateway's to say, and would make a series each.
    error.observe((ttftMs - (predictedTtftMs - networkMs)) / 1_000, { region, model: entry.decision.turn.model });
  };
  return (turns) => {
    for (const turn of turns) {
      observeError(turn);
      const { region, predictedCachedTokens: promised, cachedTokens } = turn;
      if (promised === null || promised === 0 || cachedTokens === null) continue;
      promises.inc({ region, outcome: cachedTokens >= KEPT_FRACTION * promised ? "kept" : "broken" });
    }
  };
};
