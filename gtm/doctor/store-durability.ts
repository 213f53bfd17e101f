/** What is left of the store's data when a server dies: on disk, at replicas, or with the GTMs alone. Pure. */
import type { ReplicationFacts } from "#shared/store-redis-facts-info.ts";
import type { ServerFacts } from "#shared/store-redis-facts-server.ts";
import { counted, type Finding, ok, unknown, warning } from "./finding.ts";
import type { RedisFacts } from "./store-reach.ts";

/** Replicas acknowledge each second. */
const LAGGING_SECONDS = 10;

export const durabilityFindings = ({ servers }: RedisFacts): readonly Finding[] =>
  servers.filter(({ away, isExpected }) => away === null && isExpected).flatMap(ofServer);

const ofServer = (server: ServerFacts): readonly Finding[] => [
  survivalFinding(server),
  ...diskFindings(server),
  ...replicaFindings(server.place, server.replication),
];

const survivalFinding = ({ place, persistence, replication, why }: ServerFacts): Finding => {
  const replicas = replication?.replicas.length ?? 0;
  const keeps = [
    ...(replicas > 0 ? [counted(replicas, "replica")] : []),
    ...(persistence?.writesLog === true ? ["an append-only file"] : []),
    ...(persistence?.savesSnapshots === true ? ["snapshots"] : []),
  ];
  if (keeps.length > 0) return ok("store-survives", `${place} has ${keeps.join(" and ")}.`);
  const alone = "no replica and no append-only file";
  if (persistence?.savesSnapshots !== false) {
    const reason = why["settings"] ?? "INFO does not say";
    return unknown("store-survives", `${place} has ${alone}; whether it makes snapshots is not known: ${reason}.`);
  }
  return warning(
    "store-volatile",
    `${place} has ${alone} and makes no snapshots: when it dies, pins are what the GTMs still have in memory.`,
    "Start a replica (`replicaof HOST PORT` in its redis.conf) and three Sentinels, as deploy/redis describes.",
  );
};

const diskFindings = ({ place, persistence }: ServerFacts): readonly Finding[] => {
  const remedy = "Make room on its disk and look at its permissions; the server's log has the reason.";
  const failed = (id: string, what: string): readonly Finding[] => [warning(id, `${place}: ${what}.`, remedy)];
  return [
    ...(persistence?.isLastSnapshotGood === false ? failed("store-snapshot-failed", "the last snapshot failed") : []),
    ...(persistence?.isLastLogWriteGood === false
      ? failed("store-log-failed", "the last write to the append-only file failed")
      : []),
  ];
};

const replicaFindings = (place: string, replication: ReplicationFacts | null): readonly Finding[] => {
  if (replication === null) return [];
  const { replicas, leastReplicas } = replication;
  const good = replicas.filter(({ state, lagSeconds }) => state === "online" && (lagSeconds ?? 0) <= LAGGING_SECONDS);
  const late = replicas.filter((one) => !good.includes(one));
  return [
    ...late.map((one) =>
      warning(
        "store-replica-late",
        `The replica ${one.place} is ${one.state} and ${one.lagSeconds === null ? "has never acknowledged" : `acknowledged ${one.lagSeconds} s ago`}: a failover to it loses pins.`,
        "`redis-cli info replication` on both; look at the network between them and at `client-output-buffer-limit replica`.",
      ),
    ),
    ...(leastReplicas !== null && leastReplicas > good.length
      ? [
          warning(
            "store-too-few-replicas",
            `${place} takes writes only with ${counted(leastReplicas, "replica")}, and has ${good.length}.`,
            "Start the replicas, or `redis-cli config set min-replicas-to-write 0`.",
          ),
        ]
      : []),
  ];
};
