import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { newEndpoint } from "#edge-agent/endpoint.ts";
import { PLAIN } from "#edge-agent/engines/wording.ts";
import type { Fetched } from "#edge-agent/ports.ts";
import { readEngine } from "#edge-agent/read-answers.ts";
import { scrapeEngine } from "#edge-agent/scrape-engine.ts";
import { answered } from "#test/support/edge-agent.ts";

const fixture = (file: string): string => readFileSync(join(import.meta.dirname, "../../../fixtures", file), "utf8");
const listOf = (model: string, owner: string): string =>
  JSON.stringify({ object: "list", data: [{ id: model, object: "model", owned_by: owner, root: model }] });

/** By path without its query; what is not here is 404. */
type Site = Readonly<Record<string, string>>;

const clock = { epochMs: () => 1_796_000_000_000, monotonicMs: () => 1_000 };

const seen = async (site: Site, known: string | null = null) => {
  const asked: string[] = [];
  const fetch = async (url: string): Promise<Fetched> => {
    const { pathname } = new URL(url);
    asked.push(pathname);
    const text = site[pathname];
    return text === undefined ? answered("no", { status: 404 }) : answered(text);
  };
  const door = { fetch, faults: () => [], close: async () => {} };
  const target = { address: "h:1", url: "http://h:1", wish: "auto", door };
  const signal = new AbortController().signal;
  const endpoint = { ...newEndpoint("h:1"), engine: known };
  const answers = await scrapeEngine(target, endpoint, { clock, signal });
  const { reading, faults } = readEngine(answers, endpoint, { ...PLAIN, wish: "auto" });
  return { reading, faults, asked };
};

const SITES: readonly {
  readonly what: string;
  readonly engine: string;
  readonly running: number | null;
  readonly site: Site;
}[] = [
  {
    what: "SGLang",
    engine: "sglang",
    running: 9,
    site: {
      "/metrics": fixture("engines/sglang-0.5.18.t1.prom"),
      "/v1/models": fixture("engines/sglang-models.json"),
      "/v1/loads": fixture("engines/sglang-v1-loads.json"),
    },
  },
  {
    what: "SGLang without metrics",
    engine: "sglang",
    running: 9,
    site: { "/v1/models": fixture("engines/sglang-models.json"), "/v1/loads": fixture("engines/sglang-v1-loads.json") },
  },
  {
    what: "SGLang 0.4",
    engine: "sglang",
    running: 5,
    site: {
      "/metrics": fixture("engines-more/sglang-0.4.prom"),
      "/v1/models": listOf("Qwen/Qwen2.5-7B", "sglang"),
      "/get_server_info": fixture("engines-more/sglang-0.4-get_server_info.json"),
    },
  },
  {
    what: "TGI, whose list says the model's name for its owner",
    engine: "tgi",
    running: 6,
    site: {
      "/metrics": fixture("engines/tgi-3.3.prom"),
      "/v1/models": fixture("engines/tgi-models.json"),
      "/info": fixture("engines/tgi-info.json"),
    },
  },
  {
    what: "trtllm-serve of the newer generation",
    engine: "trtllm",
    running: 7,
    site: {
      "/metrics": fixture("engines/trtllm-serve-metrics.json"),
      "/prometheus/metrics": fixture("engines/trtllm-serve-1.3-prometheus.prom"),
      "/v1/models": listOf("nvidia/Llama-3.3-70B-Instruct-FP8", "tensorrt_llm"),
    },
  },
  {
    what: "trtllm-serve of the older generation, owned by somebody",
    engine: "trtllm",
    running: 3,
    site: {
      "/metrics": fixture("engines-more/trtllm-1.1-metrics.json"),
      "/prometheus/metrics": fixture("engines-more/trtllm-1.1-prometheus.prom"),
      "/v1/models": listOf("meta/llama-8b", "somebody"),
    },
  },
  {
    what: "trtllm-serve whose list somebody else has emptied",
    engine: "trtllm",
    running: null,
    site: { "/metrics": "[]", "/v1/models": listOf("meta/llama-8b", "tensorrt_llm") },
  },
  { what: "Triton", engine: "triton", running: 6, site: { "/metrics": fixture("engines-more/triton-trtllm.prom") } },
  {
    what: "NIM",
    engine: "nim",
    running: 4,
    site: {
      "/v1/metrics": fixture("engines-more/nim-1.x.prom"),
      "/v1/models": listOf("meta/llama-3.1-8b-instruct", "system"),
      "/v1/health/ready": "{}",
    },
  },
  {
    what: "a NIM that passes vLLM's names on",
    engine: "vllm",
    running: 22,
    site: {
      "/v1/metrics": fixture("engines/vllm-v1-current.t1.prom"),
      "/v1/models": listOf("meta-llama/Llama-3.3-70B-Instruct", "system"),
    },
  },
  {
    what: "Dynamo's front end",
    engine: "dynamo",
    running: 10,
    site: { "/metrics": fixture("engines/dynamo-frontend.prom"), "/v1/models": listOf("Qwen/Qwen3-32B", "nvidia") },
  },
  {
    what: "a worker of Dynamo with vLLM in it, which lists no model",
    engine: "vllm",
    running: 3,
    site: { "/metrics": fixture("engines-more/dynamo-worker-vllm.prom") },
  },
];

describe("a stranger is recognised by what answers, and read at once", () => {
  for (const { what, engine, running, site } of SITES) {
    it(`${what} is ${engine}, also when it is known`, async () => {
      for (const known of [null, engine]) {
        const { reading } = await seen(site, known);
        assert.equal(reading?.engine, engine);
        const counts = reading.models.flatMap(({ replicas }) => replicas.map(({ requestsRunning }) => requestsRunning));
        const sum = counts.reduce((total, count) => (total ?? 0) + (count ?? 0), null);
        assert.equal(sum, running);
      }
    });
  }
  it("who is known is not asked what others have", async () => {
    const [, , , , { site = {} } = {}] = SITES;
    const { asked } = await seen(site, "trtllm");
    assert.deepEqual([...asked].sort(), ["/health", "/metrics", "/prometheus/metrics", "/v1/models"]);
  });
  it("Triton is not blamed for having no model list", async () => {
    const { faults } = await seen({ "/metrics": fixture("engines-more/triton-trtllm.prom") }, "triton");
    assert.deepEqual(faults, []);
  });
  it("the newer names of SGLang's facts are asked for first", async () => {
    const [, , { site = {} } = {}] = SITES;
    const { asked } = await seen(site, "sglang");
    assert.ok(asked.indexOf("/server_info") < asked.indexOf("/get_server_info"));
  });
});
