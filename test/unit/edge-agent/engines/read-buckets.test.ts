/** Buckets that nobody reads are passed over, and nothing else is. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ENGINES } from "#edge-agent/engines/known.ts";
import { isReadByBucket } from "#edge-agent/engines/read-buckets.ts";
import { parseExposition } from "#edge-agent/exposition.ts";

const PAGE = [
  'vllm:e2e_request_latency_seconds_bucket{le="0.3",model_name="m"} 1',
  'vllm:e2e_request_latency_seconds_bucket{le="+Inf",model_name="m"} 2',
  'vllm:e2e_request_latency_seconds_sum{model_name="m"} 0.5',
  'vllm:e2e_request_latency_seconds_count{model_name="m"} 2',
  'vllm:time_to_first_token_seconds_bucket{le="+Inf",model_name="m"} 2',
  "",
].join("\n");
const countsOf = (aliases: Readonly<Record<string, string>>) =>
  [...parseExposition(PAGE, { isRead: isReadByBucket(aliases) }).samples].map(([name, samples]) => [
    name,
    samples.length,
  ]);

describe("a page of histograms", () => {
  it("keeps sums, counts, times to the first token, and of what nobody reads the name", () => {
    assert.deepEqual(countsOf({}), [
      ["vllm:e2e_request_latency_seconds_bucket", 0],
      ["vllm:e2e_request_latency_seconds_sum", 1],
      ["vllm:e2e_request_latency_seconds_count", 1],
      ["vllm:time_to_first_token_seconds_bucket", 1],
    ]);
  });
  it("is read bucket by bucket where the configuration says that a histogram stands for another", () => {
    const [first] = countsOf({ "vllm:e2e_request_latency_seconds": "vllm:time_to_first_token_seconds" });
    assert.deepEqual(first, ["vllm:e2e_request_latency_seconds_bucket", 2]);
  });
  it("is cut where it is cut, also within what nobody reads", () => {
    const cut = PAGE.slice(0, PAGE.indexOf('"+Inf"'));
    assert.deepEqual(parseExposition(cut, { isRead: isReadByBucket({}) }).faults, [
      { field: "page", code: "half-sent" },
    ]);
  });
});

describe("what engines call the time to the first token", () => {
  it("is always read by bucket", () => {
    const names = ENGINES.flatMap((engine) => Object.values(engine.names).flat()).filter((name) =>
      /ttft|first/i.test(name),
    );
    assert.ok(names.length >= 4, `${names}`);
    for (const name of names)
      assert.ok(isReadByBucket({})(`${name.replace(/_(?:bucket|sum|count)$/, "")}_bucket`), name);
  });
});
