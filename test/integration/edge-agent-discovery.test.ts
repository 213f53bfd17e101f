/** Engines that come and go in a watched file, credentials that are rotated, certificates of a private authority: with real files and sockets. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { createDoor, NO_ACCESS } from "#edge-agent/door.ts";
import { fileSource } from "#edge-agent/file-source.ts";
import { createScrape } from "#edge-agent/scrape.ts";
import { watchedFile } from "#edge-agent/watched-file.ts";
import { makeCertificates } from "#test/support/certificates.ts";
import { unhurried } from "#test/support/polls.ts";
import { silence, startScriptedEngine } from "#test/support/scripted-engine.ts";
import { until } from "#test/support/until.ts";

const NEVER = new AbortController().signal;
const folder = mkdtempSync(join(tmpdir(), "edge-agent-discovery-"));
after(() => rmSync(folder, { recursive: true }));
const file = (name: string, text: string): string => {
  const path = join(folder, name);
  // As a careful writer does: another file in its place, at once.
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
  return path;
};
const asked = { accept: "*/*", isGuarded: true, signal: NEVER };

describe("a watched file of engines", () => {
  const events: string[] = [];
  const path = file("engines.yaml", "engines:\n  - url: http://10.0.0.5:8000\n");
  const source = fileSource(
    path,
    {},
    {
      onChange: (_, engines) => events.push(`${engines} engines`),
      onUnusable: (_, why) => events.push(why),
    },
  );
  const addresses = (): readonly string[] => source().places.map(({ address }) => address);

  it("has those that stand in it, and others once it changed", () => {
    assert.deepEqual(addresses(), ["10.0.0.5:8000"]);
    file(
      "engines.yaml",
      "engines:\n  - url: http://10.0.0.6:8000\n    engine: llama-cpp\n  - url: http://10.0.0.7:8000\n",
    );
    assert.deepEqual(addresses(), ["10.0.0.6:8000", "10.0.0.7:8000"]);
    assert.equal(source().places[0]?.wish, "llama-cpp");
    assert.deepEqual(events, ["1 engines", "2 engines"]);
  });
  it("that is half there keeps the old ones, and says once which line is wrong", () => {
    writeFileSync(path, "engines:\n  - url: http://10.0.0.8:8000\n  - ur");
    assert.deepEqual(addresses(), ["10.0.0.6:8000", "10.0.0.7:8000"]);
    assert.deepEqual(source().faults, [{ source: path, field: "engines", code: "unusable-file" }]);
    assert.equal(events.length, 3);
    assert.match(events[2] ?? "", /engines\.yaml:3:\d+: engines\[1\]/);
  });
  it("that is gone keeps them, too, and one that is whole again is used", () => {
    rmSync(path);
    assert.deepEqual(addresses(), ["10.0.0.6:8000", "10.0.0.7:8000"]);
    assert.equal(source().faults.length, 1);
    file("engines.yaml", "engines: []\n");
    assert.deepEqual(source(), { places: [], faults: [] });
  });
  it("that is not there yet has nobody, and somebody once it is", () => {
    const late = fileSource(join(folder, "late.yaml"), {}, { onChange: () => {}, onUnusable: () => {} });
    assert.deepEqual([late().places, late().faults.length], [[], 1]);
    file("late.yaml", "engines:\n  - url: http://10.0.0.5:8000\n");
    assert.deepEqual([late().places.length, late().faults], [1, []]);
  });
});

describe("a watched file", () => {
  it("keeps what it held where the newest version cannot be used", () => {
    const path = file("number", "1");
    const content = watchedFile(path, (at) => {
      const number = Number(readFileSync(at, "utf8"));
      if (Number.isNaN(number)) throw new Error("no number");
      return number;
    });
    file("number", "22");
    assert.deepEqual(content(), { content: 22, fault: null });
    file("number", "x");
    assert.deepEqual(content(), { content: 22, fault: "no number" });
  });
});

describe("a credential", () => {
  it("is read again when its file changes, and the old one serves while the new one is unusable", async () => {
    await using engine = await startScriptedEngine();
    const apiKeyFile = file("key", "first\n");
    const door = createDoor({ ...NO_ACCESS, apiKeyFile }, { deadlineMs: 5_000, host: null });
    await door.fetch(`${engine.origin}/v1/models`, asked);
    file("key", "second\n");
    await door.fetch(`${engine.origin}/v1/models`, asked);
    file("key", "");
    assert.deepEqual(door.faults(), [{ field: "api_key_file", code: "unusable-file" }]);
    await door.fetch(`${engine.origin}/v1/models`, asked);
    await door.close();
    assert.deepEqual(
      engine.requests.map(({ authorization }) => authorization),
      ["Bearer first", "Bearer second", "Bearer second"],
    );
  });
  it("of a proxy is shown everywhere, and an engine's key where it belongs", async () => {
    await using engine = await startScriptedEngine();
    const access = { ...NO_ACCESS, apiKeyFile: file("k", "key"), bearerTokenFile: file("t", "token") };
    const door = createDoor(access, { deadlineMs: 5_000, host: null });
    await door.fetch(`${engine.origin}/metrics`, { ...asked, isGuarded: false });
    await door.fetch(`${engine.origin}/v1/models`, asked);
    await door.close();
    assert.deepEqual(
      engine.requests.map(({ authorization }) => authorization),
      ["Bearer token", "Bearer key"],
    );
  });
});

describe("an engine with a certificate of a private authority", () => {
  it("is believed with ca_file alone, also by its address under its name, and after the authority changed", async () => {
    const certificates = await makeCertificates(folder);
    const { certFile, keyFile } = certificates.server;
    const hosts: string[] = [];
    const server = createServer({ cert: readFileSync(certFile), key: readFileSync(keyFile) }, (request, response) => {
      hosts.push(request.headers.host ?? "");
      response.end("a 1\n");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const url = `https://127.0.0.1:${port}/metrics`;
    const kindThrough = async (door: ReturnType<typeof createDoor>): Promise<string> => {
      const fetched = await door.fetch(url, asked);
      return fetched.kind === "failed" ? fetched.code : "answered";
    };
    const deadlineMs = 10_000;
    const stranger = createDoor(NO_ACCESS, { deadlineMs, host: null });
    assert.equal(await kindThrough(stranger), "untrusted");

    // The authority's file is another one first, and then the right one.
    const caFile = file("ca.pem", readFileSync(certificates.client.certFile, "utf8"));
    const door = createDoor({ ...NO_ACCESS, caFile }, { deadlineMs, host: `localhost:${port}` });
    assert.equal(await kindThrough(door), "untrusted");
    file("ca.pem", readFileSync(certificates.caFile, "utf8"));
    assert.equal(await kindThrough(door), "answered");

    const other = createDoor({ ...NO_ACCESS, caFile }, { deadlineMs, host: `elsewhere.example.org:${port}` });
    assert.equal(await kindThrough(other), "untrusted");
    assert.deepEqual(hosts, [`localhost:${port}`]);
    await Promise.all([stranger, door, other].map((one) => one.close()));
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
});

describe("a region's engines of this moment", () => {
  it("are asked; one that went is not, and one that is silent delays nobody from the second round on", async () => {
    await using quick = await startScriptedEngine();
    await using silent = await startScriptedEngine();
    for (const path of ["/metrics", "/v1/models", "/health"]) silent.answers.set(path, silence);
    const placeOf = ({ address, origin }: typeof quick) => ({
      ...{ address, url: origin, wish: "vllm", model: null, aliases: {}, host: null },
      ...{
        model: null,
        aliases: {},
        caFile: null,
        apiKeyFile: null,
        bearerTokenFile: null,
        gpus: { uuids: [], pods: [] },
      },
    });
    let places = [placeOf(quick), placeOf(silent)];
    // Nobody has patience: a round that waited for the silent one would not end before its deadline of a minute.
    const scrape = createScrape(
      { engines: () => ({ places, faults: [] }), gpus: null },
      {
        ...unhurried,
        firstPatienceMs: 0,
        patienceMs: 60_000,
        deadlineMs: 60_000,
        engineDeadlineMs: 60_000,
        runCommand: () => assert.fail(),
      },
    );
    const stop = new AbortController();
    const round = () => scrape.scrapeEngines(() => ({ engine: "vllm", absentPaths: new Set<string>() }), stop.signal);
    await round();
    const heard = new Set<string>();
    await until(async () => {
      for (const address of (await round()).answers.keys()) heard.add(address);
      return heard.has(quick.address);
    }, "an answer of the quick one");
    assert.deepEqual([...heard], [quick.address]);
    assert.equal(silent.requests.length, 3);

    places = [placeOf(silent)];
    const before = quick.requests.length;
    assert.deepEqual(
      (await round()).engines.map(({ address }) => address),
      [silent.address],
    );
    assert.equal(quick.requests.length, before);
    stop.abort();
    await scrape.close();
  });
});
