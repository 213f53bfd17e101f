/** A Redis Cluster of three primaries without replicas: one that dies takes its third of the slots along. Disposable. */
import { freePort } from "./free-port.ts";
import { type RedisOptions, type RedisServer, startRedis } from "./redis.ts";
import { SLOT_COUNT, slotOf } from "./redis-slot.ts";
import { until } from "./until.ts";

export type ClusterOptions = Pick<RedisOptions, "args" | "aclFile" | "login" | "tls">;

export type Cluster = AsyncDisposable & {
  /** `redis+cluster://…`, or `rediss+cluster://`. */
  readonly url: string;
  readonly nodes: readonly RedisServer[];
  /** Of the node at this place, both ends included. */
  readonly slotsOf: (at: number) => { readonly first: number; readonly last: number };
  readonly nodeOf: (key: string) => RedisServer;
  readonly stop: () => Promise<void>;
};

const NODE_COUNT = 3;
const SETTINGS = [
  ...["--cluster-enabled", "yes", "--cluster-config-file", "nodes.conf", "--cluster-node-timeout", "1500"],
  // Lost slots are degraded, the rest works.
  ...["--cluster-require-full-coverage", "no"],
];

/** @returns once every node says `cluster_state:ok` with every slot served */
export const startCluster = async (options: ClusterOptions = {}): Promise<Cluster> => {
  const started: { readonly server: RedisServer; readonly busPort: number }[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(started.map(({ server }) => server.stop()));
  };
  try {
    for (let at = 0; at < NODE_COUNT; at += 1) {
      const busPort = await freePort();
      const args = [...SETTINGS, "--cluster-port", String(busPort), ...(options.args ?? [])];
      started.push({ server: await startRedis({ ...options, args }), busPort });
    }
    const nodes = started.map(({ server }) => server);
    await join(started);
    await until(async () => {
      const seen = await Promise.all(nodes.map((node) => node.cli("cluster", "info")));
      return seen.every((text) => IS_WHOLE.every((line) => text.includes(line)));
    }, "a whole cluster");
    const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`).join(",");
    return {
      url: `${options.tls === undefined ? "redis" : "rediss"}+cluster://${addresses}`,
      nodes,
      slotsOf,
      nodeOf: (key) => {
        const slot = slotOf(key);
        const node = nodes.find((_, at) => slot >= slotsOf(at).first && slot <= slotsOf(at).last);
        if (node === undefined) throw new Error(`nobody has slot ${slot}`);
        return node;
      },
      stop,
      [Symbol.asyncDispose]: stop,
    };
  } catch (failed) {
    await stop();
    throw failed;
  }
};

const IS_WHOLE = ["cluster_state:ok", `cluster_slots_ok:${SLOT_COUNT}`, `cluster_known_nodes:${NODE_COUNT}`];

const slotsOf = (at: number): { readonly first: number; readonly last: number } => ({
  first: Math.floor((at * SLOT_COUNT) / NODE_COUNT),
  last: Math.floor(((at + 1) * SLOT_COUNT) / NODE_COUNT) - 1,
});

const join = async (nodes: readonly { readonly server: RedisServer; readonly busPort: number }[]): Promise<void> => {
  for (const [at, { server }] of nodes.entries()) {
    const { first, last } = slotsOf(at);
    await server.cli("cluster", "set-config-epoch", String(at + 1));
    await server.cli("cluster", "addslotsrange", String(first), String(last));
  }
  const [{ server: first } = { server: null }, ...others] = nodes;
  for (const { server, busPort } of others) {
    await first?.cli("cluster", "meet", "127.0.0.1", String(server.port), String(busPort));
  }
};
