/** Facts as a healthy store gives them; a test names what is amiss. */
import type { Finding, Severity } from "#gtm/doctor/finding.ts";
import type { RedisFacts } from "#gtm/doctor/store-reach.ts";
import type { SentinelFact } from "#shared/store-redis-facts-sentinel.ts";
import type { ServerFacts } from "#shared/store-redis-facts-server.ts";

export const aServer = (wish: Partial<ServerFacts> = {}): ServerFacts => ({
  place: "192.0.2.1:6379",
  isExpected: true,
  away: null,
  roundTripMs: 0.4,
  version: "7.0.15",
  isClusterNode: false,
  memory: {
    maxBytes: 1_000_000_000,
    policy: "noeviction",
    usedBytes: 200_000_000,
    machineBytes: 8_000_000_000,
    evictedKeys: 0,
  },
  persistence: { savesSnapshots: false, isLastSnapshotGood: true, writesLog: false, isLastLogWriteGood: true },
  replication: {
    role: "primary",
    replicas: [{ place: "192.0.2.2:6379", state: "online", lagSeconds: 0 }],
    isLinkUp: null,
    leastReplicas: 0,
  },
  rejectedConnections: 0,
  clock: { aheadMs: 3, errorMs: 0.2 },
  isOpenToAll: false,
  user: { name: "gtm", refused: [], writeFault: null },
  channelLimit: { hardBytes: 8e6, softBytes: 2e6, softSeconds: 10 },
  slots: null,
  why: {},
  ...wish,
});

export const storeFacts = (servers: readonly ServerFacts[], wish: Partial<RedisFacts> = {}): RedisFacts => ({
  kind: "redis",
  topology: "single",
  url: "rediss://gtm@192.0.2.1:6379",
  isTls: true,
  isLoopback: false,
  username: "gtm",
  servers,
  sentinels: null,
  cluster: null,
  away: servers[0]?.away ?? null,
  ...wish,
});

export const aSentinel = (wish: Partial<SentinelFact> = {}): SentinelFact => ({
  place: "192.0.2.11:26379",
  away: null,
  primary: "192.0.2.1:6379",
  replicas: [],
  hasQuorum: true,
  quorumSays: "OK 3 usable Sentinels",
  ...wish,
});

/** "warning store-slow", in order, without what is in order. */
export const faultsIn = (findings: readonly Finding[]): readonly string[] =>
  findings.filter(({ severity }) => severity !== "ok").map(({ severity, id }) => `${severity} ${id}`);

export const severitiesIn = (findings: readonly Finding[]): ReadonlySet<Severity> =>
  new Set(findings.map(({ severity }) => severity));
