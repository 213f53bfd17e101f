/** A region: an engine that may die, the network to it, which may be cut, and `edge-agent run` beside it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type RunningSimulator, startSimulator } from "#test/support/engine-simulators.ts";
import { freePort } from "#test/support/free-port.ts";
import { type Partition, startPartition } from "#test/support/partition.ts";
import { type Child, startChild } from "./child.ts";
import { agentYaml, type Place } from "./settings.ts";

export type RegionProcess = {
  readonly id: string;
  /** What clients and probes know. */
  readonly origin: string;
  /** Where its engine listens. */
  readonly engineUrl: string;
  /** @param words what follows `node`, given its configuration file; absent: `edge-agent run` */
  readonly startAgent: (words?: (config: string) => readonly string[]) => Promise<void>;
  readonly stopAgent: () => Promise<void>;
  /** Its port is refused from now on. */
  readonly die: () => Promise<void>;
  readonly isDead: () => boolean;
  readonly revive: () => Promise<void>;
  /** Connections to it hear nothing; its agent still does, and reports. */
  readonly silence: () => void;
  readonly hear: () => void;
  readonly stop: () => Promise<void>;
};

const edgeAgentRun = (config: string): readonly string[] => ["edge-agent/main.ts", "run", "--config", config];

/** Its engine runs, its agent does not yet. @param keyFile null: its agent does not sign */
export const startRegion = async (
  place: Place,
  {
    folder,
    storeUrl,
    keyFile,
  }: { readonly folder: string; readonly storeUrl: string; readonly keyFile: string | null },
): Promise<RegionProcess> => {
  const port = await freePort();
  const startEngine = (): Promise<RunningSimulator> =>
    startSimulator({ region: place.id, listen: { address: "127.0.0.1", port }, drainMs: 0 });
  const engineUrl = `http://127.0.0.1:${port}`;
  const config = join(folder, `agent-${place.id}.yaml`);
  writeFileSync(config, agentYaml({ region: place.id, storeUrl, engineUrl, keyFile }));
  let engine: RunningSimulator | null = await startEngine();
  const network: Partition = await startPartition(port);
  let agent: Child | null = null;

  const die = async (): Promise<void> => {
    const dying = engine;
    engine = null;
    await dying?.[Symbol.asyncDispose]();
  };
  const stopAgent = async (): Promise<void> => {
    if (agent?.hasEnded() === false) await agent.kill("SIGTERM");
  };
  return {
    id: place.id,
    origin: `http://127.0.0.1:${network.port}`,
    engineUrl,
    startAgent: async (words = edgeAgentRun) => {
      agent = startChild(words(config), () => {});
      await agent.heard("process.started");
    },
    stopAgent,
    die,
    isDead: () => engine === null,
    revive: async () => {
      engine = await startEngine();
    },
    silence: network.cut,
    hear: network.heal,
    stop: async () => {
      await stopAgent();
      network.heal();
      await network.stop();
      await die();
    },
  };
};
