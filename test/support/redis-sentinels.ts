/** One Redis and its replica, watched by three Sentinels that fail over within seconds; disposable. */
import type { Certificates } from "./certificates.ts";
import { type RedisOptions, type RedisServer, startRedis } from "./redis.ts";
import type { Login } from "./redis-cli.ts";
import { until } from "./until.ts";

export type SentinelOptions = {
  /** Of the two servers. */
  readonly password?: string;
  /** Of the Sentinels. */
  readonly sentinelPassword?: string;
  /** Of the two servers, instead of a password. */
  readonly acl?: { readonly file: string } & Readonly<Record<"admin" | "replica" | "sentinel", Login>>;
  /** For servers and Sentinels. */
  readonly tls?: Certificates & { readonly asksClients?: boolean };
};

export type Sentinels = AsyncDisposable & {
  /** `redis+sentinel://…`, or `rediss+sentinel://`. */
  readonly url: string;
  readonly masterName: string;
  /** At the start; a failover swaps them. */
  readonly primary: RedisServer;
  readonly replica: RedisServer;
  readonly sentinels: readonly RedisServer[];
  /** Whom the Sentinels call the primary now. */
  readonly primaryNow: () => Promise<RedisServer>;
  readonly stop: () => Promise<void>;
};

const MASTER_NAME = "gtm";
const QUORUM = 2;
const SENTINEL_COUNT = 3;

/**
 * Production's periods would make every test wait for seconds. The period of pings stays: a replica whose INFO is older than
 * five of them is not promoted. A Sentinel that was not given the processor for two seconds distrusts its clock and does
 * nothing for thirty, which a busy machine must not bring about.
 */
const HASTE = ["INFO-PERIOD", "200", "PUBLISH-PERIOD", "100", "TILT-TRIGGER", "30000"];

/** @returns once the Sentinels agree on the primary and know the replica and one another */
export const startSentinels = async (options: SentinelOptions = {}): Promise<Sentinels> => {
  const { tls } = options;
  const started: RedisServer[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(started.map((one) => one.stop()));
  };
  const start = async (wish: RedisOptions): Promise<RedisServer> => {
    const server = await startRedis(tls === undefined ? wish : { ...wish, tls });
    started.push(server);
    return server;
  };
  try {
    const primary = await start(dataOptions(options, null));
    const replica = await start(dataOptions(options, primary.port));
    const isLinked = async (): Promise<boolean> =>
      /master_link_status:up/.test(await replica.cli("info", "replication"));
    await until(isLinked, "the replica's link");
    const watch = sentinelOptions(options, primary.port);
    const sentinels = await Promise.all(Array.from({ length: SENTINEL_COUNT }, () => start(watch)));
    await Promise.all(sentinels.map((one) => one.cli("sentinel", "debug", ...HASTE)));
    const whole = `status=ok,address=127.0.0.1:${primary.port},slaves=1,sentinels=${SENTINEL_COUNT}`;
    await until(async () => {
      const seen = await Promise.all(sentinels.map((one) => one.cli("info", "sentinel")));
      return seen.every((text) => text.includes(whole));
    }, "three Sentinels that agree");
    const servers = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(",");
    return {
      url: `${tls === undefined ? "redis" : "rediss"}+sentinel://${servers}/${MASTER_NAME}`,
      masterName: MASTER_NAME,
      ...{ primary, replica, sentinels },
      primaryNow: async () => {
        const port = await agreedPort(sentinels);
        return port === replica.port ? replica : primary;
      },
      stop,
      [Symbol.asyncDispose]: stop,
    };
  } catch (failed) {
    await stop();
    throw failed;
  }
};

const dataOptions = ({ password, acl }: SentinelOptions, primaryPort: number | null): RedisOptions => {
  const lines = ["repl-diskless-sync-delay 0", "repl-timeout 5"];
  if (primaryPort !== null) lines.push(`replicaof 127.0.0.1 ${primaryPort}`);
  if (password !== undefined) lines.push(`requirepass ${password}`, `masterauth ${password}`);
  if (acl !== undefined) lines.push(`masteruser ${acl.replica.user}`, `masterauth ${acl.replica.password}`);
  const config = `${lines.join("\n")}\n`;
  if (acl !== undefined) return { config, aclFile: acl.file, login: acl.admin };
  return password === undefined ? { config } : { config, login: { user: "default", password } };
};

const sentinelOptions = ({ password, sentinelPassword, acl }: SentinelOptions, primaryPort: number): RedisOptions => {
  const lines = [
    `sentinel monitor ${MASTER_NAME} 127.0.0.1 ${primaryPort} ${QUORUM}`,
    `sentinel down-after-milliseconds ${MASTER_NAME} 1000`,
    `sentinel failover-timeout ${MASTER_NAME} 2000`,
    `sentinel parallel-syncs ${MASTER_NAME} 1`,
  ];
  if (acl !== undefined) lines.push(`sentinel auth-user ${MASTER_NAME} ${acl.sentinel.user}`);
  const ofServers = acl?.sentinel.password ?? password;
  if (ofServers !== undefined) lines.push(`sentinel auth-pass ${MASTER_NAME} ${ofServers}`);
  // What they ask for, and what they tell one another.
  if (sentinelPassword !== undefined)
    lines.push(`requirepass ${sentinelPassword}`, `sentinel sentinel-pass ${sentinelPassword}`);
  const config = `${lines.join("\n")}\n`;
  const options = { config, args: ["--sentinel"] };
  return sentinelPassword === undefined
    ? options
    : { ...options, login: { user: "default", password: sentinelPassword } };
};

/** @throws {Error} when two of them name different ones */
const agreedPort = async (sentinels: readonly RedisServer[]): Promise<number> => {
  const named = await Promise.all(sentinels.map((one) => one.cli("sentinel", "get-master-addr-by-name", MASTER_NAME)));
  const ports = new Set(named.map((text) => Number(text.split("\n")[1])));
  const [port, ...others] = ports;
  if (port === undefined || others.length > 0) throw new Error(`the Sentinels disagree: ${[...ports].join(", ")}`);
  return port;
};
