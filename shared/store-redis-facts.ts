/** What a store says of itself and of the way to it, for people: read once, by connections of its own. */
import type { Clock } from "./clock.ts";
import { OperationalError } from "./errors.ts";
import { type ClusterFacts, readClusterFacts } from "./store-redis-facts-cluster.ts";
import { type Away, createOpener, type OpenLink } from "./store-redis-facts-link.ts";
import { readSentinelFacts, type SentinelFacts } from "./store-redis-facts-sentinel.ts";
import { readServerFacts, type ServerFacts } from "./store-redis-facts-server.ts";
import type { ServerProbe } from "./store-redis-facts-user.ts";
import { type RedisSecrets, readRedisSecrets } from "./store-redis-secrets.ts";
import type { StoreSettings } from "./store-settings.ts";
import { parseStoreUrl, type RedisAddress, shownStoreUrl } from "./store-url.ts";

export type StoreFacts =
  | { readonly kind: "memory" }
  | {
      readonly kind: "redis";
      readonly topology: RedisAddress["kind"];
      /** Without its password. */
      readonly url: string;
      readonly isTls: boolean;
      /** Every address of the URL is this host's own. */
      readonly isLoopback: boolean;
      /** As configured; null: the server's `default`. */
      readonly username: string | null;
      /** Who was found to hold the data: the server, the primary and its replicas, or the Cluster's primaries. */
      readonly servers: readonly ServerFacts[];
      /** null: no Sentinels are configured. */
      readonly sentinels: SentinelFacts | null;
      /** null: no Cluster is configured. */
      readonly cluster: ClusterFacts | null;
      /** Why no server could be asked at all; null: one was. */
      readonly away: Away | null;
    };

export type StoreFactsOptions = {
  readonly clock: Clock;
  /** Of each question; a server that was silent once is asked nothing more. */
  readonly deadlineMs: number;
  /** What the program does in the store, as commands that change nothing. */
  readonly probes: readonly ServerProbe[];
};

/** Never rejects because Redis is away. */
export const readStoreFacts = async (settings: StoreSettings, options: StoreFactsOptions): Promise<StoreFacts> => {
  const address = parseStoreUrl(settings.url);
  if (address === null) throw new Error("readStoreFacts: the configuration's schema refuses such a URL");
  if (address.kind === "memory") return { kind: "memory" };
  const base = {
    kind: "redis",
    topology: address.kind,
    url: shownStoreUrl(settings.url),
    isTls: address.isTls,
    isLoopback: endpointsOf(address).every(({ host }) => isLoopback(host)),
    ...{ username: address.username, servers: [], sentinels: null, cluster: null, away: null },
  } as const;
  const secrets = secretsOf(settings, address);
  if ("cause" in secrets) return { ...base, away: secrets };
  const known = { ...base, username: secrets.username ?? null };
  return { ...known, ...(await foundAt(address, createOpener(secrets, options), options)) };
};

type Found = Pick<Extract<StoreFacts, { readonly kind: "redis" }>, "servers" | "away"> &
  Partial<Pick<Extract<StoreFacts, { readonly kind: "redis" }>, "sentinels" | "cluster">>;

const foundAt = async (address: RedisAddress, open: OpenLink, options: StoreFactsOptions): Promise<Found> => {
  switch (address.kind) {
    case "single": {
      const server = await readServerFacts(open, address.endpoint, { ...options, db: address.db, isExpected: true });
      return { servers: [server], away: server.away };
    }
    case "sentinel":
      return readSentinelFacts(open, address, options);
    case "cluster":
      return readClusterFacts(open, address.seeds, options);
  }
};

/** ::1, 127.0.0.0/8 and their names. */
export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);

const endpointsOf = (address: RedisAddress) => {
  switch (address.kind) {
    case "single":
      return [address.endpoint];
    case "sentinel":
      return address.sentinels;
    case "cluster":
      return address.seeds;
  }
};

const secretsOf = (settings: StoreSettings, address: RedisAddress): RedisSecrets | Away => {
  try {
    return readRedisSecrets(settings, address);
  } catch (fault) {
    if (fault instanceof OperationalError) return { cause: "secret-unreadable", detail: fault.message };
    throw fault;
  }
};
