/** The programs as the shipped users of Redis: everything that they do is allowed, alone, under Sentinels and in a Cluster. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { promisify } from "node:util";
import { systemClock } from "#shared/clock.ts";
import { AgentId, ConversationId, InstanceId, RegionId } from "#shared/ids.ts";
import {
  agentsKey,
  changedChannel,
  conversationKey,
  decisionsKey,
  heldKey,
  instancesKey,
  ordersKey,
  refusedKey,
  reportedChannel,
  reportKey,
  responseKey,
  sentKey,
} from "#shared/keys.ts";
import { silentLogger } from "#shared/logger.ts";
import type { Store } from "#shared/store.ts";
import { openStore } from "#shared/store-open.ts";
import { StoreSettings } from "#shared/store-settings.ts";
import { makeCertificates } from "#test/support/certificates.ts";
import { houseYaml } from "#test/support/house.ts";
import { type RedisServer, startRedis } from "#test/support/redis.ts";
import { startCluster } from "#test/support/redis-cluster.ts";
import { startSentinels } from "#test/support/redis-sentinels.ts";
import { makeRedisUsers, REDIS_FILES } from "#test/support/redis-users.ts";
import { startProgram } from "#test/support/running-program.ts";
import { startScriptedEngine } from "#test/support/scripted-engine.ts";
import { until } from "#test/support/until.ts";

const folder = mkdtempSync(join(tmpdir(), "gtm-redis-users-"));
after(() => rmSync(folder, { recursive: true }));
const newFolder = (): string => mkdtempSync(join(folder, "f-"));

const REGIONS = ["eu-central", "us-east"];
const HERE = RegionId.parse("eu-central");
const THERE = RegionId.parse("us-east");
const AGENT = AgentId.parse("a1");
const CONVERSATION = ConversationId.parse("0123456789abc");
const INSTANCE = InstanceId.parse("gtm-1");

/** What was refused since the server started, as `reason object by user`. */
const refusals = async (redis: RedisServer): Promise<readonly string[]> => {
  const lines = (await redis.cli("acl", "log")).split("\n");
  const after = (name: string): readonly string[] =>
    lines.flatMap((line, at) => (line === name ? [lines[at + 1] ?? ""] : []));
  const [reasons, objects, names] = [after("reason"), after("object"), after("username")];
  return reasons.map((reason, at) => `${reason} ${objects[at]} by ${names[at]}`);
};

/** Waits until it is connected. */
const connected = async (settings: object): Promise<Store & AsyncDisposable> => {
  const store = openStore(StoreSettings.parse(settings), { clock: systemClock, log: silentLogger, name: "test" });
  await until(store.isUp, "the store");
  return { ...store, [Symbol.asyncDispose]: store.close };
};

const succeeds = (running: Promise<void>): Promise<boolean> =>
  running.then(
    () => true,
    () => false,
  );

/** Each operation that an agent does. */
const asAgent = async (store: Store): Promise<void> => {
  await store.put(reportKey(HERE, AGENT), "report", 30_000);
  await store.indexAdd(agentsKey(HERE), AGENT, 1);
  await store.announce(reportedChannel(), `${HERE}/${AGENT}`);
};

/** Each operation that a GTM does. */
const asGtm = async (store: Store): Promise<void> => {
  const changed: string[] = [];
  await store.subscribe(changedChannel(), (message) => changed.push(message));
  await store.subscribe(reportedChannel(), () => {});
  assert.equal((await store.get(reportKey(HERE, AGENT)))?.value, "report");
  assert.deepEqual(await store.indexTop(agentsKey(HERE), Number.POSITIVE_INFINITY, 9), [{ member: "a1", score: 1 }]);
  await store.indexRemove(agentsKey(THERE), "a9");
  await store.remove(conversationKey(CONVERSATION));
  assert.equal(await store.setIfAbsent(conversationKey(CONVERSATION), '{"rev":1}', 60_000), true);
  assert.equal((await store.compareAndSet(conversationKey(CONVERSATION), 1, '{"rev":2}', 60_000)).kind, "stored");
  assert.equal((await store.compareAndSet(ordersKey(), 0, '{"rev":1}', null)).kind, "stored");
  await store.indexAdd(heldKey(THERE), CONVERSATION, 1);
  assert.equal((await store.indexRange(heldKey(THERE), 0, 9)).length, 1);
  await store.indexRemove(heldKey(THERE), CONVERSATION);
  await store.put(sentKey(INSTANCE), "{}", 5_000);
  await store.indexAdd(instancesKey(), INSTANCE, 1);
  assert.equal((await store.indexRange(instancesKey(), 0, 9)).length, 1);
  await store.put(refusedKey(CONVERSATION), "{}", 10_000);
  assert.equal(await store.get(responseKey(CONVERSATION)), null);
  await store.append(decisionsKey(INSTANCE), "{}", 100);
  assert.equal((await store.newest(decisionsKey(INSTANCE), 1)).length, 1);
  await store.announce(changedChannel(), "x");
  await until(() => changed.includes("x"), "the announcement");
};

describe("a GTM and an agent as programs, over TLS, under the shipped configuration", () => {
  it("work, and nothing that they do is refused, also after the users were loaded again", async () => {
    const tls = await makeCertificates(newFolder());
    const usersFolder = newFolder();
    const users = await makeRedisUsers(usersFolder, REGIONS);
    const config = readFileSync(join(REDIS_FILES, "redis.conf"), "utf8");
    const login = users.login("admin");
    await using redis = await startRedis({ config, aclFile: users.aclFile, login, tls });
    await using engine = await startScriptedEngine();
    const store = (user: string) => users.store(user, redis.url, { ca_file: tls.caFile });
    await using agent = await startProgram("edge-agent/main.ts", "run", {
      ...{ version: 1, region: "eu-central", agent: "a1", store: store("edge-agent-eu-central") },
      ...{ engines: [{ url: engine.origin }], report: { interval: "200ms" }, metrics: { listen: "127.0.0.1:0" } },
    });
    await using gtm = await startProgram("gtm/main.ts", "serve", {
      ...JSON.parse(houseYaml(() => engine.origin)),
      store: store("gtm"),
    });
    const isHeard = async (): Promise<boolean> =>
      (await gtm.metric("gtm_region_report_age_seconds", { region: "eu-central" })) < 2;
    await until(isHeard, "the report at the GTM");

    await makeRedisUsers(usersFolder, [...REGIONS, "ap-southeast"]);
    await redis.cli("acl", "load");
    await until(async () => (await redis.cli("client", "list")).includes("user=gtm"), "the GTM's return");
    const put = await agent.metric("edge_agent_reports_put_total");
    await until(async () => (await agent.metric("edge_agent_reports_put_total")) > put + 1, "reports after it");
    assert.match(await redis.cli("acl", "list"), /user edge-agent-ap-southeast on/);
    assert.deepEqual(await refusals(redis), []);
  });
});

describe("the shipped configuration", () => {
  it("refuses a value of 10 MB before it takes memory, and never evicts", async () => {
    const tls = await makeCertificates(newFolder());
    const users = await makeRedisUsers(newFolder(), REGIONS);
    const config = readFileSync(join(REDIS_FILES, "redis.conf"), "utf8");
    await using redis = await startRedis({ config, aclFile: users.aclFile, login: users.login("admin"), tls });
    assert.match(await redis.cli("config", "get", "maxmemory-policy"), /noeviction/);
    await using store = await connected(users.store("edge-agent-eu-central", redis.url, { ca_file: tls.caFile }));
    await assert.rejects(store.put(reportKey(HERE, AGENT), "x".repeat(10_000_000), 30_000), /GTM_STORE|store/);
    await until(() => succeeds(asAgent(store)), "a report after it");
    assert.match(await redis.cli("info", "memory"), /used_memory_peak:[1-9]\d{6}\r/);
  });
});

describe("the shipped users under Sentinels", () => {
  it("allow copying, failing over, and what programs do before and after it", async () => {
    const users = await makeRedisUsers(newFolder(), REGIONS);
    const login = users.login;
    const sentinelPasswordFile = join(folder, "sentinel-password");
    writeFileSync(sentinelPasswordFile, "of-the-sentinels\n");
    await using sentinels = await startSentinels({
      acl: { file: users.aclFile, admin: login("admin"), replica: login("replica"), sentinel: login("sentinel") },
      sentinelPassword: "of-the-sentinels",
    });
    const settings = (user: string) =>
      users.store(user, sentinels.url, { sentinel_password_file: sentinelPasswordFile });
    await using agent = await connected(settings("edge-agent-eu-central"));
    await using gtm = await connected(settings("gtm"));
    await asAgent(agent);
    await asGtm(gtm);
    const { primary, replica } = sentinels;
    await until(async () => (await replica.cli("get", ordersKey())) === '{"rev":1}', "the copy");
    primary.kill("SIGKILL");
    await until(async () => (await sentinels.primaryNow().catch(() => primary)) === replica, "the failover");
    await until(() => succeeds(asAgent(agent)), "a report after the failover");
    await until(gtm.isUp, "the GTM's return");
    assert.equal((await gtm.get(ordersKey()))?.value, '{"rev":1}');
    assert.deepEqual(await refusals(replica), []);
  });
});

describe("the shipped users in a Cluster", () => {
  it("allow what programs do on every node", async () => {
    const users = await makeRedisUsers(newFolder(), REGIONS);
    await using cluster = await startCluster({ aclFile: users.aclFile, login: users.login("admin") });
    await using agent = await connected(users.store("edge-agent-eu-central", cluster.url));
    await using gtm = await connected(users.store("gtm", cluster.url));
    await asAgent(agent);
    await asGtm(gtm);
    for (const node of cluster.nodes) assert.deepEqual(await refusals(node), []);
  });
});

describe("make-users.sh", () => {
  const script = join(REDIS_FILES, "make-users.sh");
  const refused = async (...words: readonly string[]): Promise<string> => {
    const { code, stderr } = await promisify(execFile)(script, words).then(
      () => assert.fail(`${words.join(" ")} was accepted`),
      (error: { code: number; stderr: string }) => error,
    );
    assert.equal(code, 2);
    return stderr;
  };
  it("makes passwords that only their owner reads, and keeps them when it is run again", async () => {
    const at = newFolder();
    const before = await makeRedisUsers(at, REGIONS);
    const { password } = before.login("gtm");
    assert.match(password, /^[0-9a-f]{64}$/);
    for (const file of [before.aclFile, before.passwordFile("gtm")]) assert.equal(statSync(file).mode & 0o777, 0o600);
    const after = await makeRedisUsers(at, ["eu-central"]);
    assert.equal(after.login("gtm").password, password);
    assert.doesNotMatch(readFileSync(after.aclFile, "utf8"), /us-east|REGION|SHA256/);
    assert.doesNotMatch(readFileSync(after.aclFile, "utf8"), new RegExp(password));
  });
  it("says what it expects", async () => {
    assert.match(await refused(newFolder()), /expected a folder and at least one region/);
    for (const region of ["EU", "eu/central", "-eu", "eu*", "", "a b"]) {
      assert.match(await refused(newFolder(), region), /is no region/);
    }
  });
});
