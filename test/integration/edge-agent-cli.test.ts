/** The agent as a program: started, asked, signalled, misconfigured. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, describe, it } from "node:test";
import { isSignedWith } from "#shared/region-signature.ts";
import { RegionReport } from "#shared/report.ts";
import { runNode } from "#test/support/program.ts";
import { startRedis } from "#test/support/redis.ts";
import { makeRedisUsers } from "#test/support/redis-users.ts";
import { dripping, startScriptedEngine, whole } from "#test/support/scripted-engine.ts";
import { until } from "#test/support/until.ts";
import { enginePayload, vllmPage } from "#test/support/vllm-page.ts";

const MAIN = join(import.meta.dirname, "../../edge-agent/main.ts");
const folder = mkdtempSync(join(tmpdir(), "edge-agent-cli-"));
after(() => rmSync(folder, { recursive: true }));

let files = 0;
const written = (text: string): string => {
  files += 1;
  const file = join(folder, `file-${files}`);
  writeFileSync(file, text);
  return file;
};
const configFile = (engines: readonly string[], more = ""): string =>
  written(`version: 1
region: eu-central
agent: a1
store: { url: "\${STORE:-memory:}" }
engines: [${engines.map((url) => `{ url: "${url}" }`).join(", ")}]
metrics: { listen: "127.0.0.1:0" }
${more}`);
const edgeAgent = (words: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runNode([MAIN, ...words], env);

describe("run", () => {
  it("reports until SIGTERM, says that nobody sees a store in memory, and ends with 0", async () => {
    await using engine = await startScriptedEngine();
    const child = spawn(process.execPath, [MAIN, "run", "--config", configFile([engine.origin])], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = new Promise((resolve) => child.once("close", resolve));
    const events: Record<string, unknown>[] = [];
    createInterface({ input: child.stdout }).on("line", (line) => events.push(JSON.parse(line)));
    const event = (name: string) => events.find((one) => one["event"] === name);
    await until(() => event("process.started") !== undefined, "the start");
    assert.equal(event("store.private")?.["level"], "warn");
    const origin = `http://127.0.0.1:${event("metrics.listening")?.["port"]}`;
    const ask = async (path: string) => {
      const response = await fetch(origin + path);
      return { status: response.status, text: await response.text() };
    };
    assert.deepEqual(await ask("/livez"), { status: 200, text: "ok\n" });
    assert.deepEqual(await ask("/readyz"), { status: 200, text: "ok\n" });
    assert.match((await ask("/metrics")).text, /^edge_agent_reports_put_total\{region="eu-central"\} [1-9]/m);
    assert.equal((await ask("/anything")).status, 404);
    assert.equal((await fetch(`${origin}/metrics`, { method: "POST" })).status, 405);
    child.kill("SIGTERM");
    assert.equal(await ended, 0);
    assert.notEqual(event("process.stopped"), undefined);
  });
  it("names a port that is taken and ends with 1", async () => {
    await using engine = await startScriptedEngine();
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    const { port } = taken.address() as { port: number };
    const config = configFile([engine.origin]);
    const file = written(readFileSync(config, "utf8").replace("127.0.0.1:0", `127.0.0.1:${port}`));
    const { exitCode, stdout } = await edgeAgent(["run", "--config", file]);
    taken.close();
    assert.equal(exitCode, 1);
    assert.match(stdout, new RegExp(`GTM_LISTEN_FAILED.*127\\.0\\.0\\.1:${port}: the port is taken`));
  });
  it("refuses a store that there is not, and does not tell the password in its URL", async () => {
    const { exitCode, stderr } = await edgeAgent(["run", "--config", configFile(["http://127.0.0.1:1"])], {
      STORE: "postgres://:hunter2@127.0.0.1:6379",
    });
    assert.equal(exitCode, 1);
    assert.match(stderr, /store\.url: must be memory:, redis:/);
    assert.match(stderr, /AGENT_CONFIG_INVALID/);
    assert.doesNotMatch(stderr, /hunter2/);
  });
  it("names all ten faults of a configuration and ends with 1", async () => {
    const file = written(`version: 3
region: Not A Label
agent: "?"
store: {}
report: { interval: soon }
engines: [{ url: nowhere }, { url: "http://a", engine: nobody }]
gpus: {}
models: [{ id: "" }, { id: m, cold_start: 80 }]
`);
    const { exitCode, stdout, stderr } = await edgeAgent(["run", "--config", file]);
    assert.deepEqual([exitCode, stdout], [1, ""]);
    const faults = stderr.split("\n").filter((line) => line.startsWith(`${file}:`));
    assert.equal(faults.length, 10, stderr);
    assert.match(stderr, /AGENT_CONFIG_INVALID/);
  });
  it("names a configuration that cannot be read", async () => {
    const { exitCode, stderr } = await edgeAgent(["run", "--config", join(folder, "nothing")]);
    assert.equal(exitCode, 1);
    assert.match(stderr, /GTM_CONFIG_UNREADABLE/);
  });
  it("names a secret that cannot be used", async () => {
    const short = written("c2hvcnQ=\n");
    const config = configFile(["http://127.0.0.1:1"], `report: { key_file: "${short}" }`);
    const { exitCode, stdout } = await edgeAgent(["run", "--config", config]);
    assert.equal(exitCode, 1);
    assert.match(stdout, /at least 16 octets in base64/);
  });
});

describe("scrape --once", () => {
  it("prints the report as it would be put, signed, and the faults on standard error", async () => {
    await using engine = await startScriptedEngine();
    engine.answers.set("/metrics", whole(vllmPage([{ running: "NaN" }])));
    const key = Buffer.alloc(32, 9);
    const config = configFile([engine.origin], `report: { key_file: "${written(key.toString("base64"))}" }`);
    const { exitCode, stdout, stderr } = await edgeAgent(["scrape", "--once", "--config", config]);
    assert.equal(exitCode, 0);
    const report = RegionReport.parse(JSON.parse(stdout));
    assert.deepEqual([report.seq, report.models[0]?.requestsRunning, report.models[0]?.requestsWaiting], [1, null, 0]);
    assert.equal(isSignedWith(report, [key]), true);
    assert.match(stderr, /^ {2}requestsWaiting +0 {2}from vllm:num_requests_waiting$/m);
    assert.match(stderr, /^ {2}requestsRunning +not known {2}not-finite: /m);
    assert.match(stderr, /^ {2}prefixHitFraction +not known {2}needs growth between two scrapes of vllm:/m);
    assert.ok(stderr.endsWith(`${engine.address}: requestsRunning: not-finite\n`));
  });
});

describe("check", () => {
  it("finds nothing wrong beside engine and exporter that answer", async () => {
    await using engine = await startScriptedEngine();
    engine.answers.set("/dcgm", whole(enginePayload("dcgm-exporter.prom")));
    const config = configFile([engine.origin], `gpus: { dcgm_url: "${engine.origin}/dcgm" }`);
    const { exitCode, stdout, stderr } = await edgeAgent(["check", "--config", config]);
    assert.equal(exitCode, 0, stdout);
    assert.match(stdout, new RegExp(`${engine.address}: meta-llama/Llama-3\\.3-70B-Instruct, loaded, 1 replica`));
    assert.match(stdout, /dcgm: 4 GPUs/);
    assert.match(stderr, /usable, everything answers/);
  });
  it("finds the store in order as the shipped user of its region, and says what another region's may not", async () => {
    const users = await makeRedisUsers(join(folder, "users"), ["eu-central", "us-east"]);
    await using redis = await startRedis({ aclFile: users.aclFile, login: users.login("admin") });
    await using engine = await startScriptedEngine();
    const config = configFile([engine.origin]);
    const asUser = (user: string) => {
      const { password } = users.login(user);
      return edgeAgent(["check", "--config", config], { STORE: `redis://${user}:${password}@127.0.0.1:${redis.port}` });
    };
    const own = await asUser("edge-agent-eu-central");
    assert.equal(own.exitCode, 0, own.stdout);
    assert.match(own.stdout, /^ +store: redis:.*: 127\.0\.0\.1:\d+ answers and takes what this agent writes$/m);
    const others = await asUser("edge-agent-us-east");
    assert.equal(others.exitCode, 7);
    assert.match(others.stdout, /^problem {2}store: .*this agent may not SET gtm:v1:report:\{eu-central\}:a1, ZADD /m);
    const { password } = users.login("edge-agent-eu-central");
    assert.doesNotMatch(own.stdout + own.stderr, new RegExp(password));
    assert.equal(await redis.cli("dbsize"), "0", "nothing was put");
  });
  it("names what is wrong, says what to do and ends with 7", async () => {
    const gone = await startScriptedEngine();
    await gone[Symbol.asyncDispose]();
    await using slow = await startScriptedEngine();
    slow.answers.set("/metrics", dripping(vllmPage()));
    slow.answers.set("/v1/models", whole("{}", 401));
    const config = configFile([gone.origin, slow.origin], `gpus: { nvidia_smi: "${join(folder, "nvidia-smi")}" }`);
    const { exitCode, stdout, stderr } = await edgeAgent(["check", "--config", config], {
      STORE: "redis://127.0.0.1:1",
    });
    assert.equal(exitCode, 7);
    for (const problem of [
      /^problem {2}store: redis:\/\/127\.0\.0\.1:1: refused: connect ECONNREFUSED 127\.0\.0\.1:1\. /m,
      new RegExp(`^problem  ${gone.address}: page: refused\\. Nothing listens there\\.`, "m"),
      new RegExp(`^problem  ${slow.address}: page: timed-out\\. No whole answer within scrape\\.deadline\\.`, "m"),
      new RegExp(`^problem  ${slow.address}: models: http-401\\. It asks for a key: set api_key_file\\.`, "m"),
      /^problem {2}nvidia-smi: page: not-runnable\. The command cannot be started\./m,
    ]) {
      assert.match(stdout, problem);
    }
    assert.match(stderr, /: 7 problems\n$/);
  });
  it("ends with 1 where the configuration itself is faulty", async () => {
    const { exitCode, stderr } = await edgeAgent(["check", "--config", written("version: 1\n")]);
    assert.equal(exitCode, 1);
    assert.match(stderr, /engines/);
  });
});
