import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { capacityOf } from "#edge-agent/engines/vllm-capacity.ts";
import { parseExposition } from "#edge-agent/exposition.ts";

const capacity = (...labels: readonly string[]): number | null =>
  capacityOf(parseExposition(labels.map((text) => `info{${text}} 1\n`).join("")).samples.get("info") ?? []);

describe("the KV-cache capacity that cache_config_info tells", () => {
  const cases: readonly { readonly when: string; readonly info: readonly string[]; readonly tokens: number | null }[] =
    [
      { when: "nothing is told", info: [], tokens: null },
      { when: "blocks are told", info: ['block_size="16",num_gpu_blocks="27000"'], tokens: 432_000 },
      { when: "the number of blocks is None", info: ['block_size="16",num_gpu_blocks="None"'], tokens: null },
      { when: "the size of a block is missing", info: ['num_gpu_blocks="27000"'], tokens: null },
      { when: "a number is no number", info: ['block_size="16",num_gpu_blocks="many"'], tokens: null },
      { when: "it is zero, which no cache is", info: ['block_size="16",num_gpu_blocks="0"'], tokens: null },
      {
        when: "two engines tell the sum of their blocks",
        info: [
          'block_size="16",engine="0",num_gpu_blocks="54000"',
          'block_size="16",engine="1",num_gpu_blocks="54000"',
        ],
        tokens: 864_000,
      },
      {
        when: "tokens are told, which are true for hybrid models where blocks are not",
        info: ['block_size="16",kv_cache_size_tokens="500000",num_gpu_blocks="54000"'],
        tokens: 500_000,
      },
      {
        when: "tokens and blocks of two engines agree as sums",
        info: [
          'block_size="16",engine="0",kv_cache_size_tokens="864000",num_gpu_blocks="54000"',
          'block_size="16",engine="1",kv_cache_size_tokens="864000",num_gpu_blocks="54000"',
        ],
        tokens: 864_000,
      },
      {
        when: "blocks of two engines say that the tokens are one engine's share",
        info: [
          'block_size="16",engine="0",kv_cache_size_tokens="432000",num_gpu_blocks="54000"',
          'block_size="16",engine="1",kv_cache_size_tokens="432000",num_gpu_blocks="54000"',
        ],
        tokens: 864_000,
      },
    ];
  for (const { when, info, tokens } of cases) {
    it(`is ${tokens} when ${when}`, () => assert.equal(capacity(...info), tokens));
  }
});
