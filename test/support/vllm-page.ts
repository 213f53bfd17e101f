/** Pages as vLLM writes them, for tests: every number that a test does not name is unremarkable. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

export type VllmEngine = {
  readonly running: number | string;
  readonly waiting: number | string;
  readonly kvUsed: number | string;
  readonly promptTokens: number | string;
  readonly computedTokens: number | string;
  readonly outputTokens: number | string;
  readonly hits: number | string;
  /** Count and seconds. */
  readonly prefill: readonly [number | string, number | string];
  readonly decode: readonly [number | string, number | string];
  readonly interToken: readonly [number | string, number | string];
  /** Up to 0.1 s, 1 s, any. */
  readonly firstTokens: readonly [number, number, number];
  /** Epoch seconds; null: the page does not say. */
  readonly createdAt: number | null;
};

export const PAGE_MODEL = "meta-llama/Llama-3.3-70B-Instruct";

const UNREMARKABLE: VllmEngine = {
  running: 2,
  waiting: 0,
  kvUsed: 0.25,
  promptTokens: 100_000,
  computedTokens: 60_000,
  outputTokens: 20_000,
  hits: 40_000,
  prefill: [100, 10],
  decode: [100, 200],
  interToken: [20_000, 400],
  firstTokens: [50, 100, 100],
  createdAt: 1_796_000_000,
};

/** One `engine` label each, from 0. */
export const vllmPage = (engines: readonly Partial<VllmEngine>[] = [{}]): string => {
  const lines = engines.flatMap((wish, at) => linesOf({ ...UNREMARKABLE, ...wish }, String(at)));
  const config = engines.map(
    (_, at) => `vllm:cache_config_info{block_size="16",engine="${at}",num_gpu_blocks="${25_000 * engines.length}"} 1.0`,
  );
  return `${[...lines, ...config].join("\n")}\n`;
};

const linesOf = (engine: VllmEngine, label: string): readonly string[] => {
  const series = (name: string, value: number | string, more = ""): string =>
    `vllm:${name}{engine="${label}",${more}model_name="${PAGE_MODEL}"} ${value}`;
  const summary = (name: string, [count, seconds]: readonly [number | string, number | string]): readonly string[] => [
    series(`${name}_count`, count),
    series(`${name}_sum`, seconds),
  ];
  return [
    series("num_requests_running", engine.running),
    series("num_requests_waiting", engine.waiting),
    series("kv_cache_usage_perc", engine.kvUsed),
    series("prompt_tokens_total", engine.promptTokens),
    ...(engine.createdAt === null ? [] : [series("prompt_tokens_created", engine.createdAt)]),
    series("prompt_tokens_by_source_total", engine.computedTokens, 'source="local_compute",'),
    series("generation_tokens_total", engine.outputTokens),
    series("prefix_cache_queries_total", engine.promptTokens),
    series("prefix_cache_hits_total", engine.hits),
    ...summary("request_prefill_time_seconds", engine.prefill),
    ...summary("request_decode_time_seconds", engine.decode),
    ...summary("inter_token_latency_seconds", engine.interToken),
    ...["0.1", "1.0", "+Inf"].map((le, at) =>
      series("time_to_first_token_seconds_bucket", engine.firstTokens[at] ?? 0, `le="${le}",`),
    ),
    series("time_to_first_token_seconds_count", engine.firstTokens[2]),
    series("time_to_first_token_seconds_sum", engine.firstTokens[2] / 10),
  ];
};

/** A captured payload of test/fixtures/engines. */
export const enginePayload = (file: string): string =>
  readFileSync(join(import.meta.dirname, "../fixtures/engines", file), "utf8");
