/** A region as one process on a host of a closed network: an engine, and the agent that reports it into Redis. */
import { fileURLToPath } from "node:url";
import { AgentConfig } from "#edge-agent/config.ts";
import { startAgent } from "#edge-agent/start-agent.ts";
import { systemClock } from "#shared/clock.ts";
import { silentLogger } from "#shared/logger.ts";
import { createMetrics } from "#shared/metrics.ts";
import { openStore } from "#shared/store-open.ts";
import { StoreSettings } from "#shared/store-settings.ts";
import { SIMULATED_MODEL, startSimulator } from "#test/support/engine-simulators.ts";
import { type Daemon, startDaemon } from "./daemon.ts";
import type { Host } from "./network.ts";

type Wish = { readonly region: string; readonly address: string; readonly storeUrl: string };

export const ENGINE_PORT = 8_000;

/** @returns once its engine answers; its end is that of a power cut */
export const startRegionProcess = (host: Host, region: string, storeUrl: string): Promise<Daemon> => {
  const [address = ""] = host.addresses;
  const wish: Wish = { region, address, storeUrl };
  return startDaemon({
    host,
    files: {},
    command: [process.execPath, fileURLToPath(import.meta.url), JSON.stringify(wish)],
    ready: {
      ask: ["curl", "-sf", "-m", "2", "-w", "%{http_code}", `http://${address}:${ENGINE_PORT}/health`],
      says: /200/,
    },
  });
};

const run = async ({ region, address, storeUrl }: Wish): Promise<void> => {
  const { origin } = await startSimulator({ region, listen: { address, port: ENGINE_PORT } });
  const settings = StoreSettings.parse({ url: storeUrl });
  const parts = { clock: systemClock, log: silentLogger };
  const store = openStore(settings, { ...parts, name: `edge-agent/${region}` });
  const config = AgentConfig.parse({
    version: 1,
    region,
    agent: `agent-${region}`,
    store: { url: storeUrl },
    report: { interval: "500ms" },
    engines: [{ url: origin, engine: "vllm" }],
    gpus: { dcgm_url: `${origin}/dcgm/metrics` },
    models: [{ id: SIMULATED_MODEL, prefill_tokens_per_second: 8_000, kv_capacity_tokens: 400_000 }],
  });
  await startAgent(config, store, { ...parts, metrics: createMetrics() });
};

const [, program, wish] = process.argv;
if (program === fileURLToPath(import.meta.url) && wish !== undefined) await run(JSON.parse(wish) as Wish);
