/** Whether the store answers, how fast, and as what it presents itself. Pure. */
import type { StoreFacts } from "#shared/store-redis-facts.ts";
import type { Away, AwayCause } from "#shared/store-redis-facts-away.ts";
import type { ServerFacts } from "#shared/store-redis-facts-server.ts";
import { brief, type Finding, ok, problem, warning } from "./finding.ts";

export type RedisFacts = Extract<StoreFacts, { readonly kind: "redis" }>;

/** A DNS answer waits so long for a conversation that is not in memory, an HTTP answer so long (gtm/start.ts). */
const DNS_WAITS_MS = 10;
const HTTP_WAITS_MS = 50;
/** Older ones were not tried. */
const LEAST_VERSION = [6, 2] as const;

const CAUSES: Readonly<Record<AwayCause, readonly [what: string, remedy: string]>> = {
  refused: [
    "nobody listens there",
    "Start redis-server, or name another address in store.url; `ss -ltn` on its host shows what it listens to.",
  ],
  timeout: [
    "it does not answer in time",
    "Look whether the process hangs (`redis-cli ping` on its host), whether a firewall drops packets, and whether store.url should begin with redis instead of rediss or the other way round.",
  ],
  unresolved: ["its name leads nowhere", "Mend the host in store.url, or the name service of this host."],
  "no-route": ["there is no way to it", "Mend the route or the firewall between this host and the store."],
  closed: [
    "it closed the connection before it said anything",
    "If it speaks nothing but TLS, store.url must begin with rediss; if it asks for a certificate, set store.cert_file and store.key_file.",
  ],
  "no-tls": ["it does not speak TLS", "Set `tls-port` in redis.conf, or let store.url begin with redis."],
  "certificate-untrusted": [
    "its certificate is of an authority that is not trusted here",
    "Name the authority's certificate in store.ca_file.",
  ],
  "certificate-expired": [
    "its certificate is not valid now",
    "Renew the server's certificate (`tls-cert-file`), or set this host's clock.",
  ],
  "certificate-name": [
    "its certificate is of another name",
    "Use a name of the certificate in store.url, or add this one to its subjectAltName.",
  ],
  "certificate-wanted": [
    "it wants a certificate that it trusts",
    "Set store.cert_file and store.key_file to a pair that the server's `tls-ca-cert-file` signed.",
  ],
  tls: ["TLS fails", "Compare `tls-protocols` and `tls-ciphers` of redis.conf with what `openssl s_client` reports."],
  "wrong-password": [
    "it refuses the user or the password",
    "Compare store.username_file and store.password_file with the server's users (`redis-cli acl list`).",
  ],
  "no-credentials": [
    "it asks who speaks, and the configuration does not say",
    "Set store.username_file and store.password_file; deploy/redis/make-users.sh makes both sides.",
  ],
  "not-permitted": ["the user may not even ask for PING", "Give the user the rules of deploy/redis/acl/gtm.acl."],
  loading: ["it is reading its data from disk", "Wait; `redis-cli info persistence` says how much is left."],
  full: [
    "it takes no more clients",
    "Raise `maxclients` in redis.conf, or find who opens so many (`redis-cli client list`).",
  ],
  protected: [
    "in protected mode it speaks with its own host alone",
    "Give its users passwords, then set `protected-mode no` in redis.conf.",
  ],
  "not-a-cluster": ["it is no part of a Cluster", "Let store.url begin with redis instead of redis+cluster."],
  "no-primary": [
    "no Sentinel names a primary",
    "Put the name of `sentinel monitor` behind the slash of store.url, or start the Sentinels' primary.",
  ],
  "secret-unreadable": [
    "a file that it needs cannot be read",
    "Mend the path or the permissions; the user that runs the GTM must be able to read it.",
  ],
  other: ["it cannot be used", "Read what it said, and the log of the server."],
};

export const reachFindings = (facts: RedisFacts): readonly Finding[] => {
  if (facts.servers.length === 0 && facts.away !== null) return [awayFinding(facts.url, facts.away)];
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

const awayFinding = (place: string, away: Away): Finding => {
  const [what, remedy] = CAUSES[away.cause];
  return problem("store-away", `The store at ${place} is away: ${what} (${away.detail}).`, remedy);
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
