/** What is learnt of a store by asking it: real servers, healthy, locked, hanging, lying in TLS, alone and in company. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { gtmProbes } from "#gtm/doctor/probes.ts";
import { systemClock } from "#shared/clock.ts";
import { RegionId } from "#shared/ids.ts";
import { readStoreFacts, type StoreFacts } from "#shared/store-redis-facts.ts";
import type { AwayCause } from "#shared/store-redis-facts-away.ts";
import type { ServerFacts } from "#shared/store-redis-facts-server.ts";
import { StoreSettings } from "#shared/store-settings.ts";
import { type Certificates, makeCertificates } from "#test/support/certificates.ts";
import { freePort } from "#test/support/free-port.ts";
import { createManualClock } from "#test/support/manual-clock.ts";
import { type RedisServer, startRedis } from "#test/support/redis.ts";
import { type Cluster, startCluster } from "#test/support/redis-cluster.ts";
import { type Sentinels, startSentinels } from "#test/support/redis-sentinels.ts";
import { makeRedisUsers, type RedisUsers } from "#test/support/redis-users.ts";
import { until } from "#test/support/until.ts";

type Wish = { readonly url: string } & Readonly<Record<string, string>>;
type Redis = Extract<StoreFacts, { readonly kind: "redis" }>;

const PROBES = gtmProbes(RegionId.parse("eu-central"));

const factsOf = async (wish: Wish, deadlineMs = 2_000, clock = systemClock): Promise<Redis> => {
  const facts = await readStoreFacts(StoreSettings.parse(wish), { clock, deadlineMs, probes: PROBES });
  assert.equal(facts.kind, "redis");
  return facts as Redis;
};
const serverIn = ({ servers }: Redis): ServerFacts => {
  const [server, ...others] = servers;
  assert.ok(server !== undefined && others.length === 0);
  return server;
};
const causeOf = async (wish: Wish, deadlineMs = 2_000): Promise<AwayCause | undefined> =>
  (await factsOf(wish, deadlineMs)).away?.cause;
const withLogin = (url: string, login: string): string => url.replace("://", `://${login}@`);

const folder = mkdtempSync(join(tmpdir(), "gtm-store-facts-"));
after(() => rmSync(folder, { recursive: true }));

describe("a memory: store", () => {
  it("is nobody else's", async () => {
    const options = { clock: systemClock, deadlineMs: 100, probes: [] };
    assert.deepEqual(await readStoreFacts(StoreSettings.parse({ url: "memory:" }), options), { kind: "memory" });
  });
});

describe("a server without users", () => {
  let redis: RedisServer;
  before(async () => {
    redis = await startRedis({ args: ["--maxmemory", "20mb", "--maxmemory-policy", "allkeys-lru"] });
  });
  after(() => redis.stop());

  it("says what it is", async () => {
    const facts = await factsOf({ url: redis.url });
    const server = serverIn(facts);
    assert.deepEqual([facts.away, facts.isLoopback, facts.isTls], [null, true, false]);
    assert.match(server.version ?? "", /^\d+\.\d+\.\d+$/);
    assert.deepEqual([server.memory?.policy, server.memory?.maxBytes], ["allkeys-lru", 20 * 1_048_576]);
    assert.deepEqual([server.replication?.role, server.replication?.leastReplicas], ["primary", 0]);
    assert.deepEqual([server.persistence?.savesSnapshots, server.persistence?.writesLog], [false, false]);
    assert.deepEqual([server.isOpenToAll, server.user?.name, server.user?.refused], [true, "default", []]);
    assert.ok(server.channelLimit !== null && server.channelLimit.hardBytes > 0);
    assert.deepEqual(server.why, {});
  });
  it("is left as it was: nothing was written, no order was changed", async (t) => {
    await redis.cli("set", "gtm:v1:orders", "as it was");
    t.after(() => redis.cli("del", "gtm:v1:orders"));
    await factsOf({ url: redis.url });
    assert.deepEqual([await redis.cli("dbsize"), await redis.cli("get", "gtm:v1:orders")], ["1", "as it was"]);
  });
  it("has the time of this host, within half a round trip and what the processor was busy with", async () => {
    const { clock, roundTripMs } = serverIn(await factsOf({ url: redis.url }));
    assert.ok(clock !== null && roundTripMs !== null);
    assert.ok(Math.abs(clock.aheadMs) <= clock.errorMs + 1_000, JSON.stringify(clock));
  });
  it("is an hour ahead of a clock that is an hour behind", async () => {
    const clock = createManualClock(Date.now() - 3_600_000);
    const { clock: found } = serverIn(await factsOf({ url: redis.url }, 2_000, clock));
    assert.ok(found !== null && Math.abs(found.aheadMs - 3_600_000) < 10_000, JSON.stringify(found));
  });
  it("that is full is known to refuse writes, and that it is", async (t) => {
    await redis.cli("config", "set", "maxmemory-policy", "noeviction");
    await redis.cli("config", "set", "maxmemory", "1");
    t.after(() => redis.cli("config", "set", "maxmemory", "20mb"));
    assert.match(serverIn(await factsOf({ url: redis.url })).user?.writeFault ?? "", /^OOM/);
  });
  it("takes a password that it does not ask for as no password at all", async () => {
    const facts = await factsOf({ url: withLogin(redis.url, ":needless") });
    assert.deepEqual([facts.away, serverIn(facts).isOpenToAll], [null, true]);
  });
  it("has no such database", async () => {
    assert.match((await factsOf({ url: `${redis.url}/999` })).away?.detail ?? "", /index is out of range/);
  });
  it("is no Cluster", async () => {
    assert.equal(await causeOf({ url: redis.url.replace("redis", "redis+cluster") }), "not-a-cluster");
  });
  it("that hangs is silent, whatever is asked, and is asked once", async () => {
    redis.kill("SIGSTOP");
    try {
      assert.equal(await causeOf({ url: redis.url }, 100), "timeout");
    } finally {
      redis.kill("SIGCONT");
    }
  });
});

describe("nobody there", () => {
  it("refuses", async () => assert.equal(await causeOf({ url: `redis://127.0.0.1:${await freePort()}` }), "refused"));
  it("has no address", async () => assert.equal(await causeOf({ url: "redis://store.invalid" }, 5_000), "unresolved"));
  it("is told of where the password cannot be read", async () => {
    const facts = await factsOf({ url: "redis://127.0.0.1:1", password_file: join(folder, "no-such-file") });
    assert.equal(facts.away?.cause, "secret-unreadable");
  });
});

describe("a replica", () => {
  it("is known as one, and takes no writes", async () => {
    await using primary = await startRedis({ args: ["--repl-diskless-sync-delay", "0"] });
    await using replica = await startRedis({ args: ["--replicaof", "127.0.0.1", String(primary.port)] });
    await until(async () => /master_link_status:up/.test(await replica.cli("info", "replication")), "the link");
    const server = serverIn(await factsOf({ url: replica.url }));
    assert.deepEqual([server.replication?.role, server.replication?.isLinkUp], ["replica", true]);
    assert.match(server.user?.writeFault ?? "", /^READONLY/);
    const { replicas } = serverIn(await factsOf({ url: primary.url })).replication ?? { replicas: [] };
    assert.deepEqual(
      replicas.map(({ place, state }) => [place, state]),
      [[`127.0.0.1:${replica.port}`, "online"]],
    );
  });
});

describe("a server with the shipped users", () => {
  let redis: RedisServer;
  let users: RedisUsers;
  before(async () => {
    users = await makeRedisUsers(join(folder, "users"), ["eu-central"]);
    redis = await startRedis({ aclFile: users.aclFile, login: users.login("admin") });
  });
  after(() => redis.stop());

  it("lets the GTM's do all that a GTM does, and not read its configuration", async () => {
    const server = serverIn(await factsOf(users.store("gtm", redis.url)));
    assert.deepEqual(server.user, { name: "gtm", refused: [], writeFault: null });
    assert.deepEqual(
      [server.isOpenToAll, server.channelLimit, server.persistence?.savesSnapshots],
      [false, null, null],
    );
    assert.match(server.why["settings"] ?? "", /^NOPERM/);
    assert.ok(server.memory !== null && server.clock !== null);
  });
  it("names what an agent's may not", async () => {
    const refused = serverIn(await factsOf(users.store("edge-agent-eu-central", redis.url))).user?.refused ?? [];
    assert.ok(refused.includes("SET gtm:v1:orders") && refused.includes("GET gtm:v1:orders"));
    assert.ok(refused.includes("SUBSCRIBE gtm:v1:changed"));
  });
  it("refuses a wrong password, and nobody's name", async () => {
    assert.equal(await causeOf({ url: withLogin(redis.url, "gtm:wrong") }), "wrong-password");
    assert.equal(await causeOf({ url: redis.url }), "no-credentials");
  });
});

describe("a server that speaks TLS", () => {
  let certificates: Certificates;
  let foreign: Certificates;
  let redis: RedisServer;
  before(async () => {
    certificates = await makeCertificates(mkdtempSync(join(folder, "tls-")));
    foreign = await makeCertificates(mkdtempSync(join(folder, "foreign-")));
    redis = await startRedis({ tls: certificates, args: ["--bind", "127.0.0.1", "127.0.0.2"] });
  });
  after(() => redis.stop());

  it("is trusted by its own authority", async () => {
    const facts = await factsOf({ url: redis.url, ca_file: certificates.caFile });
    assert.deepEqual([facts.away, facts.isTls], [null, true]);
  });
  it("is not by another", async () => {
    assert.equal(await causeOf({ url: redis.url, ca_file: foreign.caFile }), "certificate-untrusted");
  });
  it("is not under a name that its certificate lacks", async () => {
    const url = redis.url.replace("127.0.0.1", "127.0.0.2");
    assert.equal(await causeOf({ url, ca_file: certificates.caFile }), "certificate-name");
  });
  it("closes the connection of who does not", async () => {
    assert.equal(await causeOf({ url: redis.url.replace("rediss", "redis") }), "closed");
  });
});

describe("three Sentinels", () => {
  let sentinels: Sentinels;
  before(async () => {
    sentinels = await startSentinels();
  });
  after(() => sentinels.stop());

  it("name the primary, know its replica, and could fail over", async () => {
    const { sentinels: found, servers, away } = await factsOf({ url: sentinels.url });
    assert.equal(away, null);
    assert.deepEqual(
      servers.map(({ place, isExpected, replication }) => [place, isExpected, replication?.role]),
      [
        [`127.0.0.1:${sentinels.primary.port}`, true, "primary"],
        [`127.0.0.1:${sentinels.replica.port}`, false, "replica"],
      ],
    );
    assert.deepEqual(
      found?.each.map(({ away: gone, hasQuorum, primary }) => [gone, hasQuorum, primary]),
      Array(3).fill([null, true, `127.0.0.1:${sentinels.primary.port}`]),
    );
  });
  it("know nobody of another name", async () => {
    assert.equal(await causeOf({ url: sentinels.url.replace(sentinels.masterName, "other") }), "no-primary");
  });
  it("of which two are dead still name it, and could not", async () => {
    for (const dead of sentinels.sentinels.slice(1)) dead.kill("SIGKILL");
    let found: Redis | null = null;
    await until(async () => {
      found = await factsOf({ url: sentinels.url });
      return found.sentinels?.each.some(({ hasQuorum }) => hasQuorum === false) === true;
    }, "NOQUORUM");
    assert.deepEqual(
      (found as Redis | null)?.sentinels?.each.map(({ away }) => away?.cause ?? null),
      [null, "refused", "refused"],
    );
    assert.equal((found as Redis | null)?.away, null);
  });
});

describe("a Cluster", () => {
  let cluster: Cluster;
  before(async () => {
    cluster = await startCluster();
  });
  after(() => cluster.stop());

  it("has all slots on three primaries, which are asked one by one", async () => {
    const { cluster: found, servers, away } = await factsOf({ url: cluster.url });
    assert.deepEqual([away, found], [null, { assignedSlots: 16_384, state: "ok", why: null }]);
    assert.equal(
      servers.reduce((sum, { slots }) => sum + (slots ?? 0), 0),
      16_384,
    );
    assert.deepEqual(
      servers.map(({ user, isClusterNode }) => [user?.refused, isClusterNode]),
      Array(3).fill([[], true]),
    );
  });
  it("of which one primary is dead answers for the others", async () => {
    const [, dead] = cluster.nodes;
    dead?.kill("SIGKILL");
    const { servers, away } = await factsOf({ url: cluster.url });
    assert.equal(away, null);
    assert.deepEqual(
      servers.map(({ away: gone }) => gone?.cause ?? null).toSorted(),
      [null, "refused", null].toSorted(),
    );
  });
});
