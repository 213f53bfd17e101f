/** One of the three regions: an engine simulator, the gateway before it, the agent beside both, here or as processes that can be killed. */
import assert from "node:assert/strict";
import { startEngineProcess } from "#deploy/demo/engine-process.ts";
import { startRegionGateway } from "#deploy/demo/gateway.ts";
import type { RegionKeys } from "#deploy/demo/keys.ts";
import { ENGINE_KEY } from "#deploy/demo/places.ts";
import type { DemoStores } from "#deploy/demo/stores.ts";
import { AgentConfig } from "#edge-agent/config.ts";
import { GatewayConfig } from "#edge-agent/gateway/config.ts";
import { startAgent } from "#edge-agent/start-agent.ts";
import { DEFAULT_ENGINE } from "#gtm/simulation/serving/engine-options.ts";
import { systemClock } from "#shared/clock.ts";
import { silentLogger } from "#shared/logger.ts";
import { createMetrics } from "#shared/metrics.ts";
import { SIMULATED_ALIAS, SIMULATED_MODEL, type SimState, startSimulator } from "./engine-simulators.ts";
import { freePort } from "./free-port.ts";
import { startProgram } from "./running-program.ts";
import { type SteeredRegionSite, ZONE } from "./steered-settings.ts";

export type RegionParts = AsyncDisposable & {
  /** Answers that its engine ended, of whatever length. */
  readonly served: () => Promise<number>;
  /** Keeps so many fillers in the queue of each replica. */
  readonly hold: (waiting: number) => Promise<void>;
  /** As a power cut would; only of one that is apart. */
  readonly kill: () => Promise<void>;
};

export type RegionOptions = {
  readonly ports: { readonly gateway: number; readonly plain: number };
  readonly files: {
    readonly keys: RegionKeys;
    readonly engineKeyFile: string;
    readonly tls: { readonly cert_file: string; readonly key_file: string };
  };
  readonly stores: DemoStores;
  readonly isApart: boolean;
};

/** As fast as a replica of the demo, and quicker to write. */
const PREFILL_TOKENS_PER_SECOND = 8_000;
const ITL_MS = 2;
const KV_TOKENS = 400_000;

export const startSteeredRegion = async (site: SteeredRegionSite, options: RegionOptions): Promise<RegionParts> => {
  const { stores, isApart } = options;
  await using started = new AsyncDisposableStack();
  const listen = { address: site.address, port: await freePort() };
  const engineUrl = `http://${listen.address}:${listen.port}`;
  const metricsPort = await freePort();
  const gatewaySettings = gatewaySettingsOf(site, options, { engineUrl, metricsPort });
  const agentSettings = agentSettingsOf(site, options, { engineUrl, metricsPort });
  const kills: (() => Promise<void>)[] = [];
  if (isApart) {
    const engine = await startEngineProcess(engineWords(site, listen));
    started.defer(engine.stop);
    const gateway = started.use(await startProgram("edge-agent/main.ts", "gateway", gatewaySettings));
    const agent = started.use(await startProgram("edge-agent/main.ts", "run", agentSettings));
    const killed =
      ({ pid }: { readonly pid: number }) =>
      async () =>
        void process.kill(pid, "SIGKILL");
    kills.push(engine.kill, killed(gateway), killed(agent));
  } else {
    const speed = { linMs: 1_000 / PREFILL_TOKENS_PER_SECOND, attnMs: 0 };
    const engine = { ...DEFAULT_ENGINE, speed, itlMs: ITL_MS, kvTokens: KV_TOKENS };
    started.use(await startSimulator({ region: site.id, listen, apiKey: ENGINE_KEY, engine }));
    started.defer(await startRegionGateway(GatewayConfig.parse(gatewaySettings), stores, silentLogger));
    const store = stores.open(`edge-agent/${site.id}`);
    started.defer(() => store.close());
    const parts = { clock: systemClock, log: silentLogger, metrics: createMetrics() };
    const agent = await startAgent(AgentConfig.parse(agentSettings), store, parts);
    started.defer(() => agent.stop());
  }
  const all = started.move();
  return {
    served: async () => {
      const state = (await (await fetch(`${engineUrl}/sim/state`)).json()) as SimState;
      return state.replicas
        .flatMap(({ counters }) => [counters.finished.stop, counters.finished.length])
        .reduce((sum, finished) => sum + finished, 0);
    },
    hold: async (waiting) => {
      const answer = await fetch(`${engineUrl}/sim/hold`, { method: "POST", body: JSON.stringify({ waiting }) });
      assert.equal(answer.status, 200, await answer.text());
    },
    kill: async () => {
      assert.ok(isApart, `${site.id} is not apart`);
      await Promise.all(kills.map((kill) => kill()));
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
};

type Ends = { readonly engineUrl: string; readonly metricsPort: number };

const SERVED = {
  id: SIMULATED_MODEL,
  prefill_tokens_per_second: PREFILL_TOKENS_PER_SECOND,
  kv_capacity_tokens: KV_TOKENS,
};

const gatewaySettingsOf = (site: SteeredRegionSite, { ports, files, stores }: RegionOptions, ends: Ends) => ({
  version: 1,
  region: site.id,
  gateway: `gateway-${site.id}`,
  zone: ZONE,
  pools: ["chat", "through"],
  hosts: [site.address],
  store: { url: stores.url },
  listen: [
    { address: `${site.address}:${ports.gateway}`, tls: true },
    { address: `${site.address}:${ports.plain}`, tls: false },
  ],
  tls: files.tls,
  keys: files.keys.gateway,
  engines: [{ url: ends.engineUrl, engine: "vllm", api_key_file: files.engineKeyFile }],
  models: [SERVED],
  drain: { linger: "0s", deadline: "5s" },
  metrics: { listen: `${site.address}:${ends.metricsPort}` },
});

const agentSettingsOf = (site: SteeredRegionSite, { files, stores }: RegionOptions, ends: Ends) => ({
  version: 1,
  region: site.id,
  agent: `agent-${site.id}`,
  store: { url: stores.url },
  report: { key_file: files.keys.reportFile },
  engines: [{ url: ends.engineUrl, engine: "vllm", api_key_file: files.engineKeyFile }],
  gateways: [{ url: `http://${site.address}:${ends.metricsPort}` }],
  gpus: { dcgm_url: `${ends.engineUrl}/dcgm/metrics` },
  models: [SERVED],
  metrics: { listen: "127.0.0.1:0" },
});

const engineWords = (site: SteeredRegionSite, listen: { address: string; port: number }): readonly string[] => [
  ...["--listen", `${listen.address}:${listen.port}`, "--region", site.id, "--api-key", ENGINE_KEY],
  ...["--model", SIMULATED_MODEL, "--alias", SIMULATED_ALIAS, "--replicas", "2", "--itl-ms", String(ITL_MS)],
  ...["--prefill-tokens-per-second", String(PREFILL_TOKENS_PER_SECOND), "--kv-tokens", String(KV_TOKENS)],
];
