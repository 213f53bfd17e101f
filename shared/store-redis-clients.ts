/** Connections to Redis as ioredis makes them: one for commands, one that listens to channels; each comes back by itself. */
import { Cluster, type ClusterOptions, Redis, type RedisOptions } from "ioredis";
import { OperationalError } from "./errors.ts";
import { isDemoted } from "./store-redis-errors.ts";
import { type RedisSecrets, readRedisSecrets } from "./store-redis-secrets.ts";
import type { StoreSettings } from "./store-settings.ts";
import type { RedisAddress } from "./store-url.ts";

export type RedisClients = {
  readonly commands: Redis | Cluster;
  readonly subscriber: Redis;
  /** Every connection that carries commands or messages now: what is asked of each shows whether it still answers. */
  readonly connections: () => readonly Redis[];
  /** They do not come back. */
  readonly close: () => void;
};

export type ClientOptions = {
  /** How `CLIENT LIST` shows the connections. */
  readonly name: string;
  /** A connection could not be made or was lost; it is tried again. */
  readonly onFault: (fault: Error) => void;
  /** 0 to 1. */
  readonly random: () => number;
};

/** ioredis types replies by how they are mapped, which is said once. */
type Where = Omit<RedisOptions, "replyMapping">;

const LEAST_BACKOFF_MS = 100;
/** A store that is back is found within this; a hundred programs that lost it do not come in the same moment. */
const MOST_BACKOFF_MS = 2_000;
/** In deadlines: a connection that was silent for so long, though something was asked of it, is made anew. */
const SILENT_DEADLINES = 4;
const LEAST_SILENCE_MS = 1_000;
const CONNECT_TIMEOUT_MS = 2_000;
/** A lost slot must fail within a deadline or two, not after ioredis's 16 attempts. */
const MOST_REDIRECTIONS = 4;
const RETRY_IN_CLUSTER_MS = 100;
const SLOTS_REFRESHED_EVERY_MS = 2_000;

/** Between half of the step and all of it; steps double up to the cap. @param attempt from 1 */
export const backoffMs = (attempt: number, random: () => number): number => {
  const stepMs = Math.min(MOST_BACKOFF_MS, LEAST_BACKOFF_MS * 2 ** Math.min(attempt - 1, 16));
  return Math.round(stepMs / 2 + (random() * stepMs) / 2);
};

export const createRedisClients = (
  address: RedisAddress,
  settings: StoreSettings,
  options: ClientOptions,
): RedisClients => {
  const { onFault, random } = options;
  /** Of a file that cannot be read now, the last that could be is used: the connection says whether it still opens. */
  let secrets: RedisSecrets | null = null;
  const currentSecrets = (): RedisSecrets => {
    try {
      secrets = readRedisSecrets(settings, address);
    } catch (fault) {
      if (!(fault instanceof OperationalError)) throw fault;
      onFault(fault);
    }
    return secrets ?? { username: undefined, password: undefined, sentinelPassword: undefined, tls: undefined };
  };
  const common = (suffix: string): RedisOptions & { readonly replyMapping: "legacy" } => ({
    connectionName: `${options.name}${suffix}`,
    lazyConnect: true,
    // Users that may do no more than they must are refused it, which a server would log at each connect.
    disableClientInfo: true,
    connectTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: Math.max(LEAST_SILENCE_MS, settings.deadline * SILENT_DEADLINES),
    // What is not answered fails by its deadline: nothing is kept for later here, the datalayer knows what is worth it.
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    // store-redis-channels asks for them, and hears when that fails.
    autoResubscribe: false,
    maxRetriesPerRequest: 0,
    reconnectOnError: isDemoted,
    // Replies of one shape from every version.
    protocol: 2,
    replyMapping: "legacy",
    ...secretOptions(currentSecrets()),
  });

  let isClosed = false;
  const connect = (client: Redis | Cluster): void => {
    // Its failure is an event, too, and it goes on trying.
    client.connect().catch(() => undefined);
  };
  /**
   * A failover that Sentinels tell of while a connection is being made ends it in ioredis 6.0 ("Connection is closed."), and what has
   * ended it does not try again, whatever the retry strategy says.
   */
  const comeBack = (redis: Redis): void => {
    const again = (): void => {
      if (!isClosed && redis.status === "end") connect(redis);
    };
    redis.on("end", () => {
      if (!isClosed) setTimeout(again, backoffMs(1, random)).unref();
    });
  };

  /** One server, or the primary that Sentinels name. */
  const plain = (suffix: string, where: Where, beforeRetry: (redis: Redis) => void): Redis => {
    const redis: Redis = new Redis({
      ...common(suffix),
      ...where,
      retryStrategy: (attempt) => {
        Object.assign(redis.options, secretOptions(currentSecrets()));
        beforeRetry(redis);
        return backoffMs(attempt, random);
      },
    });
    redis.on("error", onFault);
    comeBack(redis);
    return redis;
  };
  const closing = (clients: readonly (Redis | Cluster)[]) => (): void => {
    isClosed = true;
    for (const client of clients) client.disconnect();
  };

  if (address.kind !== "cluster") {
    const where = placeOf(address, random);
    const commands = plain("", { ...where, enableAutoPipelining: true }, () => undefined);
    const subscriber = plain("-channels", where, () => undefined);
    connect(commands);
    connect(subscriber);
    return {
      ...{ commands, subscriber, connections: () => [commands, subscriber] },
      close: closing([commands, subscriber]),
    };
  }

  const { enableOfflineQueue: _, ...nodeOptions } = common("");
  const clusterOptions: ClusterOptions & { readonly redisOptions: { readonly replyMapping: "legacy" } } = {
    redisOptions: nodeOptions,
    lazyConnect: true,
    enableOfflineQueue: false,
    enableAutoPipelining: true,
    // With a slot uncovered `CLUSTER INFO` may say "fail", and the other slots answer all the same.
    enableReadyCheck: false,
    maxRedirections: MOST_REDIRECTIONS,
    retryDelayOnFailover: RETRY_IN_CLUSTER_MS,
    retryDelayOnClusterDown: RETRY_IN_CLUSTER_MS,
    slotsRefreshInterval: SLOTS_REFRESHED_EVERY_MS,
    slotsRefreshTimeout: CONNECT_TIMEOUT_MS,
    clusterRetryStrategy: (attempt) => backoffMs(attempt, random),
  };
  const commands = new Cluster([...address.seeds], clusterOptions);
  // Before it connects: nodes are made anew, from options that ioredis copied at the start.
  commands.on("+node", (node: Redis) => Object.assign(node.options, secretOptions(currentSecrets())));
  commands.on("error", onFault);
  commands.on("node error", onFault);
  // ioredis's own subscriber of a Cluster does not notice a node that hangs: this one is asked like the others are.
  let seed = Math.floor(random() * address.seeds.length);
  const subscriber = plain("-channels", { ...address.seeds[seed] }, (redis) => {
    seed = (seed + 1) % address.seeds.length;
    Object.assign(redis.options, address.seeds[seed]);
  });
  connect(commands);
  connect(subscriber);
  return {
    ...{ commands, subscriber, connections: () => [...commands.nodes("master"), subscriber] },
    close: closing([commands, subscriber]),
  };
};

const placeOf = (address: Exclude<RedisAddress, { readonly kind: "cluster" }>, random: () => number): Where =>
  address.kind === "single"
    ? { ...address.endpoint, db: address.db }
    : {
        sentinels: [...address.sentinels],
        name: address.name,
        db: address.db,
        failoverDetector: true,
        enableTLSForSentinelMode: address.isTls,
        sentinelCommandTimeout: CONNECT_TIMEOUT_MS,
        sentinelRetryStrategy: (attempt) => backoffMs(attempt, random),
      };

const secretOptions = ({ username, password, sentinelPassword, tls }: RedisSecrets): Where => ({
  ...(username === undefined ? {} : { username }),
  ...(password === undefined ? {} : { password }),
  ...(sentinelPassword === undefined ? {} : { sentinelPassword }),
  ...(tls === undefined ? {} : { tls, sentinelTLS: tls }),
});
