/** How long a decision takes, flow included: a pinned conversation among 3 and among 20 regions of 4 replicas. */
import { DEFAULT_POLICY } from "#gtm/steering/policy.ts";
import { createSteer } from "#gtm/steering/steer.ts";
import { aClient, aConversation, aPool, aQuery, aRegion, aWorld, PLACES, type Place } from "#test/support/builders.ts";
import { type Bench, type BenchRow, bytesPerIteration, consume, type Loop, median } from "./bench.ts";

const ITERATIONS = 50_000;
const RUNS = 9;
const NEAR: readonly Place[] = Object.keys(PLACES) as Place[];

const pinnedAmong = (count: number): Loop => {
  const regions = Array.from({ length: count }, (_, at) =>
    aRegion(`region-${at}`, {
      place: NEAR[at % NEAR.length] ?? "frankfurt",
      placement: { replicaCount: 4, backlogMs: at * 10, newTokensPerSecond: 1_000 },
    }),
  );
  const world = aWorld(regions);
  const conversation = aConversation({ home: "region-0", contextTokens: 20_000 });
  const client = aClient();
  const query = aQuery(aPool(regions), { conversationId: conversation.id, promptTokens: 21_000 });
  const kept: unknown[] = [null];
  const ports = {
    world: () => world,
    locate: () => client,
    findConversation: () => conversation,
    record: (entry: unknown) => {
      kept[0] = entry;
    },
  };
  const steer = createSteer(ports, DEFAULT_POLICY);
  return async (iterations) => {
    for (let i = 0; i < iterations; i++) await steer(query, (decision) => decision);
    return kept;
  };
};

const rowsFor = async (count: number, bound: string): Promise<readonly BenchRow[]> => {
  const loop = pinnedAmong(count);
  const what = `steer(), ${count} regions of 4 replicas, pinned`;
  const runs: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    // Processor time, not time: the flow neither waits nor sleeps here, and other processes may.
    const before = process.cpuUsage();
    consume(await loop(ITERATIONS));
    const { user, system } = process.cpuUsage(before);
    runs.push((user + system) / ITERATIONS);
  }
  return [
    { what, value: median(runs), unit: "µs of processor time", against: null, ratio: null, bound },
    { what, value: await bytesPerIteration(500, loop), unit: "bytes", against: null, ratio: null, bound: null },
  ];
};

export const bench: Bench = {
  name: "steer",
  run: async () => [...(await rowsFor(3, "≤ 5")), ...(await rowsFor(20, "≤ 30"))],
};
