/** `gtm doctor` as people run it: the real program, on real servers that are in order, misled, locked, hanging or gone. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { parseGtmConfig } from "#gtm/config.ts";
import type { Finding } from "#gtm/doctor/finding.ts";
import { startGtm } from "#gtm/start.ts";
import { systemClock } from "#shared/clock.ts";
import { agentsKey, reportKey } from "#shared/keys.ts";
import { silentLogger } from "#shared/logger.ts";
import { createMetrics } from "#shared/metrics.ts";
import { signedWith } from "#shared/region-signature.ts";
import type { RegionReport } from "#shared/report.ts";
import { openStore } from "#shared/store-open.ts";
import { StoreSettings } from "#shared/store-settings.ts";
import { MODEL, regionId } from "#test/support/builders.ts";
import { freePort } from "#test/support/free-port.ts";
import { HOUSE_REGIONS, houseYaml } from "#test/support/house.ts";
import { keyFolder, keyOf, ringKey } from "#test/support/key-folder.ts";
import { runNode } from "#test/support/program.ts";
import { publishReport } from "#test/support/publish-report.ts";
import { type RedisServer, startRedis } from "#test/support/redis.ts";
import { makeRedisUsers } from "#test/support/redis-users.ts";
import { aModelReport, aReport } from "#test/support/report-builders.ts";
import { until } from "#test/support/until.ts";
import { runCli } from "#test/unit/gtm/cli/fake-io.ts";

const folder = mkdtempSync(join(tmpdir(), "gtm-doctored-"));
after(() => rmSync(folder, { recursive: true }));

type Wish = Readonly<Record<string, unknown>>;

/** Of loopback, where nobody listens at port 53 unless somebody does everywhere. */
const NAME_SERVERS = ["127.64.9.1", "127.64.9.2"];
/** Reports may be 25 s old: this machine may be busy. */
const HOUSE = JSON.parse(
  houseYaml(() => "http://127.0.3.9:1", { regions: { probe: null }, policy: { stale_after: "25s" } }),
);
const settings = (store: Wish, wish: Wish = {}): Wish => ({
  ...HOUSE,
  dns: { ...HOUSE.dns, ns: NAME_SERVERS.map((address, at) => ({ name: `ns${at + 1}.llm.test`, a: [address] })) },
  models: [{ id: MODEL }],
  pools: [{ name: "chat", models: [MODEL], regions: HOUSE_REGIONS.map(({ id }) => id) }],
  store,
  ...wish,
});
const fileOf = (name: string, of: Wish): string => {
  const path = join(folder, `${name}.yaml`);
  writeFileSync(path, JSON.stringify(of));
  return path;
};
/** The program itself, which takes its time to start on a busy machine. */
const doctor = (file: string, ...words: readonly string[]) =>
  runNode(["gtm/main.ts", "doctor", "--config", file, ...words], { NO_COLOR: "1", GTM_TOKEN: "" });
/** The same command within this process. */
const examined = async (file: string, ...words: readonly string[]) => {
  const { exitCode, out } = await runCli(["doctor", "--config", file, "-o", "json", ...words]);
  const { items } = JSON.parse(out) as { readonly items: readonly (Finding & { readonly subject: string })[] };
  const amiss = items.filter(({ severity }) => severity !== "ok");
  return { exitCode, found: new Set(amiss.map(({ severity, id }) => `${severity} ${id}`)), items };
};
const startGtmOn = async (of: Wish) => {
  const config = parseGtmConfig(JSON.stringify(of), "test", {});
  const store = openStore(config.store, { clock: systemClock, log: silentLogger, name: "gtm" });
  const gtm = await startGtm(config, store, { clock: systemClock, log: silentLogger, metrics: createMetrics() });
  const { address, port } = gtm.addresses().admin;
  return {
    api: `http://${address}:${port}`,
    [Symbol.asyncDispose]: async () => {
      await gtm.stop();
      await store.close();
    },
  };
};
const agentsOn = (url: string) =>
  openStore(StoreSettings.parse({ url, deadline: "5s" }), { clock: systemClock, log: silentLogger, name: "agents" });
/** Once, as now. */
const report = async (url: string, reports: readonly RegionReport[]): Promise<void> => {
  const store = agentsOn(url);
  try {
    for (const one of reports) await publishReport(store, systemClock, one);
  } finally {
    await store.close();
  }
};
/** Again and again, as agents do, until it is disposed of: however long this machine takes. */
const reporting = async (url: string, make: (seq: number) => readonly RegionReport[]) => {
  const store = agentsOn(url);
  let seq = 0;
  const put = async (): Promise<void> => {
    seq += 1;
    for (const one of make(seq)) await publishReport(store, systemClock, one);
  };
  await put();
  // One that is lost is followed by the next.
  const timer = setInterval(() => void put().catch(() => undefined), 500).unref();
  return {
    [Symbol.asyncDispose]: async () => {
      clearInterval(timer);
      await store.close();
    },
  };
};
const reportOf = (region: string, wish: Partial<RegionReport> & { readonly agentName?: string } = {}): RegionReport =>
  aReport(region, { reportedAtMs: Date.now(), models: [aModelReport(region)], ...wish });

/** Ports, times and sizes are others each time. */
const steady = (text: string): string =>
  text
    .replaceAll(folder, "DIR")
    .replaceAll(/127\.0\.0\.1:\d+/g, "ADDRESS")
    .replaceAll(/\d+(?:\.\d+)? (?:ms|s|min|MB|GB)\b/g, "N")
    .replaceAll(/the oldest \d+ days/g, "the oldest N days")
    .replaceAll(/Redis \d+\.\d+\.\d+/g, "Redis V")
    .replaceAll(/\d+\.\d M conversations|\d+(?: \d{3})* conversations/g, "N conversations");

const HEALTHY = `CLOCKS
  ok       This host's clock and that of ADDRESS are N apart, within N.

STORE
  ok       ADDRESS answers in N; Redis V.
  ok       The connection is not encrypted and stays on this host.
  ok       ADDRESS answers nobody without a password.
  ok       The user gtm may do all that a GTM does at ADDRESS.
  ok       ADDRESS drops nothing when full (noeviction); N of N are left, room for N conversations.
  ok       ADDRESS has 1 replica.

AGENTS
  ok       eu-central: 1 agent, last heard N ago, signed.
  ok       us-east: 1 agent, last heard N ago, signed.

MODELS AND POOLS
  ok       llama-70b is in eu-central and us-east.

INSTANCES
  ok       1 GTM on this store: test.

ORDERS
  ok       Nobody has ordered anything.

KEYS
  ok       Labels and pin tokens are made with keys from files.
  ok       Every region has a report key: unsigned reports and measured turns are refused.
  ok       Every key in use is younger than a year, the oldest N days.

WORLD FILE
  ok       DIR/world.json was saved N ago by test, with 2 reports.

GEOGRAPHY
  ok       Clients have a place by geo.static alone: 2 networks.

DNS
  unknown  No name server answers this host with authority: 127.64.9.1 and 127.64.9.2 (nobody listens there). (dns-away)
           → Ask from elsewhere: gtm zones delegation --check --config FILE.

RUNNING GTM
  ok       test at http://ADDRESS, llm-gtm 0.1.0, is ready and up N; 0 parts degraded.
`;

describe("gtm doctor", { timeout: 110_000 }, () => {
  let redis: RedisServer;
  before(async () => {
    redis = await startRedis();
  });
  after(() => redis.stop());

  it("finds nothing amiss as the GTM's own user of a store with a replica, and ends with 0", async () => {
    const users = await makeRedisUsers(join(folder, "users"), ["eu-central", "us-east"]);
    const login = users.login("admin");
    const args = ["--maxmemory", "100mb", "--maxmemory-policy", "noeviction", "--repl-diskless-sync-delay", "0"];
    await using primary = await startRedis({ aclFile: users.aclFile, login, args });
    const { user, password } = users.login("replica");
    await using replica = await startRedis({
      args: ["--replicaof", "127.0.0.1", String(primary.port), "--masteruser", user, "--masterauth", password],
    });
    await until(async () => /master_link_status:up/.test(await replica.cli("info", "replication")), "the link");
    // Made today: doctor counts a key's days.
    const fresh = (id: number) => ({ ...ringKey(id), madeAtMs: Math.floor(Date.now() / 1_000) * 1_000 });
    const reportRings = Object.fromEntries(HOUSE_REGIONS.map(({ id }) => [id, [fresh(1)]]));
    using keys = keyFolder({ signing: [fresh(7)], reports: reportRings });
    const store = { ...users.store("gtm", primary.url), world_file: join(folder, "world.json"), deadline: "2s" };
    const { identity, signing, reports } = keys.files;
    const all = settings(store, { keys: { identity_file: identity, signing_file: signing, reports_file: reports } });
    const adminUrl = primary.url.replace("://", `://admin:${login.password}@`);
    await using _agents = await reporting(adminUrl, (seq) =>
      HOUSE_REGIONS.map(({ id }) => signedWith(reportOf(id, { seq }), keyOf(1))),
    );
    await using gtm = await startGtmOn(all);
    const status = async (): Promise<string> => (await fetch(`${gtm.api}/api/v1/status`)).text();
    await until(async () => (await status()).includes('"state":"ready"'), "a GTM that is ready");
    const file = fileOf("healthy", all);
    await until(
      async () => (await examined(file)).items.some(({ what }) => /with 2 reports/.test(what)),
      "a world file",
    );
    const { exitCode, stdout, stderr } = await doctor(file, "--server", gtm.api);
    const subjects = (text: string): readonly string[] => text.split("\n\n").toSorted();
    const [summary, ...rest] = steady(stdout).trimEnd().split("\n\n").toReversed();
    assert.deepEqual(subjects(rest.join("\n\n")), subjects(HEALTHY.trimEnd()));
    assert.equal(summary, "0 problems, 0 warnings, 1 unknown, 18 ok");
    assert.equal(exitCode, 0);
    assert.match(stderr, /^Looking at store, clocks, .*\n( {2}[a-zA-Z ]+: (ok|unknown|nothing to look at)\n){13}$/);
  });

  it("finds each thing that is wrong at once, names its remedy, and ends with 7", async () => {
    await using misled = await startRedis({ args: ["--maxmemory", "50mb", "--maxmemory-policy", "allkeys-lru"] });
    const store = { url: misled.url, deadline: "2s" };
    await using _first = await startGtmOn(settings(store, { instance: "gtm-1" }));
    await using _second = await startGtmOn(settings(store, { instance: "gtm-2", policy: { margin: "80ms" } }));
    const stale = reportOf("eu-central", { agentName: "stale", reportedAtMs: Date.now() - 3_600_000 });
    await report(misled.url, [stale, reportOf("eu-central", { agentName: "gone" })]);
    // As if 27 s had passed, and for the other one more than 30.
    await misled.cli("pexpire", reportKey(stale.region, stale.agent), "20000");
    await misled.cli("del", reportKey(stale.region, reportOf("eu-central", { agentName: "gone" }).agent));
    await misled.cli("set", "gtm:v1:orders", "{");
    for (const id of ["gtm-1", "gtm-2"]) {
      const says = async (): Promise<boolean> => (await misled.cli("get", `gtm:v1:sent:{${id}}`)).includes('"says":{');
      await until(says, `what ${id} says to the other`);
    }
    await until(async () => (await misled.cli("zcard", "gtm:v1:instances")) === "2", "two instances");
    const file = fileOf("misled", settings(store, { instance: "gtm-1", policy: { stale_after: "5s" } }));
    const { exitCode, found, items } = await examined(file);
    for (const expected of [
      "problem store-evicts-pins",
      "warning store-volatile",
      "problem region-unreported",
      "warning agent-stale",
      "warning agent-missing",
      "warning agent-unsigned",
      "warning agent-clock",
      "problem instances-config",
      "problem orders-unreadable",
      "warning keys-ephemeral",
      "warning world-file-none",
    ])
      assert.ok(found.has(expected), `${expected} is found, beside ${[...found].join(", ")}`);
    assert.equal(exitCode, 7);
    const remedy = (id: string): string => items.find((one) => one.id === id)?.remedy ?? "";
    assert.match(remedy("store-evicts-pins"), /config set maxmemory-policy noeviction/);
    assert.match(items.find(({ id }) => id === "region-unreported")?.what ?? "", /us-east/);
    assert.match(items.find(({ id }) => id === "instances-config")?.what ?? "", /policy/);
    assert.equal(await misled.cli("get", "gtm:v1:orders"), "{");
  });

  it("ends although the store hangs, and says that it does", async () => {
    redis.kill("SIGSTOP");
    try {
      const { exitCode, stdout } = await doctor(fileOf("hanging", settings({ url: redis.url })), "-o", "jsonl");
      assert.equal(exitCode, 7);
      const items = stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as Finding);
      assert.deepEqual(
        items.filter(({ severity }) => severity === "problem").map(({ id }) => id),
        ["store-away"],
      );
      const unknown = items.filter(({ severity }) => severity === "unknown").map(({ id }) => id);
      for (const id of ["agents", "models", "instances", "orders"]) assert.ok(unknown.includes(id), id);
    } finally {
      redis.kill("SIGCONT");
    }
  });
  it("says what the store refuses", async () => {
    await using locked = await startRedis({
      args: ["--requirepass", "right"],
      login: { user: "default", password: "right" },
    });
    const { exitCode, items } = await examined(
      fileOf("locked", settings({ url: locked.url.replace("//", "//:wrong@") })),
    );
    assert.equal(exitCode, 7);
    assert.match(
      items.find(({ id }) => id === "store-away")?.what ?? "",
      /refuses the user or the password \(WRONGPASS/,
    );
    assert.ok(items.every(({ what }) => !what.includes("wrong@")));
  });
  it("with warnings alone ends with 0; whoever asks for a running GTM gets a problem where there is none", async () => {
    await redis.cli("flushall");
    await report(
      redis.url,
      HOUSE_REGIONS.map(({ id }) => reportOf(id)),
    );
    const file = fileOf("warned", settings({ url: redis.url, deadline: "2s" }));
    const warned = await examined(file);
    assert.deepEqual(
      [...warned.found].filter((one) => one.startsWith("problem")),
      [],
    );
    assert.ok(warned.found.has("warning agent-unsigned") && warned.found.has("unknown gtm-away"));
    assert.equal(warned.exitCode, 0);
    const asked = await examined(file, "--server", `http://127.0.0.1:${await freePort()}`);
    assert.ok(asked.found.has("problem gtm-away"));
    assert.equal(asked.exitCode, 7);
    assert.equal(await redis.cli("zcard", agentsKey(regionId("eu-central"))), "1");
  });
  it("has little to look at in a store of one process, a line of JSON each", async () => {
    const words = ["doctor", "--config", fileOf("alone", settings({ url: "memory:" })), "-o", "jsonl"];
    const { exitCode, out } = await runCli(words);
    const ids = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).id);
    assert.ok(ids.includes("store-private") && ids.includes("keys-ephemeral"));
    assert.equal(exitCode, 0);
  });
  it("does not begin with a configuration that cannot be used, or none", async () => {
    const faulty = await runCli(["doctor", "--config", fileOf("faulty", settings({ url: "ftp://x" }))]);
    assert.deepEqual([faulty.exitCode, faulty.out], [1, ""]);
    assert.match(faulty.err, /store\.url/);
    assert.equal((await runCli(["doctor"])).exitCode, 2);
  });
});
