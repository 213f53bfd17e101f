/** Bodies over HTTP/2 that come slowly, or are too large to be kept: passed on while they come, to their last octet. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { type Certificates, makeCertificates } from "#test/support/certificates.ts";
import { openGateway } from "#test/support/gateway.ts";
import { plainReplicas } from "#test/support/plain-replicas.ts";
import { saying, startTalkingEngine } from "#test/support/talking-engine.ts";
import { until } from "#test/support/until.ts";

let folder: string;
let certificates: Certificates;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "gtm-slow-bodies-"));
  certificates = await makeCertificates(folder);
});
after(() => rm(folder, { recursive: true }));

const HALF = "x".repeat(100_000);

const statusOf = async (stream: ClientHttp2Stream): Promise<number> => {
  const [headers] = (await once(stream, "response")) as [Record<string, unknown>];
  stream.resume();
  await once(stream, "end");
  return Number(headers[":status"]);
};

const startHouse = async () => {
  await using started = new AsyncDisposableStack();
  const engine = started.use(await startTalkingEngine(saying({ ok: true })));
  const replicas = plainReplicas([engine.origin]);
  const { certFile, keyFile } = certificates.server;
  const settings = {
    listen: [{ address: "127.0.0.1:0", tls: true }],
    tls: { cert_file: certFile, key_file: keyFile },
  };
  const gateway = started.use(await openGateway({ replicas, settings }));
  const ca = await readFile(certificates.caFile);
  const session: ClientHttp2Session = connect(`https://localhost:${gateway.port}`, { ca });
  started.defer(() => session.destroy());
  const all = started.move();
  return {
    ...{ engine, replicas },
    post: () => session.request({ ":method": "POST", ":path": "/v1/chat/completions" }),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
};

describe("a body over HTTP/2 that pauses for longer than the gateway keeps it", () => {
  it("arrives whole once its second half has come", async () => {
    await using house = await startHouse();
    const stream = house.post();
    stream.write(HALF);
    // The engine is chosen when the gateway no longer waits for the rest.
    await until(() => house.replicas.turns.length === 1, "the turn to begin");
    stream.end(HALF);
    assert.equal(await statusOf(stream), 200);
    assert.equal(house.engine.heard[0]?.body, HALF + HALF);
  });
});

describe("a body over HTTP/2 that is larger than what is kept", () => {
  it("arrives whole", async () => {
    await using house = await startHouse();
    const stream = house.post();
    const body = HALF.repeat(30);
    stream.end(body);
    assert.equal(await statusOf(stream), 200);
    assert.equal(house.engine.heard[0]?.body.length, body.length);
  });
});
