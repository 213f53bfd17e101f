/** Whether valid queries keep their time while malformed ones and a flood from two hundred networks arrive beside them. */
import { once } from "node:events";
import { type Bench, type BenchRow, median } from "./bench.ts";
import { forked } from "./children.ts";
import type { FloodOrder } from "./dns-flood.ts";
import { latenciesOf, probe } from "./dns-probe.ts";
import type { ServerReady } from "./dns-server.ts";
import { mixedQueries } from "./dns-subject.ts";

const ROUNDS = 6;
const ROUND_MS = 3_000;
const PER_SECOND = 8_000;
/** The prober's network has two hundred answers a second, as everybody has. */
const PROBE_EVERY_MS = 8;

export const bench: Bench = {
  name: "dns-flood",
  run: async () => {
    using server = forked("dns-server.ts", "dns-limited");
    const [{ port }] = (await once(server, "message")) as [ServerReady];
    const queries = mixedQueries();
    const measure = async (): Promise<readonly number[]> => {
      const endsAtMs = performance.now() + ROUND_MS;
      return probe(port, queries, { everyMs: PROBE_EVERY_MS, isOver: () => performance.now() > endsAtMs });
    };
    const measureFlooded = async (): Promise<readonly number[]> => {
      using flood = forked("dns-flood.ts");
      flood.send({ port, perSecond: PER_SECOND } satisfies FloodOrder);
      return await measure();
    };
    await measure();
    const calm: number[] = [];
    const flooded: number[] = [];
    const ratios: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const [first, second] = round % 2 === 0 ? [measure, measureFlooded] : [measureFlooded, measure];
      const [a, b] = [await first(), await second()];
      const [quiet, loud] = round % 2 === 0 ? [a, b] : [b, a];
      calm.push(...quiet);
      flooded.push(...loud);
      ratios.push(latenciesOf(loud).p99Ms / latenciesOf(quiet).p99Ms);
    }
    const [before, under] = [latenciesOf(calm), latenciesOf(flooded)];
    const what = `valid queries beside ${PER_SECOND} others a second, three quarters of them malformed`;
    const row = (of: string, value: number, against: number, ratio = value / against): BenchRow => ({
      ...{ what: `${what}: ${of}`, value, unit: "ms", against: "none beside them", ratio, bound: null },
    });
    return [
      row("p50", under.p50Ms, before.p50Ms),
      row("p99 (ratio: median of the rounds')", under.p99Ms, before.p99Ms, median(ratios)),
      {
        what: `${what}: unanswered of ${flooded.length}`,
        value: under.unanswered,
        unit: "queries",
        against: null,
        ratio: null,
        bound: "≤ 0",
      },
    ];
  },
};
