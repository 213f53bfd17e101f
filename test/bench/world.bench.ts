/** Making a world: ten times a second and on every report, with the turns of the last second on their way. */
import { assembleWorld, type WorldInputs } from "#gtm/domain/world-assembly.ts";
import { MODEL, NOW_MS, regionId, replicaId } from "#test/support/builders.ts";
import { aModelReport, aReplicaReport, aReport, aSite, heard, worldInputs } from "#test/support/report-builders.ts";
import { type Bench, type BenchRow, bytesPerIteration, type Loop, median, nsPerIteration } from "./bench.ts";

const ITERATIONS = 300;
const RUNS = 9;

const inputsWith = (regionCount: number, sendCount: number): WorldInputs => {
  const names = Array.from({ length: regionCount }, (_, at) => `region-${at}`);
  const reports = names.map((name) => {
    const replicas = [0, 1, 2, 3].map((at) => aReplicaReport(name, at, { backlogMs: at * 100 }));
    return heard(aReport(name, { models: [aModelReport(name, { replicas })] }), { ageWhenHeardMs: 1_000 });
  });
  const sends = Array.from({ length: sendCount }, (_, at) => {
    const name = names[at % regionCount] ?? "";
    const arrivalAtMs = NOW_MS - ((at * 7_919) % 1_000);
    return {
      region: regionId(name),
      model: MODEL,
      send: { replica: replicaId(name, at % 4), arrivalAtMs, workMs: 40 },
    };
  });
  return worldInputs(reports, { sites: names.map((name) => aSite(name)), sends });
};

const rowsFor = async (regionCount: number, sendCount: number): Promise<readonly BenchRow[]> => {
  const inputs = inputsWith(regionCount, sendCount);
  let previous = assembleWorld(inputs);
  const loop: Loop = (iterations) => {
    for (let i = 0; i < iterations; i++) previous = assembleWorld({ ...inputs, previous });
    return previous;
  };
  const runs: number[] = [];
  for (let run = 0; run < RUNS; run++) runs.push((await nsPerIteration(ITERATIONS, loop)) / 1_000);
  const what = `world, ${regionCount} regions of 4 replicas, ${sendCount} turns on their way`;
  return [
    { what, value: median(runs), unit: "µs", against: null, ratio: null, bound: null },
    { what, value: await bytesPerIteration(5, loop), unit: "bytes", against: null, ratio: null, bound: null },
  ];
};

export const bench: Bench = {
  name: "world",
  run: async () => [...(await rowsFor(3, 0)), ...(await rowsFor(3, 1_000)), ...(await rowsFor(20, 5_000))],
};
