/** The demo's mixed region: one process plays vLLM, SGLang and llama.cpp, and one agent reads all three. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { describe, it } from "node:test";
import { enginesOf, MIXED_SITE } from "#deploy/demo/engines.ts";
import { PLACES, regionPortsAt } from "#deploy/demo/places.ts";
import { scrapeOnce } from "#edge-agent/cli/scrape-once.ts";
import { AgentConfig } from "#edge-agent/config.ts";
import { systemClock } from "#shared/clock.ts";
import { RegionReport } from "#shared/report.ts";

type Announced = { readonly port: number; readonly beside: readonly { readonly port: number }[] };

describe("an engine simulator with others beside it", () => {
  it("is one region's three engines, of one model, to the agent that reads them", async () => {
    const child = spawn(
      process.execPath,
      [
        ...["deploy/demo/engine-simulator/main.ts", "--listen", "127.0.0.1:0", "--region", "eu-west", "--model", "m"],
        ...[
          "--beside",
          "sglang@0",
          "--beside",
          "llama-cpp@0",
          "--kv-tokens",
          "400000",
          "--replicas",
          "2",
          "--until-stdin-ends",
        ],
      ],
      { stdio: ["pipe", "pipe", "inherit"] },
    );
    try {
      const [line] = await once(createInterface({ input: child.stdout }), "line");
      const { port, beside }: Announced = JSON.parse(line);
      const engines = [port, ...beside.map((one) => one.port)].map((at) => ({ url: `http://127.0.0.1:${at}` }));
      const config = AgentConfig.parse({
        ...{ version: 1, region: "eu-west", agent: "a1", store: { url: "memory:" }, engines },
      });
      const said = { report: "", told: "" };
      await scrapeOnce(config, systemClock, {
        print: (text) => {
          said.report += text;
        },
        tell: (text) => {
          said.told += text;
        },
        env: {},
      });
      const { models } = RegionReport.parse(JSON.parse(said.report));
      assert.deepEqual(
        models.map(({ model, state, replicas }) => [model, state, replicas.length]),
        [["m", "loaded", 4]],
      );
      // What a quarter of llama.cpp's memory holds is all that it gives to one conversation.
      assert.equal(models[0]?.contextLimitTokens, 100_000);
      for (const engine of ["vllm", "sglang", "llama-cpp"]) assert.match(said.told, new RegExp(`${engine} at 127`));
    } finally {
      child.stdin.end();
      await once(child, "exit");
    }
  });
});

describe("the demo", () => {
  it("has engines of three kinds in one region and of one kind in the others", () => {
    const ports = regionPortsAt(0);
    assert.deepEqual(
      enginesOf(MIXED_SITE, ports, "key").map(({ engine, url }) => [engine, new URL(url).port]),
      [
        ["vllm", "8000"],
        ["sglang", "8001"],
        ["llama-cpp", "8081"],
      ],
    );
    for (const place of PLACES) {
      assert.deepEqual(
        enginesOf(place, ports, "key").map(({ engine }) => engine),
        ["vllm"],
      );
    }
  });
});
