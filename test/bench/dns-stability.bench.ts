/** DNS steering in an hour of steady load, in virtual time: changes of answer and the regions' shares; it draws docs/dns-stability.svg. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { playStability, type Stability, type StabilityOptions } from "#gtm/simulation/dns-stability.ts";
import { createCellSteer } from "#gtm/steering/cell.ts";
import { decisionOf } from "#gtm/steering/steer.ts";
import { turnOf } from "#gtm/steering/turn.ts";
import type { Bench, BenchRow } from "./bench.ts";
import { stabilityPlot } from "./stability-plot.ts";

const WARM_UP_MS = 1_200_000;
const HOUR_MS = 3_600_000;
const PICTURE = join(import.meta.dirname, "..", "..", "docs", "dns-stability.svg");

/** As cells were steered before they had turns: every cell may follow every report, by the margin. */
export const marginAlone: typeof createCellSteer = (ports, policy) => (query, client, cell, previous) => {
  const world = ports.world();
  const turn = turnOf(query, client, null, world, policy);
  return decisionOf(query, { ...turn, home: previous, hashKey: cell.key }, world, policy);
};

type Load = { readonly name: string; readonly chats: number; readonly agents: number };
const MODERATE: Load = { name: "0.65 of no-cache capacity", chats: 600, agents: 100 };
const HEAVY: Load = { name: "0.87 of no-cache capacity", chats: 800, agents: 130 };

const played = ({ chats, agents }: Load, cellSteer: StabilityOptions["cellSteer"]): Stability =>
  playStability({
    workload: { chats, agents, seed: 1 },
    ...{ replicasPerRegion: 4, warmUpMs: WARM_UP_MS, measuredMs: HOUR_MS, cellSteer },
  });

const rowsOf = (what: string, of: Stability, bound: string | null): readonly BenchRow[] => {
  const row = (name: string, value: number, unit: string, limit: string | null = null): BenchRow => ({
    ...{ what: `${what}: ${name}`, value, unit, against: null, ratio: null, bound: limit },
  });
  return [
    row("changes of answer, the cell with most", of.mostChanges, "an hour", bound),
    row("changes of answer, 14 cells", of.changes, "an hour"),
    row("largest spread of a region's share", 100 * Math.max(...of.spread), "% (1 σ)"),
    row("TTFT, mean", of.ttftMeanMs, "ms"),
  ];
};

export const bench: Bench = {
  name: "dns-stability",
  run: async () => {
    const moderate = played(MODERATE, createCellSteer);
    const heavy = played(HEAVY, createCellSteer);
    const before = played(HEAVY, marginAlone);
    const panels = [
      {
        title: `Every cell follows every report, by the margin alone: ${before.changes} changes in the hour`,
        of: before,
      },
      { title: `Each cell moves in turns of its own, as it is: ${heavy.changes} changes in the hour`, of: heavy },
    ];
    writeFileSync(PICTURE, stabilityPlot(panels, WARM_UP_MS, WARM_UP_MS + HOUR_MS));
    return [
      ...rowsOf(`DNS only, ${MODERATE.name}`, moderate, "≤ 2"),
      ...rowsOf(`DNS only, ${HEAVY.name}`, heavy, "≤ 2"),
      ...rowsOf(`the same without turns`, before, null),
    ];
  },
};
