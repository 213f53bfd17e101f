/** One region of the demo: an engine as a child process, the gateway before it, the agent beside both. */
import { request } from "undici";
import { startAgent } from "#edge-agent/start-agent.ts";
import { systemClock } from "#shared/clock.ts";
import type { Logger } from "#shared/logger.ts";
import { createMetrics } from "#shared/metrics.ts";
import { startEngineProcess } from "./engine-process.ts";
import { engineArgs, engineUrl } from "./engines.ts";
import { startRegionGateway } from "./gateway.ts";
import type { RegionPorts, Site } from "./places.ts";
import { agentConfigOf, agentIdOf, gatewayConfigOf, type RegionWish } from "./settings.ts";
import type { DemoStores } from "./stores.ts";

export type RunningRegion = {
  /** Ends the engine as a power cut would, and the others with it. */
  readonly kill: () => Promise<void>;
  readonly stop: () => Promise<void>;
};

export type RegionOptions = RegionWish & { readonly stores: DemoStores; readonly log: Logger };

/** @throws {OperationalError} when a part does not start; what had started is stopped again */
export const startRegion = async (site: Site, options: RegionOptions): Promise<RunningRegion> => {
  const { stores, log } = options;
  const engine = await startEngineProcess(engineArgs(site, options.ports));
  /** In the order to stop them. */
  const others: (() => Promise<void>)[] = [];
  const endOthers = async (): Promise<void> => {
    for (const end of others.splice(0)) await end();
  };
  try {
    others.unshift(await startRegionGateway(gatewayConfigOf(site, options), stores, log));
    others.unshift(await startRegionAgent(site, options));
  } catch (fault) {
    await Promise.all([engine.stop(), endOthers()]);
    throw fault;
  }
  return {
    kill: async () => {
      await Promise.all([engine.kill(), endOthers()]);
    },
    stop: async () => {
      await endOthers();
      await engine.stop();
    },
  };
};

/** @returns what stops it */
const startRegionAgent = async (site: Site, options: RegionOptions): Promise<() => Promise<void>> => {
  const { stores, log } = options;
  const store = stores.open(`edge-agent/${site.region}/${agentIdOf(site)}`);
  const parts = { clock: systemClock, log, metrics: createMetrics() };
  const agent = await startAgent(agentConfigOf(site, options), store, parts).catch(async (fault) => {
    await store.close();
    throw fault;
  });
  return async () => {
    await agent.stop();
    await store.close();
  };
};

/** Keeps so many fillers in the queue of each of the engine's replicas. @throws {Error} quoting what it answered */
export const holdFillers = async (site: Site, ports: RegionPorts, waiting: number): Promise<void> => {
  const { statusCode, body } = await request(`${engineUrl(site, ports)}/sim/hold`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ waiting }),
  });
  const said = await body.text();
  if (statusCode !== 200) throw new Error(`the engine simulator answered ${statusCode}: ${said}`);
};
