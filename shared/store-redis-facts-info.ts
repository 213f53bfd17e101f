/** What the reply to INFO says, by name and as numbers; null is what this server does not say. Pure. */

export type MemoryFacts = {
  /** 0: without a limit. */
  readonly maxBytes: number;
  /** `noeviction`, or who goes first. */
  readonly policy: string;
  readonly usedBytes: number;
  /** Of the machine or the container; null: not said. */
  readonly machineBytes: number | null;
  /** Since the server started. */
  readonly evictedKeys: number | null;
};

export type PersistenceFacts = {
  /** Snapshots: null where none was made yet and the configuration may not be read. */
  readonly savesSnapshots: boolean | null;
  readonly isLastSnapshotGood: boolean | null;
  readonly writesLog: boolean;
  readonly isLastLogWriteGood: boolean | null;
};

export type ReplicationFacts = {
  readonly role: "primary" | "replica";
  readonly replicas: readonly {
    /** host:port */
    readonly place: string;
    readonly state: string;
    /** Since it last acknowledged. */
    readonly lagSeconds: number | null;
  }[];
  /** Of a replica: whether it hears its primary. */
  readonly isLinkUp: boolean | null;
  /** Replicas without which the server takes no writes; null: not known. */
  readonly leastReplicas: number | null;
};

export type InfoFacts = {
  /** "7.0.15" */
  readonly version: string | null;
  readonly isClusterNode: boolean | null;
  readonly memory: MemoryFacts | null;
  readonly persistence: PersistenceFacts | null;
  readonly replication: ReplicationFacts | null;
  readonly rejectedConnections: number | null;
};

type Info = ReadonlyMap<string, string>;

/** @param text `name:value` lines; sections begin with # */
export const infoFactsIn = (text: string): InfoFacts => {
  const info: Info = new Map(
    text.split(/\r?\n/).flatMap((line) => {
      const at = line.indexOf(":");
      return at === -1 || line.startsWith("#") ? [] : [[line.slice(0, at), line.slice(at + 1)] as const];
    }),
  );
  const isCluster = info.get("cluster_enabled");
  return {
    version: info.get("redis_version") ?? null,
    isClusterNode: isCluster === undefined ? null : isCluster === "1",
    memory: memoryIn(info),
    persistence: persistenceIn(info),
    replication: replicationIn(info),
    rejectedConnections: numberIn(info, "rejected_connections"),
  };
};

const numberIn = (info: Info, name: string): number | null => {
  const text = info.get(name);
  return text === undefined || !/^\d+$/.test(text) ? null : Number(text);
};

const memoryIn = (info: Info): MemoryFacts | null => {
  const [maxBytes, usedBytes] = [numberIn(info, "maxmemory"), numberIn(info, "used_memory")];
  const policy = info.get("maxmemory_policy");
  if (maxBytes === null || usedBytes === null || policy === undefined) return null;
  const machineBytes = numberIn(info, "total_system_memory");
  return { maxBytes, policy, usedBytes, machineBytes, evictedKeys: numberIn(info, "evicted_keys") };
};

const persistenceIn = (info: Info): PersistenceFacts | null => {
  const log = info.get("aof_enabled");
  if (log === undefined) return null;
  const isGood = (name: string): boolean | null => (info.has(name) ? info.get(name) === "ok" : null);
  const saves = numberIn(info, "rdb_saves");
  return {
    savesSnapshots: saves !== null && saves > 0 ? true : null,
    isLastSnapshotGood: isGood("rdb_last_bgsave_status"),
    writesLog: log === "1",
    isLastLogWriteGood: isGood("aof_last_write_status"),
  };
};

const replicationIn = (info: Info): ReplicationFacts | null => {
  const role = info.get("role");
  if (role !== "master" && role !== "slave") return null;
  const link = info.get("master_link_status");
  return {
    role: role === "master" ? "primary" : "replica",
    replicas: [...info].filter(([name]) => /^slave\d+$/.test(name)).map(([, value]) => replicaIn(value)),
    isLinkUp: link === undefined ? null : link === "up",
    leastReplicas: null,
  };
};

/** "ip=10.0.0.2,port=6379,state=online,offset=1,lag=0" */
const replicaIn = (text: string): ReplicationFacts["replicas"][number] => {
  const fields = new Map(text.split(",").map((field) => field.split("=") as [string, string | undefined]));
  const lag = Number(fields.get("lag"));
  return {
    place: `${fields.get("ip") ?? "?"}:${fields.get("port") ?? "?"}`,
    state: fields.get("state") ?? "unknown",
    lagSeconds: Number.isFinite(lag) && lag >= 0 ? lag : null,
  };
};
