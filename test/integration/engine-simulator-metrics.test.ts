import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  QUICK_ENGINE,
  type RunningSimulator,
  SIMULATED_MODEL,
  startSimulator,
} from "#test/support/engine-simulators.ts";

type Sample = { readonly name: string; readonly labels: Readonly<Record<string, string>>; readonly value: number };

/** Enough of a parser for pages without escapes. */
const samplesOf = (page: string): readonly Sample[] =>
  page
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => {
      const [, name = "", labels = "", value = ""] = /^([\w:]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      assert.notEqual(name, "", line);
      const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key = "", text = ""]) => [key, text]);
      return { name, labels: Object.fromEntries(pairs), value: Number(value) };
    });

const scrape = async (simulator: RunningSimulator): Promise<readonly Sample[]> =>
  samplesOf(await simulator.text("/metrics"));
const sum = (samples: readonly Sample[], name: string, labels: Readonly<Record<string, string>> = {}): number => {
  const found = samples.filter(
    (sample) => sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
  );
  assert.ok(found.length > 0, `no ${name}`);
  return found.reduce((total, { value }) => total + value, 0);
};
const chat = (simulator: RunningSimulator, content: string, max_tokens = 10) =>
  simulator.json("/v1/chat/completions", {
    model: SIMULATED_MODEL,
    messages: [{ role: "user", content }],
    max_tokens,
  }) as Promise<{
    usage: { prompt_tokens: number; prompt_tokens_details: { cached_tokens: number } };
  }>;

describe("the metrics page after two turns, the second built on the first", () => {
  const ready = (async () => {
    await using simulator = await startSimulator();
    const first = await chat(simulator, "word ".repeat(800));
    const second = await chat(simulator, `${"word ".repeat(800)}and more`);
    return { first, second, samples: await scrape(simulator), page: await simulator.text("/metrics") };
  })();

  it("counts every prompt token, by where it came from", async () => {
    const { first, second, samples } = await ready;
    const prompt = first.usage.prompt_tokens + second.usage.prompt_tokens;
    const cached = second.usage.prompt_tokens_details.cached_tokens;
    assert.ok(cached > 900);
    assert.equal(sum(samples, "vllm:prompt_tokens_total"), prompt);
    assert.equal(sum(samples, "vllm:prompt_tokens_by_source_total", { source: "local_cache_hit" }), cached);
    assert.equal(sum(samples, "vllm:prompt_tokens_by_source_total", { source: "local_compute" }), prompt - cached);
    assert.equal(sum(samples, "vllm:prompt_tokens_cached_total"), cached);
    assert.equal(sum(samples, "vllm:prefix_cache_queries_total"), prompt);
    assert.equal(sum(samples, "vllm:prefix_cache_hits_total"), cached);
    assert.equal(sum(samples, "vllm:generation_tokens_total"), 20);
    assert.equal(sum(samples, "vllm:request_success_total", { finished_reason: "length" }), 2);
  });

  it("has a series for each replica with the labels engine and model_name, and a _created beside each counter", async () => {
    const { samples } = await ready;
    for (const name of ["vllm:num_requests_waiting", "vllm:prompt_tokens_total", "vllm:prompt_tokens_created"]) {
      const found = samples.filter((sample) => sample.name === name);
      assert.deepEqual(
        found.map(({ labels }) => labels),
        ["0", "1"].map((engine) => ({ engine, model_name: SIMULATED_MODEL })),
      );
    }
    const started = sum(samples, "process_start_time_seconds");
    assert.ok(samples.filter(({ name }) => name.endsWith("_created")).every(({ value }) => value === started));
    assert.ok(Math.abs(started - Date.now() / 1_000) < 60);
  });

  it("tells the capacity of all replicas on the series of each, without a model's name", async () => {
    const { samples } = await ready;
    const infos = samples.filter(({ name }) => name === "vllm:cache_config_info");
    assert.deepEqual(
      infos.map(({ labels }) => [
        labels["engine"],
        labels["num_gpu_blocks"],
        labels["block_size"],
        labels["model_name"],
      ]),
      [
        ["0", "50000", "16", undefined],
        ["1", "50000", "16", undefined],
      ],
    );
    assert.equal(infos[0]?.labels["kv_cache_size_tokens"], "800000");
  });

  it("has vLLM's bucket bounds, cumulative, and counts that fit the sums", async () => {
    const { samples } = await ready;
    const bounds = (name: string) =>
      samples
        .filter((sample) => sample.name === `${name}_bucket` && sample.labels["engine"] === "0")
        .map(({ labels }) => labels["le"]);
    assert.deepEqual(
      bounds("vllm:time_to_first_token_seconds").join(" "),
      "0.001 0.005 0.01 0.02 0.04 0.06 0.08 0.1 0.25 0.5 0.75 1.0 2.5 5.0 7.5 10.0 20.0 40.0 80.0 160.0 640.0 2560.0 +Inf",
    );
    assert.equal(bounds("vllm:request_queue_time_seconds").at(0), "0.3");
    assert.equal(bounds("vllm:request_queue_time_seconds").at(-2), "7680.0");
    assert.equal(sum(samples, "vllm:time_to_first_token_seconds_count"), 2);
    assert.equal(sum(samples, "vllm:inter_token_latency_seconds_count"), 18);
    assert.ok(Math.abs(sum(samples, "vllm:inter_token_latency_seconds_sum") - 18 * 0.002) < 1e-6);
    const computed = sum(samples, "vllm:prompt_tokens_by_source_total", { source: "local_compute" });
    assert.ok(Math.abs(sum(samples, "vllm:request_prefill_time_seconds_sum") - computed * 1e-5) < 1e-6);
    for (const name of ["time_to_first_token_seconds", "request_prefill_time_seconds", "e2e_request_latency_seconds"]) {
      assert.equal(sum(samples, `vllm:${name}_bucket`, { le: "+Inf" }), sum(samples, `vllm:${name}_count`));
    }
  });

  it("names every metric once", async () => {
    const types = (await ready).page.split("\n").filter((line) => line.startsWith("# TYPE "));
    assert.equal(new Set(types).size, types.length);
  });
});

describe("the metrics page of a held replica", () => {
  it("counts fillers as waiting requests, and as computed tokens when they end", async () => {
    await using simulator = await startSimulator({ engine: { ...QUICK_ENGINE, speed: { linMs: 0.025, attnMs: 0 } } });
    await simulator.json("/sim/hold", { waiting: 4, replica: 0 });
    const samples = await scrape(simulator);
    assert.equal(sum(samples, "vllm:num_requests_waiting", { engine: "0" }), 4);
    assert.equal(sum(samples, "vllm:num_requests_running", { engine: "0" }), 1);
    assert.equal(sum(samples, "vllm:num_requests_waiting", { engine: "1" }), 0);
    assert.ok(sum(samples, "vllm:kv_cache_usage_perc", { engine: "0" }) > 0);
    await simulator.until(({ replicas }) => (replicas[0]?.counters.finished.length ?? 0) >= 2);
    assert.ok(sum(await scrape(simulator), "vllm:prompt_tokens_by_source_total", { source: "local_compute" }) >= 8_000);
  });
});

describe("POST /sim/mode", () => {
  it("old_names: the page of vLLM 0.8", async () => {
    await using simulator = await startSimulator();
    await chat(simulator, "Hi");
    await simulator.json("/sim/mode", { old_names: true });
    const samples = await scrape(simulator);
    assert.equal(sum(samples, "vllm:gpu_cache_usage_perc"), 0);
    assert.ok(sum(samples, "vllm:gpu_prefix_cache_queries_total") > 0);
    assert.equal(sum(samples, "vllm:time_per_output_token_seconds_count"), 9);
    const names = new Set(samples.map(({ name }) => name));
    for (const name of [
      "vllm:kv_cache_usage_perc",
      "vllm:prefix_cache_hits_total",
      "vllm:prompt_tokens_by_source_total",
    ]) {
      assert.equal(names.has(name), false, name);
    }
    assert.ok(samples.every(({ labels }) => labels["kv_cache_size_tokens"] === undefined));
  });

  it("nan: load without a value, counters as before", async () => {
    await using simulator = await startSimulator();
    await chat(simulator, "Hi");
    await simulator.json("/sim/mode", { nan: true });
    const samples = await scrape(simulator);
    for (const name of ["vllm:num_requests_waiting", "vllm:num_requests_running", "vllm:kv_cache_usage_perc"]) {
      assert.equal(sum(samples, name), Number.NaN);
    }
    assert.equal(sum(samples, "vllm:generation_tokens_total"), 10);
  });

  it("half_page: the connection ends before the page does", async () => {
    await using simulator = await startSimulator();
    await simulator.json("/sim/mode", { half_page: true });
    await assert.rejects(simulator.text("/metrics"), /terminated/);
    await simulator.json("/sim/mode", { half_page: false });
    assert.ok((await scrape(simulator)).length > 100);
  });

  it("slow: the page does not come within 300 ms, while health does", async () => {
    await using simulator = await startSimulator();
    await simulator.json("/sim/mode", { slow: true });
    const signal = AbortSignal.timeout(300);
    await assert.rejects(fetch(`${simulator.origin}/metrics`, { signal }), { name: "TimeoutError" });
    assert.equal((await fetch(`${simulator.origin}/health`)).status, 200);
  });

  it("sleep: no completions, no contexts afterwards, and the page says so", async () => {
    await using simulator = await startSimulator();
    const text = "word ".repeat(200);
    await chat(simulator, text);
    await simulator.json("/sim/mode", { sleep: true });
    const samples = await scrape(simulator);
    assert.equal(sum(samples, "vllm:engine_sleep_state", { sleep_state: "discard_all" }), 2);
    assert.equal(sum(samples, "vllm:engine_sleep_state", { sleep_state: "awake" }), 0);
    const refused = (await chat(simulator, text)) as unknown as { error: { code: number } };
    assert.equal(refused.error.code, 503);
    await simulator.json("/sim/mode", { sleep: false });
    assert.equal((await chat(simulator, text)).usage.prompt_tokens_details.cached_tokens, 0);
  });

  it("restart: the same address with a later start, empty caches and counters at 0", async () => {
    await using simulator = await startSimulator();
    const text = "word ".repeat(200);
    await chat(simulator, text);
    const before = await scrape(simulator);
    const { startedAtMs } = await simulator.until(() => true);
    await simulator.json("/sim/mode", { restart: true });
    await simulator.until((state) => state.startedAtMs > startedAtMs);
    const after = await scrape(simulator);
    assert.ok(sum(after, "process_start_time_seconds") > sum(before, "process_start_time_seconds"));
    assert.equal(sum(after, "vllm:prompt_tokens_total"), 0);
    assert.equal((await chat(simulator, text)).usage.prompt_tokens_details.cached_tokens, 0);
  });

  it("multi_replica: two processes in turn, an hour apart, the older with half the counts", async () => {
    await using simulator = await startSimulator();
    for (let turn = 0; turn < 4; turn++) await chat(simulator, `${turn}`);
    await simulator.json("/sim/mode", { multi_replica: true });
    const pages = [await scrape(simulator), await scrape(simulator), await scrape(simulator)];
    const starts = pages.map((page) => sum(page, "process_start_time_seconds"));
    assert.equal(starts[0], starts[2]);
    assert.equal(Math.round(Math.abs((starts[0] ?? 0) - (starts[1] ?? 0))), 3_600);
    const counts = pages.map((page) => sum(page, "vllm:request_success_total", { finished_reason: "length" }));
    assert.equal(counts[0], counts[2]);
    assert.deepEqual(new Set(counts), new Set([4, 2]));
  });

  it("refuses a switch that it does not have", async () => {
    await using simulator = await startSimulator();
    const refused = (await simulator.json("/sim/mode", { quick: true })) as {
      error: { message: string; code: number };
    };
    assert.equal(refused.error.code, 400);
    assert.match(refused.error.message, /quick/);
  });
});

describe("the DCGM page", () => {
  it("shows eight GPUs of the memory asked for, in MiB, with UUIDs of this region alone", async () => {
    const uuids = new Set<string>();
    for (const region of ["eu-central", "us-east"]) {
      await using simulator = await startSimulator({ region, gpuMemoryBytes: 80 * 1_024 ** 3 });
      const samples = samplesOf(await simulator.text("/dcgm/metrics"));
      const of = (name: string) => samples.filter((sample) => sample.name === `DCGM_FI_DEV_${name}`);
      for (const gpu of of("FB_USED")) uuids.add(gpu.labels["UUID"] ?? "");
      const total = ["FB_USED", "FB_FREE", "FB_RESERVED"]
        .map((name) => of(name)[7]?.value ?? 0)
        .reduce((a, b) => a + b);
      assert.equal(total, 81_920);
      assert.deepEqual(
        of("GPU_UTIL").map(({ value }) => value),
        new Array(8).fill(0),
      );
    }
    assert.equal(uuids.size, 16);
  });

  it("shows the GPUs of a computing replica as busy", async () => {
    await using simulator = await startSimulator({ engine: { ...QUICK_ENGINE, speed: { linMs: 1, attnMs: 0 } } });
    await simulator.json("/sim/hold", { waiting: 1, replica: 0 });
    const samples = samplesOf(await simulator.text("/dcgm/metrics"));
    assert.deepEqual(
      samples.filter(({ name }) => name === "DCGM_FI_DEV_GPU_UTIL").map(({ value }) => value),
      [100, 100, 100, 100, 0, 0, 0, 0],
    );
  });
});
