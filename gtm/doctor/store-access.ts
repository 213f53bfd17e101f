/** Who may speak with the store, how openly, and whether the GTM's user may do all it has to. Pure. */
import type { ServerFacts } from "#shared/store-redis-facts-server.ts";
import { type Finding, ok, problem, unknown, warning } from "./finding.ts";
import type { RedisFacts } from "./store-reach.ts";

export const accessFindings = (facts: RedisFacts): readonly Finding[] => {
  const answering = facts.servers.filter(({ away }) => away === null);
  if (answering.length === 0) return [];
  return [
    encryptionFinding(facts),
    ...answering.flatMap((server) => openFindings(server, facts.isLoopback)),
    ...answering.filter(({ isExpected }) => isExpected).flatMap(permissionFindings),
  ];
};

const encryptionFinding = ({ isTls, isLoopback, url }: RedisFacts): Finding => {
  if (isTls) return ok("store-encrypted", "The connection is encrypted, and the server's certificate was verified.");
  if (isLoopback) return ok("store-encrypted", "The connection is not encrypted and stays on this host.");
  return warning(
    "store-unencrypted",
    `The way to ${url} is not encrypted: passwords, reports and conversations can be read and changed on it.`,
    "Set `tls-port` in redis.conf as in deploy/redis, let store.url begin with rediss, and name the authority in store.ca_file.",
  );
};

const openFindings = ({ place, isOpenToAll }: ServerFacts, isLoopback: boolean): readonly Finding[] => {
  if (isOpenToAll === null) return [unknown("store-open-to-all", `Whether ${place} asks for a password is not known.`)];
  if (!isOpenToAll) return [ok("store-users", `${place} answers nobody without a password.`)];
  const what = `${place} answers whoever connects, without a password`;
  if (isLoopback) return [ok("store-users", `${what}, and is on this host.`)];
  return [
    problem(
      "store-open-to-all",
      `${what}: whoever reaches it can order regions down.`,
      "Make users with deploy/redis/make-users.sh, set `aclfile` in redis.conf, and name the password in store.password_file.",
    ),
  ];
};

const permissionFindings = ({ place, user, why }: ServerFacts): readonly Finding[] => {
  if (user === null) {
    return [
      unknown("store-permissions", `Whether the user may do all it has to at ${place} is not known: ${why["user"]}.`),
    ];
  }
  const name = user.name === null ? "The user" : `The user ${user.name}`;
  const refused = user.refused;
  return [
    refused.length === 0
      ? ok("store-permissions", `${name} may do all that a GTM does at ${place}.`)
      : problem(
          "store-permissions",
          `${name} may not do at ${place}: ${refused.join(", ")}.`,
          "Give it the rules of deploy/redis/acl/gtm.acl: deploy/redis/make-users.sh, then `redis-cli acl load`.",
        ),
    ...(user.writeFault === null
      ? []
      : [
          problem("store-refuses-writes", `${place} takes no writes: ${user.writeFault}`, writeRemedy(user.writeFault)),
        ]),
  ];
};

const WRITE_REMEDIES: readonly (readonly [RegExp, string])[] = [
  [/^OOM/, "Raise `maxmemory` (`redis-cli config set maxmemory 2gb`); nothing can be pinned until then."],
  [/^MISCONF/, "Make room on the server's disk, or turn snapshots off: `redis-cli config set save ''`."],
  [/^READONLY/, "Name the primary in store.url: this is a replica."],
  [/^NOREPLICAS/, "Start the replicas, or `redis-cli config set min-replicas-to-write 0`."],
  [
    /^CLUSTERDOWN/,
    "Start the lost primaries, and set `cluster-require-full-coverage no` so that the other slots work.",
  ],
];

const writeRemedy = (fault: string): string =>
  WRITE_REMEDIES.find(([words]) => words.test(fault))?.[1] ?? "Read the log of the server.";
