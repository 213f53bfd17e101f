/** One region of the demo: an engine as a child process and the agent beside it. */
import { request } from "undici";
import { type RunningAgent, startAgent } from "#edge-agent/start-agent.ts";
import { systemClock } from "#shared/clock.ts";
import type { Logger } from "#shared/logger.ts";
import { createMetrics } from "#shared/metrics.ts";
import { type EngineProcess, startEngineProcess } from "./engine-process.ts";
import type { DemoKeys } from "./keys.ts";
import type { Place } from "./places.ts";
import { agentConfigOf, agentIdOf, engineArgs, engineUrl } from "./settings.ts";
import type { DemoStores } from "./stores.ts";

export type RunningRegion = {
  /** Ends the engine as a power cut would, and the agent with it. */
  readonly kill: () => Promise<void>;
  readonly stop: () => Promise<void>;
};

export type RegionOptions = {
  readonly enginePort: number;
  readonly keys: DemoKeys;
  readonly stores: DemoStores;
  readonly log: Logger;
};

/** @throws {OperationalError} when the engine does not start */
export const startRegion = async (place: Place, options: RegionOptions): Promise<RunningRegion> => {
  const { enginePort, keys, stores, log } = options;
  const engine: EngineProcess = await startEngineProcess(engineArgs(place, enginePort));
  const store = stores.open(`edge-agent/${place.region}/${agentIdOf(place)}`);
  const config = agentConfigOf(place, { enginePort, keyFile: keys.agentFile(place.region), storeUrl: stores.url });
  let agent: RunningAgent;
  try {
    agent = await startAgent(config, store, { clock: systemClock, log, metrics: createMetrics() });
  } catch (fault) {
    await Promise.all([engine.stop(), store.close()]);
    throw fault;
  }
  const endAgent = async (): Promise<void> => {
    await agent.stop();
    await store.close();
  };
  return {
    kill: async () => {
      await engine.kill();
      await endAgent();
    },
    stop: async () => {
      await endAgent();
      await engine.stop();
    },
  };
};

/** Keeps so many fillers in the queue of each of the engine's replicas. @throws {Error} quoting what it answered */
export const holdFillers = async (place: Place, enginePort: number, waiting: number): Promise<void> => {
  const { statusCode, body } = await request(`${engineUrl(place, enginePort)}/sim/hold`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ waiting }),
  });
  const said = await body.text();
  if (statusCode !== 200) throw new Error(`the engine simulator answered ${statusCode}: ${said}`);
};
