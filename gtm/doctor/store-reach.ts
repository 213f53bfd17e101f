/** Whether the store answers, how fast, and as what it presents itself. Pure. */
import type { StoreFacts } from "#shared/store-redis-facts.ts";
import type { ServerFacts } from "#shared/store-redis-facts-server.ts";
import { brief, type Finding, ok, problem, warning } from "./finding.ts";
import { awayFinding, CAUSES, SENTINEL_PASSWORD_REMEDY } from "./store-away.ts";

export type RedisFacts = Extract<StoreFacts, { readonly kind: "redis" }>;

/** A DNS answer waits so long for a conversation that is not in memory, an HTTP answer so long (gtm/start.ts). */
const DNS_WAITS_MS = 10;
const HTTP_WAITS_MS = 50;
/** Older ones were not tried. */
const LEAST_VERSION = [6, 2] as const;

export const reachFindings = (facts: RedisFacts): readonly Finding[] => {
  if (facts.servers.length === 0 && facts.away !== null) {
    const finding = awayFinding(facts.url, facts.away);
    // Sentinels have a password of their own.
    const areLocked = facts.topology === "sentinel" && ["wrong-password", "no-credentials"].includes(facts.away.cause);
    return [areLocked ? { ...finding, remedy: SENTINEL_PASSWORD_REMEDY } : finding];
  }
  return facts.servers.flatMap((server) => serverFindings(server, facts.topology));
};

const serverFindings = (server: ServerFacts, topology: RedisFacts["topology"]): readonly Finding[] => {
  const { place, away, isExpected } = server;
  if (away !== null) {
    const [what, remedy] = CAUSES[away.cause];
    return isExpected
      ? [awayFinding(place, away)]
      : [warning("store-replica-away", `The replica ${place} is away: ${what} (${away.detail}).`, remedy)];
  }
  return [
    answerFinding(server),
    ...versionFindings(server),
    ...(isExpected && topology === "single" ? standingFindings(server) : []),
    ...rejectionFindings(server),
  ];
};

const answerFinding = ({ place, roundTripMs, version, isExpected }: ServerFacts): Finding => {
  const trip = roundTripMs ?? 0;
  const said = `${isExpected ? "" : "The replica "}${place} answers in ${brief(trip)}`;
  if (trip <= DNS_WAITS_MS || !isExpected) return ok("store-answers", `${said}; Redis ${version ?? "of no version"}.`);
  const remedy = "Put a Redis nearer to the GTMs, or ask what slows it down: `redis-cli slowlog get 10`.";
  if (trip <= HTTP_WAITS_MS) {
    return warning("store-slow", `${said}; a DNS answer waits ${DNS_WAITS_MS} ms for a conversation at most.`, remedy);
  }
  return problem("store-slow", `${said}; no answer waits longer than ${HTTP_WAITS_MS} ms for a conversation.`, remedy);
};

const versionFindings = ({ place, version }: ServerFacts): readonly Finding[] => {
  const [major = Number.NaN, minor = Number.NaN] = (version ?? "").split(".").map(Number);
  const [leastMajor, leastMinor] = LEAST_VERSION;
  if (Number.isNaN(major) || major > leastMajor || (major === leastMajor && minor >= leastMinor)) return [];
  const fails =
    major < 5
      ? "decisions cannot be kept, which need streams"
      : major < 6
        ? "neither users nor TLS exist"
        : "nothing is known to fail, and nothing was tried";
  return [
    warning(
      "store-too-old",
      `${place} is Redis ${version}, and ${LEAST_VERSION.join(".")} is the oldest that is supported: ${fails}.`,
      "Upgrade to Redis 7, which deploy/redis is written for.",
    ),
  ];
};

/** What one server may be that must not stand in such a URL. */
const standingFindings = ({ place, replication, isClusterNode }: ServerFacts): readonly Finding[] => [
  ...(replication?.role === "replica"
    ? [
        problem(
          "store-not-primary",
          `${place} is a replica: it answers reads and refuses every write.`,
          "Name the primary in store.url, or the Sentinels: redis+sentinel://host:26379,host:26379/primary-name.",
        ),
      ]
    : []),
  ...(isClusterNode === true
    ? [
        problem(
          "store-is-cluster-node",
          `${place} is a part of a Cluster: it refuses the keys of other parts.`,
          "Let store.url begin with redis+cluster and name some of its servers.",
        ),
      ]
    : []),
];

const rejectionFindings = ({ place, rejectedConnections }: ServerFacts): readonly Finding[] =>
  rejectedConnections === null || rejectedConnections === 0
    ? []
    : [
        warning(
          "store-rejected-connections",
          `${place} has turned away ${rejectedConnections} connections since it started, because it had maxclients already.`,
          "Raise `maxclients` in redis.conf and the limit of open files, or find who opens so many (`redis-cli client list`).",
        ),
      ];
