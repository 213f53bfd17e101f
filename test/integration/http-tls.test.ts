/** The front door's own TLS, and connections whose balancer says whose they are. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { copyFile, mkdtemp, readFile, rm } from "node:fs/promises";
import { request } from "node:https";
import { connect as connectTcp } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { connect, type PeerCertificate, type TLSSocket } from "node:tls";
import { type Certificates, makeCertificates } from "#test/support/certificates.ts";
import { type FrontDoorWish, type RunningFrontDoor, startFrontDoor } from "#test/support/front-door.ts";
import { rawConnect } from "#test/support/http-by-hand.ts";
import { textOf } from "#test/support/origin-server.ts";
import { until } from "#test/support/until.ts";

const REQUEST = "GET /v1/models HTTP/1.1\r\nHost: front.llm.example.org\r\n\r\n";
let folder: string;
let first: Certificates;
let second: Certificates;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "front-tls-"));
  const made = await Promise.all([mkdtemp(join(folder, "a-")), mkdtemp(join(folder, "b-"))]);
  [first, second] = await Promise.all([makeCertificates(made[0]), makeCertificates(made[1])]);
});
after(() => rm(folder, { recursive: true }));

/** With files of its own. */
const startSecure = async (wish: FrontDoorWish = {}) => {
  const own = await mkdtemp(join(folder, "front-"));
  const paths = { certFile: join(own, "tls.crt"), keyFile: join(own, "tls.key") };
  const put = async ({ server }: Certificates): Promise<void> => {
    await copyFile(server.keyFile, paths.keyFile);
    await copyFile(server.certFile, paths.certFile);
  };
  await put(first);
  return { front: await startFrontDoor({ tls: paths, ...wish }), put };
};

const ask = async (front: RunningFrontDoor, trusts: Certificates): Promise<{ status: number; location: string }> => {
  const ca = await readFile(trusts.caFile);
  const asked = request({ port: front.port, host: "127.0.0.1", path: "/v1/models", ca, agent: false });
  asked.end();
  const [reply] = await once(asked, "response");
  await textOf(reply);
  return { status: reply.statusCode, location: reply.headers.location };
};
const secured = async (front: RunningFrontDoor): Promise<TLSSocket> => {
  const socket = connect({ port: front.port, host: "127.0.0.1", ca: await readFile(first.caFile) });
  await once(socket, "secureConnect");
  return socket;
};

describe("a front door with a certificate", () => {
  it("redirects over TLS, and speaks HTTP/1.1 only", async () => {
    const { front } = await startSecure();
    await using _ = front;
    assert.deepEqual(await ask(front, first), {
      status: 307,
      location: "https://frankfurt.r.llm.example.org/v1/models",
    });
    const socket = connect({
      ...{ port: front.port, host: "127.0.0.1", ca: await readFile(first.caFile) },
      ALPNProtocols: ["h2", "http/1.1"],
    });
    await once(socket, "secureConnect");
    assert.equal(socket.alpnProtocol, "http/1.1");
    socket.destroy();
  });
  it("takes another certificate when the files change, and keeps the connections that stand", async () => {
    const { front, put } = await startSecure();
    await using _ = front;
    const standing = await secured(front);
    const before = standing.getPeerCertificate().fingerprint256;
    await put(second);
    const current = async (): Promise<PeerCertificate> => {
      const socket = connect({ port: front.port, host: "127.0.0.1", rejectUnauthorized: false });
      await once(socket, "secureConnect");
      const found = socket.getPeerCertificate();
      socket.destroy();
      return found;
    };
    await until(async () => (await current()).fingerprint256 !== before, "the new certificate is used");
    assert.equal((await ask(front, second)).status, 307);
    standing.write(REQUEST);
    const [octets] = await once(standing, "data");
    assert.match(String(octets), /^HTTP\/1\.1 307 /);
    standing.destroy();
  });
  it("counts what is no TLS, and goes on", async () => {
    const { front } = await startSecure();
    await using _ = front;
    await using plain = await rawConnect(front.port);
    plain.send(REQUEST);
    await plain.ended;
    await until(async () => /gtm_http_client_errors_total\{/.test(await front.metrics.text()), "it is counted");
    assert.equal((await ask(front, first)).status, 307);
  });
  it("stops with idle connections over TLS, answering what is under way", async () => {
    const { front } = await startSecure();
    const [idle, used] = await Promise.all([secured(front), secured(front)]);
    used.write(REQUEST);
    await once(used, "data");
    await front.stop();
    for (const socket of [idle, used]) if (!socket.closed) await once(socket, "close");
    assert.match(await front.metrics.text(), /gtm_http_connections_cut_total 0/);
  });
  it("does not start without its files", async () => {
    await assert.rejects(startFrontDoor({ tls: { certFile: "/nowhere/tls.crt", keyFile: "/nowhere/tls.key" } }), {
      code: "GTM_CONFIG_UNREADABLE",
    });
  });
});

describe("behind a balancer that speaks the PROXY protocol", () => {
  const WISH = { proxyProtocol: true, trustedProxies: ["127.0.0.1"] };
  /** Of a client 203.0.113.9 (HAProxy, proxy-protocol.txt §2.2). */
  const HEADER = Buffer.concat([
    Buffer.from("0d0a0d0a000d0a515549540a2111000c", "hex"),
    Buffer.from([203, 0, 113, 9, 127, 0, 0, 1, 0x30, 0x39, 0x1f, 0x90]),
  ]);

  it("a request is its client's", async () => {
    await using front = await startFrontDoor(WISH);
    await using connection = await rawConnect(front.port);
    connection.send(Buffer.concat([HEADER, Buffer.from(REQUEST)]));
    assert.equal((await connection.answer()).status, 307);
    assert.equal(front.entries[0]?.query.clientSubnet, "203.0.113.0/24");
  });
  it("a header in pieces is read, and the client is no proxy whose own words count", async () => {
    await using front = await startFrontDoor(WISH);
    await using connection = await rawConnect(front.port);
    connection.send(HEADER.subarray(0, 5));
    await connection.sent();
    connection.send(HEADER.subarray(5));
    connection.send(REQUEST.replace("\r\n\r\n", "\r\nX-Forwarded-For: 198.51.100.1\r\n\r\n"));
    assert.equal((await connection.answer()).status, 307);
    assert.equal(front.entries[0]?.query.clientSubnet, "203.0.113.0/24");
  });
  it("a connection that begins otherwise is closed and counted", async () => {
    await using front = await startFrontDoor(WISH);
    await using connection = await rawConnect(front.port);
    connection.send(REQUEST);
    await connection.ended;
    assert.equal(connection.rest(), "");
    assert.match(await front.metrics.text(), /gtm_http_proxy_headers_refused_total\{reason="no-signature"\} 1/);
    assert.equal(front.entries.length, 0);
  });
  it("a request over TLS is its client's, too", async () => {
    const { front } = await startSecure(WISH);
    await using _ = front;
    const raw = connectTcp(front.port, "127.0.0.1");
    await once(raw, "connect");
    raw.write(HEADER);
    const socket = connect({ socket: raw, host: "127.0.0.1", ca: await readFile(first.caFile) });
    await once(socket, "secureConnect");
    socket.write(REQUEST);
    const [octets] = await once(socket, "data");
    assert.match(String(octets), /^HTTP\/1\.1 307 /);
    assert.equal(front.entries[0]?.query.clientSubnet, "203.0.113.0/24");
    socket.destroy();
  });
  it("is not believed of anybody else", async () => {
    await using front = await startFrontDoor({ ...WISH, trustedProxies: ["10.0.0.0/8"] });
    await using connection = await rawConnect(front.port);
    connection.send(Buffer.concat([HEADER, Buffer.from(REQUEST)]));
    assert.equal((await connection.answer()).status, 400);
    assert.equal(front.entries.length, 0);
  });
});
