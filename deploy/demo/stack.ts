/** Everything the demo runs: three engines as child processes, an agent beside each, and the GTM, on one store in memory. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { request } from "undici";
import { type RunningAgent, startAgent } from "#edge-agent/start-agent.ts";
import { type Gtm, startGtm } from "#gtm/start.ts";
import { hashOfToken } from "#gtm/wire/admin/token.ts";
import { tokenLine } from "#gtm/wire/admin/tokens-file.ts";
import { systemClock } from "#shared/clock.ts";
import type { Logger } from "#shared/logger.ts";
import { createMetrics } from "#shared/metrics.ts";
import type { Store } from "#shared/store.ts";
import { createMemoryStore } from "#shared/store-memory.ts";
import { type AdminApi, adminApi } from "./admin.ts";
import { type EngineProcess, startEngineProcess } from "./engine-process.ts";
import { PLACES, type Place, type Ports, placeOf } from "./places.ts";
import { agentConfigOf, engineArgs, engineUrl, gtmConfigAt } from "./settings.ts";

export type Stack = {
  readonly ports: Ports;
  readonly frontUrl: string;
  /** As node:dns takes it. */
  readonly dnsServer: string;
  readonly admin: AdminApi;
  /** Keeps so many fillers in the queue of each of the region's replicas. */
  readonly hold: (region: string, waiting: number) => Promise<void>;
  /** Ends the region's engine as a power cut would, and its agent with it. */
  readonly kill: (region: string) => Promise<void>;
  readonly revive: (region: string) => Promise<void>;
  readonly stop: () => Promise<void>;
};

export type StackOptions = { readonly ports: Ports; readonly token: string; readonly log: Logger };

type RunningRegion = { readonly engine: EngineProcess; readonly agent: RunningAgent };

/** @throws {OperationalError | Error} when a part does not start; what had started is stopped again */
export const startStack = async (options: StackOptions): Promise<Stack> => {
  const { ports, token, log } = options;
  const store = createMemoryStore(systemClock);
  const folder = mkdtempSync(join(tmpdir(), "llm-gtm-demo-"));
  const regions = new Map<string, RunningRegion>();
  let gtm: Gtm | null = null;
  const stop = async (): Promise<void> => {
    await gtm?.stop();
    await Promise.all([...regions.values()].map(stopRegion));
    regions.clear();
    rmSync(folder, { recursive: true, force: true });
    await store.close();
  };
  try {
    const tokensFile = join(folder, "tokens.yaml");
    writeFileSync(tokensFile, `${tokenLine({ name: "demo", role: "admin", sha256: hashOfToken(token) })}\n`);
    // All of them settle before one that failed is told: nothing may start behind the back of `stop`.
    const started = await Promise.allSettled(
      PLACES.map(async (place) => {
        regions.set(place.region, await startRegion(place, ports, store, log));
      }),
    );
    for (const one of started) if (one.status === "rejected") throw one.reason;
    gtm = await startGtm(gtmConfigAt(ports, tokensFile), store, { clock: systemClock, log, metrics: createMetrics() });
  } catch (fault) {
    await stop();
    throw fault;
  }
  return {
    ports,
    frontUrl: `http://127.0.0.1:${ports.http}`,
    dnsServer: `127.0.0.1:${ports.dns}`,
    admin: adminApi(`http://127.0.0.1:${ports.admin}`, token),
    hold: (region, waiting) => holdFillers(engineUrl(placeOf(region), ports), waiting),
    kill: async (region) => {
      const running = regions.get(region);
      regions.delete(region);
      await running?.engine.kill();
      await running?.agent.stop();
    },
    revive: async (region) => {
      regions.set(region, await startRegion(placeOf(region), ports, store, log));
    },
    stop,
  };
};

const startRegion = async (place: Place, ports: Ports, store: Store, log: Logger): Promise<RunningRegion> => {
  const engine = await startEngineProcess(engineArgs(place, ports));
  try {
    const agent = await startAgent(agentConfigOf(place, ports), store, {
      clock: systemClock,
      log,
      metrics: createMetrics(),
    });
    return { engine, agent };
  } catch (fault) {
    await engine.stop();
    throw fault;
  }
};

const stopRegion = async ({ engine, agent }: RunningRegion): Promise<void> => {
  await agent.stop();
  await engine.stop();
};

const holdFillers = async (url: string, waiting: number): Promise<void> => {
  const { statusCode, body } = await request(`${url}/sim/hold`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ waiting }),
  });
  const said = await body.text();
  if (statusCode !== 200) throw new Error(`the engine simulator answered ${statusCode}: ${said}`);
};
