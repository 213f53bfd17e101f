import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { AgentConfig } from "#edge-agent/config.ts";
import { addressOf } from "#edge-agent/engine-config.ts";
import { parseConfig } from "#shared/config.ts";
import { OperationalError } from "#shared/errors.ts";

const parse = (yaml: string, env: Record<string, string> = {}): AgentConfig =>
  parseConfig(AgentConfig, yaml, { source: "agent.yaml", env, code: "AGENT_CONFIG_INVALID" });

const faultsOf = (yaml: string): readonly string[] => {
  try {
    parse(yaml);
  } catch (error) {
    assert.ok(error instanceof OperationalError);
    assert.equal(error.code, "AGENT_CONFIG_INVALID");
    return error.message.split("\n");
  }
  return [];
};

const LEAST = `
version: 1
region: eu-central
agent: a1
store: { url: "memory:" }
engines: [{ url: "http://10.0.0.5:8000" }]
`;

describe("the least configuration", () => {
  it("has defaults for the rest", () => {
    assert.deepEqual(parse(LEAST), {
      version: 1,
      region: "eu-central",
      agent: "a1",
      store: {
        ...{ url: "memory:", username_file: null, password_file: null, sentinel_password_file: null },
        ...{ ca_file: null, cert_file: null, key_file: null, deadline: 500 },
      },
      report: { interval: 1_000, key_file: null },
      scrape: { deadline: 1_500, concurrency: 64 },
      engines: [
        {
          ...{ url: "http://10.0.0.5:8000", dns: null, file: null, refresh: 5_000, engine: "auto" },
          ...{ model: null, aliases: {}, gpu_uuids: [], gpu_pods: [] },
          ...{ api_key_file: null, bearer_token_file: null, ca_file: null },
        },
      ],
      gateways: [],
      gpus: null,
      models: [],
      metrics: { listen: "127.0.0.1:9154" },
    });
  });
});

describe("the example configuration", () => {
  it("is usable as it stands", () => {
    const file = join(import.meta.dirname, "../../../deploy/config/edge-agent.yaml");
    const config = parse(readFileSync(file, "utf8"), { HOSTNAME: "gpu-node-1" });
    assert.equal(config.agent, "gpu-node-1");
    assert.ok(config.engines.length > 0 && config.models.length > 0 && config.gpus !== null);
  });
});

describe("aliases of metrics", () => {
  const withAlias = (alias: string): readonly string[] =>
    faultsOf(LEAST.replace('8000" }]', `8000", aliases: { ${alias} } }]`));
  it("stand for names that an engine is read by", () => {
    assert.deepEqual(withAlias('acme_queue: "vllm:num_requests_waiting"'), []);
  });
  it("for other names are refused, and say where", () => {
    const [fault = ""] = withAlias('acme_queue: "vllm:num_request_waiting"');
    assert.match(fault, /^agent\.yaml:6:.*aliases.*acme_queue: must be a name that an engine is read by/);
  });
  it("that are no names of metrics are refused", () => {
    assert.match(
      withAlias('"acme queue": "vllm:num_requests_waiting"').join("\n"),
      /must be the name of a metric|[Ii]nvalid key/,
    );
  });
});

describe("a configuration with ten faults", () => {
  it("names all ten, each with its line", () => {
    const faults = faultsOf(`version: 2
region: EU Central
agent: ""
store: { url: "" }
report: { interval: 60s }
engines:
  - { url: "ftp://10.0.0.5", engine: sgland }
  - { url: "http://10.0.0.6:8000", retries: 3 }
gpus: { dcgm_url: "http://10.0.0.5:9400/metrics", nvidia_smi: nvidia-smi }
models: [{ id: m, weight_bytes: 141, prefill_tokens_per_second: -1 }]
metrics: { listen: "9154" }
`);
    const expected = [
      /^agent\.yaml:1:.*version/,
      /^agent\.yaml:2:.*region: must be a DNS label/,
      /^agent\.yaml:3:.*agent: must be 1 to 63/,
      /^agent\.yaml:4:.*store\.url/,
      /^agent\.yaml:5:.*report\.interval: must be at most 10 s, or reports expire/,
      /^agent\.yaml:7:.*engines\[0\]\.url: must be a URL such as/,
      /^agent\.yaml:7:.*engines\[0\]\.engine: must be one of auto, vllm, sglang, /,
      /^agent\.yaml:8:.*retries/,
      /^agent\.yaml:9:.*gpus: must have one of dcgm_url, exporters and nvidia_smi/,
      /^agent\.yaml:10:.*weight_bytes: must be a size with its unit/,
      /^agent\.yaml:10:.*prefill_tokens_per_second/,
      /^agent\.yaml:11:.*metrics\.listen: must be an address with a port/,
    ];
    for (const pattern of expected)
      assert.ok(
        faults.some((fault) => pattern.test(fault)),
        `${pattern}:\n${faults.join("\n")}`,
      );
    assert.equal(faults.length, expected.length);
  });
});

describe("an engine's address", () => {
  const refused: readonly (readonly [url: string, says: RegExp])[] = [
    ["10.0.0.5:8000", /must be a URL/],
    ["http://", /must be a URL/],
    ["http://user:secret@10.0.0.5:8000", /api_key_file/],
    ["http://10.0.0.5:8000/?model=x", /query/],
  ];
  for (const [url, says] of refused) {
    it(`cannot be ${url}, and the fault does not repeat a secret`, () => {
      const [fault = "", ...others] = faultsOf(LEAST.replace("http://10.0.0.5:8000", url));
      assert.match(fault, says);
      assert.doesNotMatch(fault, /secret/);
      assert.deepEqual(others, []);
    });
  }
  it("cannot stand twice, in whatever spelling", () => {
    const twice = LEAST.replace(
      "engines: [",
      'engines: [{ url: "HTTP://10.0.0.5:8000/" }, { url: "http://10.0.0.6" }, { url: "http://10.0.0.6:80/x" }, ',
    );
    assert.deepEqual(
      faultsOf(twice).map((fault) => fault.replace(/^.*?: /, "")),
      ["engines[2].url: 10.0.0.6:80 stands here twice", "engines[3].url: 10.0.0.5:8000 stands here twice"],
    );
  });
  const addresses: readonly (readonly [url: string, address: string | null])[] = [
    ["http://10.0.0.5:8000", "10.0.0.5:8000"],
    ["http://10.0.0.5", "10.0.0.5:80"],
    ["https://vllm.example.org/base", "vllm.example.org:443"],
    ["http://[2001:db8::1]:8000", "[2001:db8::1]:8000"],
    ["no url", null],
  ];
  for (const [url, address] of addresses) {
    it(`of ${url} is ${address} in replica ids`, () => assert.equal(addressOf(url), address));
  }
});

describe("a model", () => {
  it("cannot be configured twice", () => {
    assert.match(faultsOf(`${LEAST}models: [{ id: m }, { id: m }]\n`)[0] ?? "", /models\[1\]\.id: m stands here twice/);
  });
});
