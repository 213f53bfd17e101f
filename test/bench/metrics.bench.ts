/** One update of a counter with three labels, against prom-client's own. */
import { Counter, Registry } from "prom-client";
import { createMetrics } from "#shared/metrics.ts";
import { alternate, type Bench, bytesPerIteration, nsPerIteration } from "./bench.ts";

const ITERATIONS = 200_000;
const SHAPE = { name: "gtm_dns_queries_total", help: "Queries." };
const LABELS = ["proto", "qtype", "rcode"];
const labelSets = [
  { proto: "udp", qtype: "A", rcode: "NOERROR" },
  { proto: "udp", qtype: "AAAA", rcode: "NOERROR" },
  { proto: "tcp", qtype: "TXT", rcode: "NXDOMAIN" },
];

export const bench: Bench = {
  name: "metrics",
  run: async () => {
    const ours = createMetrics().counter({ ...SHAPE, labels: LABELS });
    const theirs = new Counter({ ...SHAPE, labelNames: LABELS, registers: [new Registry()] });
    const countOurs = (iterations: number): void => {
      for (let i = 0; i < iterations; i++) ours.inc({ ...labelSets[i % 3] });
    };
    const countTheirs = (iterations: number): void => {
      for (let i = 0; i < iterations; i++) theirs.inc({ ...labelSets[i % 3] });
    };
    const { a, ratio } = await alternate(
      10,
      () => nsPerIteration(ITERATIONS, countOurs),
      () => nsPerIteration(ITERATIONS, countTheirs),
    );
    const bytes = await bytesPerIteration(2_000, countOurs);
    return [
      { what: "counter, 3 labels", value: a, unit: "ns", against: "prom-client", ratio, bound: null },
      { what: "counter, 3 labels", value: bytes, unit: "bytes", against: null, ratio: null, bound: null },
    ];
  },
};
