/** `edge-agent gateway` as its own process, before an engine simulator that wants a key, with the real openai package. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import OpenAI from "openai";
import { ReplicaPage } from "#edge-agent/gateway/replica-page.ts";
import { SIMULATED_MODEL, startSimulator } from "#test/support/engine-simulators.ts";
import { freePort } from "#test/support/free-port.ts";
import { ZONE } from "#test/support/gateway.ts";
import { runNode } from "#test/support/program.ts";
import { startProgram } from "#test/support/running-program.ts";
import { until } from "#test/support/until.ts";

const KEY = "demo-key";

const withKeyFile = () => {
  const folder = mkdtempSync(join(tmpdir(), "gateway-process-"));
  const keyFile = join(folder, "engine.key");
  writeFileSync(keyFile, KEY);
  return { keyFile, folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) };
};

const settingsFor = (engines: readonly string[], keyFile: string) => ({
  ...{ version: 1, region: "eu-central", gateway: "g1", zone: ZONE, hosts: ["127.0.0.1"] },
  store: { url: "memory:" },
  listen: [{ address: "127.0.0.1:0", tls: false }],
  engines: engines.map((url) => ({ url, api_key_file: keyFile })),
  drain: { linger: "0s", deadline: "5s" },
  metrics: { listen: "127.0.0.1:0" },
});

describe("the gateway as a process", () => {
  it("serves a chat of the openai package turn by turn at one replica, tells what its replicas do, and stops on SIGTERM", async () => {
    using files = withKeyFile();
    await using one = await startSimulator({ apiKey: KEY });
    await using two = await startSimulator({ apiKey: KEY });
    await using gateway = await startProgram(
      "edge-agent/main.ts",
      "gateway",
      settingsFor([one.origin, two.origin], files.keyFile),
    );
    const client = new OpenAI({ baseURL: `${gateway.url("gateway")}/v1`, apiKey: KEY, maxRetries: 0 });
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "system", content: "You are brief. ".repeat(200) }];
    const cached: number[] = [];
    for (let turn = 0; turn < 3; turn++) {
      messages.push({ role: "user", content: `Question ${turn}` });
      const stream = await client.chat.completions.create({
        ...{ model: SIMULATED_MODEL, messages, stream: true, max_tokens: 8 },
        stream_options: { include_usage: true },
      });
      let answer = "";
      for await (const chunk of stream) {
        answer += chunk.choices[0]?.delta.content ?? "";
        if (chunk.usage) cached.push(chunk.usage.prompt_tokens_details?.cached_tokens ?? 0);
      }
      assert.ok(answer.length > 0);
      messages.push({ role: "assistant", content: answer });
    }
    assert.equal(cached.length, 3);
    const wrong = new OpenAI({ baseURL: `${gateway.url("gateway")}/v1`, apiKey: "another", maxRetries: 0 });
    await assert.rejects(wrong.chat.completions.create({ model: SIMULATED_MODEL, messages }), { status: 401 });

    const page = ReplicaPage.parse(JSON.parse((await gateway.get("metrics", "/replicas")).text));
    assert.equal(page.replicas.length, 4);
    assert.equal((await gateway.get("metrics", "/readyz")).status, 200);
    assert.equal(await gateway.metric("gtm_gateway_requests_total", { outcome: "served" }), 4);
    assert.equal((await fetch(`${gateway.url("gateway")}/healthz`)).status, 200);
    const said = JSON.stringify(gateway.events);
    for (const secret of [KEY, "Question", "You are brief"]) assert.ok(!said.includes(secret), secret);

    process.kill(gateway.pid, "SIGTERM");
    await until(() => gateway.said("process.stopped").length === 1);
  });

  it("says at /healthz that no engine answers, and serves when one does", async () => {
    using files = withKeyFile();
    const port = await freePort();
    await using gateway = await startProgram(
      "edge-agent/main.ts",
      "gateway",
      settingsFor([`http://127.0.0.1:${port}`], files.keyFile),
    );
    const health = async () => (await fetch(`${gateway.url("gateway")}/healthz`)).status;
    assert.equal(await health(), 503);
    await using _back = await startSimulator({ apiKey: KEY, listen: { address: "127.0.0.1", port } });
    await until(async () => (await health()) === 200);
  });
});

describe("edge-agent gateway check", () => {
  const check = async (settings: object) => {
    using files = withKeyFile();
    const path = join(files.folder, "gateway.yaml");
    writeFileSync(path, JSON.stringify(settings));
    return await runNode(["edge-agent/main.ts", "gateway", "check", "--config", path]);
  };

  it("names every problem and what to do about it, and ends with 7", async () => {
    using files = withKeyFile();
    await using engine = await startSimulator({ apiKey: KEY });
    const ended = await check(settingsFor([engine.origin, "http://127.0.0.1:9"], files.keyFile));
    assert.equal(ended.exitCode, 7, ended.stderr);
    assert.match(ended.stdout, new RegExp(`^ +127\\.0\\.0\\.1:${engine.port}: ${SIMULATED_MODEL}, 2 replicas$`, "m"));
    assert.match(ended.stdout, /^problem +127\.0\.0\.1:9: no model is known there\. Start the engine/m);
    assert.match(ended.stdout, /^problem +keys: without ticket_file .* gtm keys region eu-central$/m);
    assert.match(ended.stdout, /^problem +keys: without report_file .* report key of eu-central learn nothing/m);
    assert.match(ended.stderr, /4 problems/);
  });

  it("refuses a configuration with faults by line, and a certificate without its key by name", async () => {
    using files = withKeyFile();
    const wrong = { ...settingsFor(["http://user@127.0.0.1:9/v1"], files.keyFile), zone: "UPPER.example." };
    const ended = await check(wrong);
    assert.equal(ended.exitCode, 1);
    assert.match(ended.stderr, /zone: must be a name such as llm\.example\.org/);
    assert.match(ended.stderr, /engines\[0\]\.url: must not hold a credential/);
    const tls = { cert_file: files.keyFile, key_file: files.keyFile };
    const keys = { report_file: files.keyFile };
    const unsigning = await check({ ...settingsFor(["http://127.0.0.1:9"], files.keyFile), keys });
    assert.match(unsigning.stdout, /^problem +keys: .*engine\.key: expected a report key, at least 16 octets/m);
    assert.ok(!unsigning.stdout.includes(KEY));
    const certified = await check({ ...settingsFor(["http://127.0.0.1:9"], files.keyFile), tls });
    assert.match(certified.stdout, /^problem +tls: .*engine\.key: expected certificates in PEM/m);
    assert.ok(!certified.stdout.includes(KEY));
  });
});
