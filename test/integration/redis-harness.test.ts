/** What the other Redis tests rely on: servers that die, freeze, fail over, lose a third, and networks that are cut. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, describe, it } from "node:test";
import { makeCertificates } from "#test/support/certificates.ts";
import { startPartition } from "#test/support/partition.ts";
import { startRedis } from "#test/support/redis.ts";
import { redisCli } from "#test/support/redis-cli.ts";
import { startCluster } from "#test/support/redis-cluster.ts";
import { startSentinels } from "#test/support/redis-sentinels.ts";
import { slotOf } from "#test/support/redis-slot.ts";
import { until } from "#test/support/until.ts";

const folder = mkdtempSync(join(tmpdir(), "gtm-redis-harness-"));
after(() => rmSync(folder, { recursive: true }));

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe("a Redis of a test", () => {
  it("keeps what it is told until kill -9, and is empty on the same port afterwards", async () => {
    await using redis = await startRedis();
    const { port, pid } = redis;
    assert.equal(await redis.cli("set", "a", "1"), "OK");
    redis.kill("SIGKILL");
    await assert.rejects(redis.cli("get", "a"), /Could not connect|Connection reset|closed the connection/);
    await redis.restart();
    assert.equal(await redis.cli("dbsize"), "0");
    assert.equal(redis.port, port);
    assert.notEqual(redis.pid, pid);
  });

  it("hangs while it is stopped and goes on when it is continued", async () => {
    await using redis = await startRedis();
    redis.kill("SIGSTOP");
    const socket = connect(redis.port, "127.0.0.1");
    socket.write("PING\r\n");
    await once(socket, "connect");
    // The kernel takes the connection; three answers of another server are the measure of the time in which none came.
    let heard = "";
    socket.on("data", (bytes) => {
      heard += bytes;
    });
    await using other = await startRedis();
    for (let asked = 0; asked < 3; asked += 1) await other.cli("ping");
    assert.equal(heard, "");
    redis.kill("SIGCONT");
    await until(() => heard === "+PONG\r\n", "the answer");
    socket.destroy();
  });

  it("says why it does not start", async () => {
    await assert.rejects(startRedis({ args: ["--maxmemory", "much"] }), /argument must be a memory value/);
  });

  it("tells error replies from values", async () => {
    await using redis = await startRedis();
    await assert.rejects(redis.cli("incr"), /ERR wrong number of arguments for 'incr' command/);
  });

  it("leaves nothing behind, not even when the test is killed", async () => {
    const program = `
      import { startRedis } from "#test/support/redis.ts";
      const redis = await startRedis();
      const [, dir] = (await redis.cli("config", "get", "dir")).split("\\n");
      process.stdout.write(JSON.stringify({ pid: redis.pid, dir }) + "\\n");
      setInterval(() => {}, 1_000);`;
    const child = spawn(process.execPath, ["--input-type=module-typescript", "--eval", program], {
      cwd: join(import.meta.dirname, "../.."),
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
    const { pid, dir } = JSON.parse(line) as { pid: number; dir: string };
    assert.equal(isAlive(pid) && existsSync(dir), true);
    child.kill("SIGKILL");
    await until(() => !isAlive(pid) && !existsSync(dir), "the end of both");
  });

  it("speaks TLS under an authority of the test's own, and wants to see who asks", async () => {
    const tls = await makeCertificates(mkdtempSync(join(folder, "ours-")));
    await using redis = await startRedis({ tls: { ...tls, asksClients: true } });
    assert.match(redis.url, /^rediss:/);
    assert.equal(await redis.cli("ping"), "PONG");
    const plain = { port: redis.port, tls: null, login: null };
    await assert.rejects(redisCli(plain, "ping"), /closed the connection|Connection reset|Protocol error/);
    const stranger = await makeCertificates(mkdtempSync(join(folder, "strangers-")));
    await assert.rejects(redisCli({ ...plain, tls: stranger }, "ping"), /certificate verify failed/);
    const impostor = { ...tls, client: stranger.client };
    await assert.rejects(redisCli({ ...plain, tls: impostor }, "ping"), /./);
  });
});

describe("a primary and its replica under three Sentinels", () => {
  it("fail over when the primary dies, and take it back as the replica", async () => {
    await using sentinels = await startSentinels({ password: "of-the-servers", sentinelPassword: "of-the-sentinels" });
    const { primary, replica } = sentinels;
    await primary.cli("set", "a", "1");
    await until(async () => (await replica.cli("get", "a")) === "1", "the copy");
    assert.equal(await sentinels.primaryNow(), primary);
    primary.kill("SIGKILL");
    const isElected = async (): Promise<boolean> => (await sentinels.primaryNow().catch(() => primary)) === replica;
    await until(isElected, "the failover");
    await until(async () => /role:master/.test(await replica.cli("info", "replication")), "the promotion");
    assert.equal(await replica.cli("get", "a"), "1");
    await primary.restart();
    await until(
      async () => /role:slave[\s\S]*master_link_status:up/.test(await primary.cli("info", "replication")),
      "the old primary as a replica",
    );
    assert.equal(await primary.cli("get", "a"), "1");
  });
});

describe("a Cluster of three primaries", () => {
  it("answers for the slots it has left when it loses one, and for all when that is back", async () => {
    await using cluster = await startCluster();
    const keys = ["123456789", "a{tag}b", "a{}b", "{", "gtm:v1:orders"];
    const [first, second, third] = cluster.nodes;
    assert.ok(first && second && third);
    for (const key of keys) assert.equal(await first.cli("cluster", "keyslot", key), String(slotOf(key)));
    assert.equal(slotOf("123456789"), 12_739);

    const ofThird = "123456789";
    const ofFirst = ["a", "b", "c", "d", "e", "f"].find((key) => cluster.nodeOf(key) === first) ?? "";
    assert.equal(cluster.nodeOf(ofThird), third);
    assert.equal(await third.cli("set", ofThird, "1"), "OK");
    assert.equal(await first.cli("set", ofFirst, "1"), "OK");
    await assert.rejects(first.cli("get", ofThird), new RegExp(`MOVED 12739 127.0.0.1:${third.port}`));
    third.kill("SIGKILL");
    await until(async () => /cluster_slots_fail:5462/.test(await first.cli("cluster", "info")), "its loss");
    assert.match(await first.cli("cluster", "info"), /cluster_state:ok/);
    assert.equal(await first.cli("get", ofFirst), "1");
    await third.restart();
    await until(async () => /cluster_slots_ok:16384/.test(await second.cli("cluster", "info")), "its return");
    assert.equal(await third.cli("dbsize"), "0");
  });
});

describe("a network between a client and Redis", () => {
  const clientOf = (port: number) => {
    const socket = connect(port, "127.0.0.1");
    const client = {
      heard: "",
      isClosed: false,
      say: (text: string) => socket.write(text),
      end: () => socket.destroy(),
    };
    socket.on("data", (bytes) => {
      client.heard += bytes;
    });
    socket.on("error", () => {});
    socket.on("close", () => {
      client.isClosed = true;
    });
    return client;
  };

  it("lets nothing through while it is cut, keeps connections open, and delivers when it is healed", async () => {
    await using redis = await startRedis();
    await using network = await startPartition(redis.port);
    const before = clientOf(network.port);
    before.say("SET a 1\r\n");
    await until(() => before.heard === "+OK\r\n", "the first answer");
    network.cut();
    const during = clientOf(network.port);
    before.say("INCR a\r\n");
    during.say("GET a\r\n");
    // By another way the server answers three times: what was not cut would have come by now.
    for (let asked = 0; asked < 3; asked += 1) assert.equal(await redis.cli("get", "a"), "1");
    assert.deepEqual([before.heard, before.isClosed, during.heard, during.isClosed], ["+OK\r\n", false, "", false]);
    network.heal();
    await until(() => before.heard === "+OK\r\n:2\r\n" && during.heard === "$1\r\n2\r\n", "what was held back");
    before.end();
    during.end();
  });

  it("closes connections when Redis dies, also when that happens behind a cut", async () => {
    await using redis = await startRedis();
    await using network = await startPartition(redis.port);
    const client = clientOf(network.port);
    client.say("PING\r\n");
    await until(() => client.heard === "+PONG\r\n", "the answer");
    network.cut();
    redis.kill("SIGKILL");
    await assert.rejects(redis.cli("ping"), /./);
    assert.equal(client.isClosed, false);
    network.heal();
    await until(() => client.isClosed, "the close");
  });
});
