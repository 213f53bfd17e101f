/** What was played, in a line. */
import type { ScenarioReport } from "./report.ts";

export const settingText = (scenario: ScenarioReport): string => {
  const { setting, regions, isOpenLoop, warmUpMs, measuredMs, policies } = scenario;
  const seeds = Math.max(0, ...policies.map(({ runs }) => runs.length));
  return [
    ...Object.entries(setting).map(([key, value]) => `${key} ${value}`),
    regions.map(({ id, replicas }) => `${id} × ${replicas}`).join(", "),
    isOpenLoop ? "open loop" : "closed loop",
    `${minutes(measuredMs)} after ${minutes(warmUpMs)} of warm-up`,
    seeds === 1 ? "1 seed" : `${seeds} paired seeds`,
  ].join(" · ");
};

const minutes = (ms: number): string => `${Number((ms / 60_000).toFixed(1))} min`;
