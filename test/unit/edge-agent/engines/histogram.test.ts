import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { bucketsOf } from "#edge-agent/engines/histogram.ts";
import { parseExposition } from "#edge-agent/exposition.ts";

const buckets = (...lines: readonly string[]) => {
  const page = parseExposition(lines.map((line) => `b{${line}\n`).join(""));
  return bucketsOf({ samples: page.samples.get("b") ?? [], isContradicted: page.contradicted.has("b") });
};

describe("a histogram", () => {
  it("is sorted by bound, however the bounds are spelled", () => {
    assert.deepEqual(buckets('le="+Inf"} 9', 'le="1e-03"} 1', 'le="1"} 5', 'le="0.50"} 3'), {
      kind: "known",
      bounds: [0.001, 0.5, 1, Number.POSITIVE_INFINITY],
      counts: [1, 3, 5, 9],
    });
  });
  it("is summed over labels that nobody asked for", () => {
    const summed = buckets('le="1",x="a"} 1', 'le="+Inf",x="a"} 2', 'le="1",x="b"} 10', 'le="+Inf",x="b"} 20');
    assert.deepEqual(summed.kind === "known" && summed.counts, [11, 22]);
  });
  const unknown: readonly { readonly when: string; readonly lines: readonly string[]; readonly code: string }[] = [
    { when: "there is none", lines: [], code: "missing" },
    { when: "a bucket is NaN", lines: ['le="1"} NaN', 'le="+Inf"} 2'], code: "not-finite" },
    { when: "the last bucket is not infinite", lines: ['le="1"} 1', 'le="2"} 2'], code: "incomplete-histogram" },
    { when: "it shrinks", lines: ['le="1"} 3', 'le="+Inf"} 2'], code: "incomplete-histogram" },
    { when: "a bound is no number", lines: ['le="x"} 1', 'le="+Inf"} 2'], code: "malformed-bound" },
    { when: "a bound is missing", lines: ['x="1"} 1', 'le="+Inf"} 2'], code: "malformed-bound" },
    { when: "a bound is negative", lines: ['le="-1"} 1', 'le="+Inf"} 2'], code: "malformed-bound" },
    { when: "a bucket contradicts itself", lines: ['le="+Inf"} 1', 'le="+Inf"} 2'], code: "duplicate" },
  ];
  for (const { when, lines, code } of unknown) {
    it(`is ${code} when ${when}`, () => assert.deepEqual(buckets(...lines), { kind: "unknown", code }));
  }
});
