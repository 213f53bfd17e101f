/** One GET and one command against real sockets and processes that misbehave. */
import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { createConnections } from "#edge-agent/connections.ts";
import { newEndpoint } from "#edge-agent/endpoint.ts";
import { createFetchText } from "#edge-agent/fetch-text.ts";
import type { Fetched } from "#edge-agent/ports.ts";
import { createRunCommand } from "#edge-agent/run-command.ts";
import { createScrape } from "#edge-agent/scrape.ts";
import { scrapeEngine } from "#edge-agent/scrape-engine.ts";
import { systemClock } from "#shared/clock.ts";
import { unhurried } from "#test/support/polls.ts";
import {
  type Answer,
  brokenOff,
  dripping,
  huge,
  redirecting,
  silence,
  startScriptedEngine,
  whole,
} from "#test/support/scripted-engine.ts";
import { until } from "#test/support/until.ts";
import { enginePayload, vllmPage } from "#test/support/vllm-page.ts";

const MIB = 1_048_576;
const NEVER = new AbortController().signal;
const connections = createConnections();
after(() => connections.destroy());

const fetchFrom = (url: string, deadlineMs: number): Promise<Fetched> =>
  createFetchText(connections, deadlineMs)(url, { accept: "text/plain", bearer: null, signal: NEVER });

/** What is got of an engine whose metrics answer so. */
const got = async (answer: Answer, deadlineMs = 5_000): Promise<Fetched> => {
  await using engine = await startScriptedEngine();
  engine.answers.set("/metrics", answer);
  return await fetchFrom(`${engine.origin}/metrics`, deadlineMs);
};
const codeOf = (fetched: Fetched): string => (fetched.kind === "failed" ? fetched.code : `answered ${fetched.status}`);

describe("a page", () => {
  it("that comes whole is text with its status and type", async () => {
    assert.deepEqual(await got(whole("a 1\n")), {
      kind: "answered",
      status: 200,
      contentType: "text/plain; version=0.0.4",
      octets: Buffer.from("a 1\n"),
    });
  });
  it("with an error status is answered too", async () => {
    assert.equal(codeOf(await got(whole("busy", 503))), "answered 503");
  });
  it("that breaks off is half-sent", async () => {
    assert.equal(codeOf(await got(brokenOff(vllmPage()))), "half-sent");
  });
  it("that breaks off between two chunks is half-sent", async () => {
    const answer: Answer = (_, response) => {
      response.writeHead(200, { "content-type": "text/plain" });
      response.write("a 1\n", () => response.destroy());
    };
    assert.equal(codeOf(await got(answer)), "half-sent");
  });
  it("that drips is out of time when the deadline comes, not when it ends", async () => {
    const beganAtMs = performance.now();
    assert.equal(codeOf(await got(dripping(vllmPage()), 150)), "timed-out");
    assert.ok(performance.now() - beganAtMs < 5_000);
  });
  it("that does not come is out of time", async () => assert.equal(codeOf(await got(silence, 150)), "timed-out"));
  it("of 50 MB is too large, and the rest of it is not read", async () => {
    let sent = 0;
    assert.equal(
      codeOf(
        await got(
          huge(50 * MIB, (bytes) => (sent = bytes)),
          30_000,
        ),
      ),
      "too-large",
    );
    await until(() => sent > 0, "the end of the connection");
    // 16 MiB, and what the sockets' buffers held.
    assert.ok(sent > 16 * MIB && sent < 32 * MIB, `${sent} octets were sent`);
  });
  const encoded =
    (encoding: string, body: Buffer): Answer =>
    (_, response) => {
      response.writeHead(200, { "content-encoding": encoding });
      response.end(body);
    };
  for (const [encoding, encode] of [
    ["gzip", gzipSync],
    ["GZIP", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
  ] as const) {
    it(`that is compressed unasked is read: ${encoding}`, async () => {
      const fetched = await got(encoded(encoding, encode("a 1\n")));
      assert.equal(fetched.kind === "answered" && fetched.octets.toString(), "a 1\n");
    });
  }
  it("that is compressed in a way that nobody knows, or damaged, or to more than a page may have, is none", async () => {
    assert.equal(codeOf(await got(encoded("zstandard", Buffer.from("x")))), "encoded");
    assert.equal(codeOf(await got(encoded("gzip", Buffer.from("x")))), "encoded");
    assert.equal(codeOf(await got(encoded("gzip", gzipSync(Buffer.alloc(17 * MIB))), 30_000)), "encoded");
  });
  it("stays what it was while the next one comes, and is written over by the next but one", async () => {
    await using engine = await startScriptedEngine();
    const fetchText = createFetchText(connections, 5_000);
    const next = async (text: string): Promise<Buffer> => {
      engine.answers.set("/metrics", whole(text));
      const fetched = await fetchText(`${engine.origin}/metrics`, { accept: "*/*", bearer: null, signal: NEVER });
      return fetched.kind === "answered" ? fetched.octets : Buffer.alloc(0);
    };
    const first = await next("a 1\n");
    assert.deepEqual([String(await next("a 2\n")), String(first)], ["a 2\n", "a 1\n"]);
    assert.deepEqual([String(await next("a 3\n")), String(first)], ["a 3\n", "a 3\n"]);
  });
  it("that is asked for twice at once is two", async () => {
    await using engine = await startScriptedEngine();
    const fetchText = createFetchText(connections, 5_000);
    let count = 0;
    engine.answers.set("/metrics", (_, response) => {
      count += 1;
      response.end(`a ${count}\n`);
    });
    const ask = () => fetchText(`${engine.origin}/metrics`, { accept: "*/*", bearer: null, signal: NEVER });
    const texts = (await Promise.all([ask(), ask()])).map((one) => one.kind === "answered" && one.octets.toString());
    assert.deepEqual(texts.toSorted(), ["a 1\n", "a 2\n"]);
  });
});

describe("a redirect", () => {
  it("on the same origin is followed, as /metrics to /metrics/", async () => {
    await using engine = await startScriptedEngine();
    engine.answers.set("/metrics", redirecting("/metrics/"));
    engine.answers.set("/metrics/", whole("a 1\n"));
    const fetched = await fetchFrom(`${engine.origin}/metrics`, 5_000);
    assert.equal(fetched.kind === "answered" && fetched.octets.toString(), "a 1\n");
  });
  it("to another origin is not", async () => {
    await using other = await startScriptedEngine();
    assert.equal(codeOf(await got(redirecting(`${other.origin}/metrics`))), "redirected");
    assert.deepEqual(other.requests, []);
  });
  it("round and round ends", async () => assert.equal(codeOf(await got(redirecting("/metrics"))), "redirected"));
  it("to nowhere ends", async () => assert.equal(codeOf(await got(redirecting("http://["))), "redirected"));
});

describe("an address", () => {
  it("where nothing listens refuses", async () => {
    const engine = await startScriptedEngine();
    await engine[Symbol.asyncDispose]();
    assert.equal(codeOf(await fetchFrom(`${engine.origin}/metrics`, 5_000)), "refused");
  });
  it("where something else speaks is unreachable", async () => {
    const server = createServer((socket) => socket.resume().end("SSH-2.0-x\r\n"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    assert.equal(codeOf(await fetchFrom(`http://127.0.0.1:${port}/metrics`, 5_000)), "unreachable");
    await new Promise((resolve) => server.close(resolve));
  });
  it("that closed a kept connection is asked again", async () => {
    await using engine = await startScriptedEngine();
    let isFirst = true;
    engine.answers.set("/metrics", (_, response) => {
      if (isFirst) response.destroy();
      else response.end("a 1\n");
      isFirst = false;
    });
    assert.equal(codeOf(await fetchFrom(`${engine.origin}/metrics`, 5_000)), "answered 200");
  });
});

describe("an engine that is scraped", () => {
  const target = (origin: string) => ({
    address: "e:1",
    url: origin,
    wish: "vllm",
    door: {
      fetch: (url: string, { isGuarded, ...how }: { accept: string; isGuarded: boolean; signal: AbortSignal }) =>
        createFetchText(connections, 5_000)(url, { ...how, bearer: isGuarded ? "sesame" : null }),
      faults: () => [],
      close: async () => {},
    },
  });
  const STRANGER = newEndpoint("e:1");
  it("is asked for three things and whether it sleeps, and shown the key where health and page are not asked", async () => {
    await using engine = await startScriptedEngine();
    const answers = await scrapeEngine(target(engine.origin), STRANGER, { clock: systemClock, signal: NEVER });
    assert.deepEqual(
      [answers.metrics?.kind, answers.models.kind, answers.health?.kind],
      ["answered", "answered", "answered"],
    );
    assert.deepEqual(
      engine.requests.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
      [
        { path: "/health", authorization: null },
        { path: "/is_sleeping", authorization: "Bearer sesame" },
        { path: "/metrics", authorization: null },
        { path: "/v1/models", authorization: "Bearer sesame" },
      ],
    );
  });
  it("is given up at once when the agent stops", async () => {
    await using engine = await startScriptedEngine();
    for (const path of ["/metrics", "/v1/models", "/health"]) engine.answers.set(path, silence);
    const stopping = new AbortController();
    const answers = scrapeEngine(target(engine.origin), STRANGER, { clock: systemClock, signal: stopping.signal });
    await until(() => engine.requests.length === 3, "three requests");
    stopping.abort();
    assert.equal((await answers).metrics?.kind, "failed");
  });
});

describe("a command", () => {
  const folder = mkdtempSync(join(tmpdir(), "edge-agent-"));
  after(() => rmSync(folder, { recursive: true }));
  const script = (name: string, body: string): string => {
    const file = join(folder, name);
    writeFileSync(file, `#!/bin/sh\n${body}\n`);
    chmodSync(file, 0o755);
    return file;
  };
  const run = createRunCommand(5_000);

  it("that ends well is its output", async () => {
    const csv = join(folder, "gpus.csv");
    writeFileSync(csv, enginePayload("nvidia-smi-query-nounits.csv"));
    const command = script("nvidia-smi", `case "$1" in --query-gpu=index,uuid,*) cat ${csv};; *) exit 2;; esac`);
    const scrape = createScrape(
      { engines: () => ({ places: [], faults: [] }), gpus: [{ kind: "nvidia-smi", command }] },
      { ...unhurried, deadlineMs: 5_000, engineDeadlineMs: 5_000, runCommand: run },
    );
    assert.deepEqual(await scrape.scrapeGpus(NEVER), [
      {
        kind: "nvidia-smi",
        source: "nvidia-smi",
        output: { kind: "ended", exitCode: 0, text: enginePayload("nvidia-smi-query-nounits.csv") },
      },
    ]);
  });
  it("that fails is its exit code and what it said", async () => {
    const command = script("no-devices", "echo No devices were found; exit 6");
    assert.deepEqual(await run(command, [], NEVER), { kind: "ended", exitCode: 6, text: "No devices were found\n" });
  });
  it("that is not there cannot be run", async () => {
    assert.deepEqual(await run(join(folder, "nothing"), [], NEVER), { kind: "failed", code: "not-runnable" });
  });
  it("that does not end is killed at the deadline", async () => {
    const command = script("stuck", "exec sleep 600");
    assert.deepEqual(await createRunCommand(150)(command, [], NEVER), { kind: "failed", code: "timed-out" });
  });
  it("that prints without end is killed", async () => {
    const command = script("endless", "exec yes");
    assert.deepEqual(await run(command, [], NEVER), { kind: "failed", code: "too-large" });
  });
});
