import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { NOTHING_FURTHER } from "#edge-agent/engines/engine.ts";
import { cacheTiersOn, lmcache } from "#edge-agent/engines/lmcache.ts";
import { parseExposition } from "#edge-agent/exposition.ts";
import { enginePayload, PAGE_MODEL, vllmPage } from "#test/support/vllm-page.ts";

describe("LMCache", () => {
  for (const [file, source] of [
    ["lmcache-inprocess.prom", "lmcache:num_lookup_hits_total"],
    ["lmcache-mp.prom", "lmcache_mp_lookup_hit_tokens_total"],
  ] as const) {
    it(`of ${file} found 0.3 of the tokens that were looked up`, () => {
      const [tier, ...others] = cacheTiersOn(parseExposition(enginePayload(file)));
      assert.deepEqual([tier?.model, tier?.source, others.length], [PAGE_MODEL, source, 0]);
      const [looked = 0, hits = 0] = tier?.lookups[0]?.values ?? [];
      assert.equal(hits / looked, 0.3);
    });
  }
  it("sums over the processes of a model, and keeps models apart", () => {
    const line = (name: string, model: string, worker: number, value: number): string =>
      `lmcache:${name}{model_name="${model}",worker_id="${worker}"} ${value}\n`;
    const page = [
      ...[line("num_lookup_tokens_total", "a", 0, 10), line("num_lookup_tokens_total", "a", 1, 30)],
      ...[line("num_lookup_hits_total", "a", 0, 5), line("num_lookup_hits_total", "a", 1, 5)],
      ...[line("num_lookup_tokens_total", "b", 0, 7), line("num_lookup_hits_total", "b", 0, 7)],
    ].join("");
    assert.deepEqual(
      cacheTiersOn(parseExposition(page)).map(({ model, lookups }) => [model, lookups[0]?.values]),
      [
        ["a", [40, 10]],
        ["b", [7, 7]],
      ],
    );
  });
  it("with a number that is none says nothing of it", () => {
    const page = enginePayload("lmcache-mp.prom").replace(/(lookup_hit_tokens_total\{.*\}) .*/, "$1 NaN");
    assert.deepEqual(cacheTiersOn(parseExposition(page))[0]?.lookups, []);
  });
  it("before its first request has an empty page, which is no fault", () => {
    const empty = parseExposition('target_info{service_instance_id="6f0c"} 1.0\n');
    assert.deepEqual(cacheTiersOn(empty), []);
    assert.deepEqual(lmcache.read({ page: empty, models: null, further: NOTHING_FURTHER }).faults, []);
  });
  it("is none on a page of vLLM alone", () => assert.deepEqual(cacheTiersOn(parseExposition(vllmPage())), []));
});
