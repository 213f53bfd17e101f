import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { expose } from "#deploy/demo/engine-simulator/exposition.ts";
import { createHistogram, observe } from "#deploy/demo/engine-simulator/histogram.ts";

describe("metrics in the text format", () => {
  it("write a counter with _total and _created, labels sorted and escaped", () => {
    const labels = { z: 'a "quoted" \\ name\n', engine: "0" };
    const page = expose([{ kind: "counter", name: "x:hits", help: "Hits.", series: [{ labels, value: 3 }] }], 12.5);
    const text = '{engine="0",z="a \\"quoted\\" \\\\ name\\n"}';
    assert.equal(
      page,
      `# HELP x:hits_total Hits.\n# TYPE x:hits_total counter\nx:hits_total${text} 3.0\n` +
        `# HELP x:hits_created Hits.\n# TYPE x:hits_created gauge\nx:hits_created${text} 12.5\n`,
    );
  });

  it("write what is no finite number as Prometheus spells it", () => {
    const series = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY].map((value) => ({
      labels: {},
      value,
    }));
    const page = expose([{ kind: "gauge", name: "g", help: "G.", series }], 0);
    assert.deepEqual(page.split("\n").slice(2, 5), ["g NaN", "g +Inf", "g -Inf"]);
  });

  it("write a histogram's buckets cumulative, a value on a bound below it, one above all in +Inf", () => {
    const histogram = createHistogram([0.5, 1]);
    observe(histogram, 0.5);
    observe(histogram, 0.75, 2);
    observe(histogram, 9);
    const page = expose([{ kind: "histogram", name: "h", help: "H.", series: [{ ...histogram, labels: {} }] }], 0);
    assert.deepEqual(page.split("\n").slice(2, 7), [
      'h_bucket{le="0.5"} 1.0',
      'h_bucket{le="1.0"} 3.0',
      'h_bucket{le="+Inf"} 4.0',
      "h_count 4.0",
      "h_sum 11.0",
    ]);
  });
});
