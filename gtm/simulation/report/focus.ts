/** Whom a scenario's plots set against whom: ours, the rival that is best there, the oracle; all others stand behind. */
import type { PolicyReport, ScenarioReport } from "./report.ts";

export type Focus = {
  readonly ours: PolicyReport | null;
  readonly rival: PolicyReport | null;
  readonly oracle: PolicyReport | null;
};

export const focusOf = ({ policies }: ScenarioReport): Focus => {
  const ours = policies.find(({ kind }) => kind === "ours") ?? null;
  const best = ours?.standing.rival ?? policies.find(({ kind }) => kind === "rival")?.policy ?? null;
  return {
    ours,
    rival: policies.find(({ policy }) => policy === best) ?? null,
    oracle: policies.find(({ kind }) => kind === "oracle") ?? null,
  };
};

/** Its class in the style sheet. */
export const roleOf = (policy: PolicyReport, { ours, rival, oracle }: Focus): string => {
  if (policy === ours) return "ours";
  if (policy === rival) return "rival";
  return policy === oracle ? "oracle" : "other";
};
