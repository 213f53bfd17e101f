/** Who may come in, by which name, over which protocol, and whose connection it is. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { connect as connectTls } from "node:tls";
import { promisify } from "node:util";
import { type Certificates, makeCertificates } from "#test/support/certificates.ts";
import { openGateway, REGION_HOST, ZONE } from "#test/support/gateway.ts";
import { rawConnect } from "#test/support/http-by-hand.ts";
import { plainReplicas } from "#test/support/plain-replicas.ts";
import { saying, startTalkingEngine, streamed } from "#test/support/talking-engine.ts";
import { until } from "#test/support/until.ts";

const run = promisify(execFile);

const get = (host: string, path = "/v1/models"): string => `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`;

describe("a request by name", () => {
  const cases: readonly { host: string; status: number }[] = [
    { host: REGION_HOST, status: 200 },
    { host: `${REGION_HOST.toUpperCase()}.:443`, status: 200 },
    { host: `chat.${ZONE}`, status: 200 },
    { host: `some-label.c.${ZONE}`, status: 200 },
    { host: `llama-3.m.${ZONE}`, status: 200 },
    { host: `other.${ZONE}`, status: 421 },
    { host: `berlin.r.${ZONE}`, status: 421 },
    { host: `a.b.c.${ZONE}`, status: 421 },
    { host: `c.${ZONE}`, status: 421 },
    { host: ZONE, status: 421 },
    { host: "192.0.2.1", status: 421 },
    { host: `evil.example#.${ZONE}`, status: 400 },
    { host: "a b", status: 400 },
  ];
  it("is served where the name is ours, and 421 where it is not", async () => {
    await using engine = await startTalkingEngine(saying({ ok: true }));
    await using gateway = await openGateway({ replicas: plainReplicas([engine.origin]) });
    for (const { host, status } of cases) {
      await using connection = await rawConnect(gateway.port);
      connection.send(get(host));
      const head = await until(() => connection.rest().includes("\r\n\r\n")).then(() => connection.rest());
      assert.match(head, new RegExp(`^HTTP/1.1 ${status} `), host);
    }
  });

  it("is 404 beside the configured paths, however they are written, so that an engine shows nothing else", async () => {
    await using engine = await startTalkingEngine(saying({ ok: true }));
    await using gateway = await openGateway({ replicas: plainReplicas([engine.origin]) });
    for (const path of ["/metrics", "/", "/v1/../metrics", "/v1/%2e%2e/metrics", "/v1\\..\\metrics", "/v12", "//v1"]) {
      await using connection = await rawConnect(gateway.port);
      connection.send(get("localhost", path));
      assert.equal((await connection.answer()).status, 404, path);
    }
    assert.equal(engine.heard.length, 0);
  });

  it("tells a page that it may ask, whoever it is", async () => {
    await using engine = await startTalkingEngine(saying({ ok: true }));
    await using gateway = await openGateway({ replicas: plainReplicas([engine.origin]) });
    await using connection = await rawConnect(gateway.port);
    const asks = "Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: authorization, x-gtm-pin\r\n";
    connection.send(`OPTIONS /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nOrigin: null\r\n${asks}\r\n`);
    const preflight = await connection.answer();
    assert.equal(preflight.status, 204);
    assert.equal(preflight.headers.get("access-control-allow-origin"), "*");
    assert.equal(preflight.headers.get("access-control-allow-headers"), "authorization, x-gtm-pin");
    connection.send(`GET /v1/models HTTP/1.1\r\nHost: localhost\r\nOrigin: null\r\n\r\n`);
    await until(() => /access-control-allow-origin: \*/i.test(connection.rest()));
    assert.match(connection.rest(), /access-control-expose-headers: .*x-gtm-region/i);
    assert.equal(engine.heard.length, 1);
  });
});

describe("what is no request, or a smuggled one", () => {
  const post = "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n";
  const cases: readonly { name: string; text: string; status: number }[] = [
    {
      name: "both lengths",
      text: `${post}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      status: 400,
    },
    { name: "two lengths", text: `${post}Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcd`, status: 400 },
    { name: "a length with a sign", text: `${post}Content-Length: +4\r\n\r\nabcd`, status: 400 },
    {
      name: "chunked twice removed",
      text: `${post}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
      status: 400,
    },
    { name: "an unknown coding", text: `${post}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`, status: 400 },
    { name: "a folded header", text: `${post}X-A: b\r\n c\r\n\r\n`, status: 400 },
    { name: "a bare LF", text: `POST /v1/x HTTP/1.1\nHost: localhost\n\n`, status: 400 },
    { name: "a blank before the colon", text: `${post}Content-Length : 4\r\n\r\nabcd`, status: 400 },
    { name: "a NUL", text: `${post}X-A: b\0c\r\n\r\n`, status: 400 },
    { name: "a chunk size of words", text: `${post}Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n`, status: 400 },
    { name: "1 MB of headers", text: `${post}X-A: ${"b".repeat(1_048_576)}\r\n\r\n`, status: 431 },
    { name: "no Host", text: "GET /v1/models HTTP/1.1\r\n\r\n", status: 400 },
    { name: "TLS", text: "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", status: 400 },
  ];
  it("is answered with its status, counted, and never reaches an engine", async () => {
    await using engine = await startTalkingEngine(saying({ ok: true }));
    await using gateway = await openGateway({ replicas: plainReplicas([engine.origin]) });
    for (const { name, text, status } of cases) {
      await using connection = await rawConnect(gateway.port);
      connection.send(text);
      await until(() => connection.rest().includes("\r\n\r\n"), name);
      assert.match(connection.rest(), new RegExp(`^HTTP/1.1 ${status} `), name);
    }
    assert.deepEqual(engine.heard, []);
    await using connection = await rawConnect(gateway.port);
    connection.send(get("localhost"));
    await until(() => connection.rest().includes('"ok":true'));
  });
});

describe("a balancer's PROXY header", () => {
  const header = (client: readonly number[]): Buffer =>
    Buffer.from([
      ...[0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a, 0x21, 0x11, 0x00, 0x0c],
      ...client,
      ...[198, 51, 100, 1, 0xd4, 0x31, 0x01, 0xbb],
    ]);

  it("says whose the connection is, also where it comes in pieces", async () => {
    await using engine = await startTalkingEngine(saying({ ok: true }));
    const replicas = plainReplicas([engine.origin]);
    await using gateway = await openGateway({ replicas, settings: { proxy_protocol: ["127.0.0.0/8"] } });
    await using connection = await rawConnect(gateway.port);
    const octets = Buffer.concat([header([192, 0, 2, 7]), Buffer.from(get("localhost"))]);
    connection.send(octets.subarray(0, 10));
    await connection.sent();
    connection.send(octets.subarray(10, 30));
    await connection.sent();
    connection.send(octets.subarray(30));
    await until(() => connection.rest().includes('"ok":true'));
    assert.equal(replicas.turns[0]?.clientPrefix, "192.0.2.0/24");
    assert.equal(replicas.turns[0]?.rttMs, null);
  });

  it("is missed where a trusted network sends none, and is no HTTP from any other", async () => {
    await using engine = await startTalkingEngine(saying({ ok: true }));
    const replicas = plainReplicas([engine.origin]);
    await using gateway = await openGateway({ replicas, settings: { proxy_protocol: ["127.0.0.0/8"] } });
    await using without = await rawConnect(gateway.port);
    without.send(get("localhost"));
    await without.ended;
    assert.equal(without.rest(), "");
    assert.match(await gateway.metricsText(), /gtm_gateway_proxy_headers_refused_total\{reason="no-signature"\} 1/);

    await using untrusting = await openGateway({ replicas, settings: { proxy_protocol: ["192.0.2.0/24"] } });
    await using lying = await rawConnect(untrusting.port);
    lying.send(Buffer.concat([header([192, 0, 2, 7]), Buffer.from(get("localhost"))]));
    assert.equal((await lying.answer()).status, 400);
    assert.deepEqual(replicas.turns, []);
  });
});

describe("over TLS", () => {
  let folder = "";
  let certificates: Certificates;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "gateway-tls-"));
    certificates = await makeCertificates(folder);
  });
  after(() => rm(folder, { recursive: true }));

  const secured = (more: Readonly<Record<string, unknown>> = {}) => ({
    listen: [{ address: "127.0.0.1:0" }],
    tls: { cert_file: certificates.server.certFile, key_file: certificates.server.keyFile },
    ...more,
  });

  for (const version of ["--http1.1", "--http2"]) {
    it(`curl ${version} gets the stream, with the region's headers`, async () => {
      await using engine = await startTalkingEngine(streamed(["hello"]));
      await using gateway = await openGateway({ replicas: plainReplicas([engine.origin]), settings: secured() });
      const { stdout } = await run("curl", [
        ...["-sS", "-i", "-N", version, "--cacert", certificates.caFile, "-H", "Authorization: Bearer demo-key"],
        ...["-d", '{"model":"m","stream":true}', `https://localhost:${gateway.port}/v1/chat/completions`],
      ]);
      assert.match(stdout, version === "--http2" ? /^HTTP\/2 200/ : /^HTTP\/1.1 200 OK/);
      assert.match(stdout, /x-gtm-region: paris/i);
      assert.match(stdout, /"hello"[\s\S]*data: \[DONE\]/);
      assert.equal(engine.heard[0]?.headers.authorization, "Bearer demo-key");
      assert.equal(engine.heard[0]?.body, '{"model":"m","stream":true}');
    });
  }

  it("learns a network's round trip from three handshakes, and not from two", async () => {
    await using engine = await startTalkingEngine(saying({ ok: true }));
    const replicas = plainReplicas([engine.origin]);
    await using gateway = await openGateway({ replicas, settings: secured() });
    const ca = await readFile(certificates.caFile);
    for (let turn = 0; turn < 3; turn++) {
      const socket = connectTls({ port: gateway.port, host: "127.0.0.1", servername: "localhost", ca });
      socket.write(get("localhost"));
      await until(() => replicas.turns.length === turn + 1);
      socket.destroy();
    }
    assert.deepEqual(
      replicas.turns.map(({ rttMs }) => rttMs !== null && rttMs > 0),
      [false, false, true],
    );
  });

  it("learns none through a balancer, whose PROXY header comes before TLS", async () => {
    await using engine = await startTalkingEngine(saying({ ok: true }));
    const replicas = plainReplicas([engine.origin]);
    await using gateway = await openGateway({ replicas, settings: secured({ proxy_protocol: ["127.0.0.0/8"] }) });
    const ca = await readFile(certificates.caFile);
    for (let turn = 0; turn < 4; turn++) {
      const raw = connect({ port: gateway.port, host: "127.0.0.1" });
      raw.write(Buffer.from("0d0a0d0a000d0a515549540a2111000cc0000207c6336401d43101bb", "hex"));
      const socket = connectTls({ socket: raw, servername: "localhost", ca });
      socket.write(get("localhost"));
      await until(() => replicas.turns.length === turn + 1);
      raw.destroy();
    }
    for (const { clientPrefix, rttMs } of replicas.turns)
      assert.deepEqual([clientPrefix, rttMs], ["192.0.2.0/24", null]);
  });

  it("tells a session of HTTP/2 to end where the region drains, and lets its streams end", async () => {
    const rest = Promise.withResolvers<void>();
    await using engine = await startTalkingEngine(async (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("data: 1\n\n");
      await rest.promise;
      response.end("data: 2\n\n");
    });
    await using gateway = await openGateway({ replicas: plainReplicas([engine.origin]), settings: secured() });
    const now = Date.now();
    const order = {
      region: "paris",
      admin: "drain-all",
      comment: "test",
      actor: "test",
      orderedAtMs: now,
      expiresAtMs: null,
    };
    await gateway.store.put("gtm:v1:orders", JSON.stringify({ v: 1, rev: 1, regions: [order], overrides: [] }), null);
    await gateway.store.announce("gtm:v1:changed", JSON.stringify({ key: "gtm:v1:orders", rev: 1 }));
    await until(() => gateway.log.lines.some(({ event }) => event === "region.ordered"));
    const session = connectHttp2(`https://localhost:${gateway.port}`, { ca: await readFile(certificates.caFile) });
    let isToldToGo = false;
    session.on("goaway", () => {
      isToldToGo = true;
    });
    const stream = session.request({ ":path": "/v1/chat/completions", ":method": "POST", authorization: "Bearer k" });
    let text = "";
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
    });
    stream.end("{}");
    await until(() => isToldToGo && text === "data: 1\n\n");
    rest.resolve();
    await until(() => text === "data: 1\n\ndata: 2\n\n" && session.destroyed);
  });

  it("gives new connections the new certificate, and leaves those that stand alone", async () => {
    const own = { certFile: join(folder, "own.crt"), keyFile: join(folder, "own.key") };
    await copyFile(certificates.client.certFile, own.certFile);
    await copyFile(certificates.client.keyFile, own.keyFile);
    await using engine = await startTalkingEngine(saying({ ok: true }));
    const replicas = plainReplicas([engine.origin]);
    const tls = { cert_file: own.certFile, key_file: own.keyFile };
    await using gateway = await openGateway({ replicas, settings: secured({ tls }) });
    const subjectSeen = (servername: string): Promise<string> =>
      new Promise((resolve, reject) => {
        const socket = connectTls(
          { port: gateway.port, host: "127.0.0.1", servername, rejectUnauthorized: false },
          () => {
            resolve(String(socket.getPeerCertificate().subject.CN));
            socket.destroy();
          },
        );
        socket.once("error", reject);
      });
    const standing = connectTls({
      port: gateway.port,
      host: "127.0.0.1",
      servername: "localhost",
      rejectUnauthorized: false,
    });
    assert.equal(await subjectSeen("localhost"), "test client");
    await copyFile(certificates.server.certFile, own.certFile);
    await copyFile(certificates.server.keyFile, own.keyFile);
    // With a name and without one.
    await until(async () => (await subjectSeen("localhost")) === "test server");
    assert.equal(await subjectSeen(""), "test server");
    standing.write(get("localhost"));
    await until(() => replicas.turns.length === 1);
    standing.destroy();
  });
});
