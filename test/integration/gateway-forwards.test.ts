/** A turn through the gateway: what the engine sees of it, what the client sees of the answer, and when. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { request } from "undici";
import { openGateway } from "#test/support/gateway.ts";
import { rawConnect } from "#test/support/http-by-hand.ts";
import { plainReplicas } from "#test/support/plain-replicas.ts";
import { chunkOf, saying, startTalkingEngine, streamed } from "#test/support/talking-engine.ts";
import { until } from "#test/support/until.ts";

const BODY = JSON.stringify({ model: "m", messages: [{ role: "user", content: "hello" }] });

describe("a turn that is forwarded", () => {
  it("reaches the engine with the client's key, path, query and body, and without headers of ours", async () => {
    await using engine = await startTalkingEngine(saying({ ok: true }));
    const replicas = plainReplicas([engine.origin]);
    await using gateway = await openGateway({ replicas });
    const answer = await request(`http://127.0.0.1:${gateway.port}/v1/chat/completions?a=%2f&b`, {
      method: "POST",
      body: BODY,
      headers: {
        authorization: "Bearer demo-key",
        "content-type": "application/json",
        "x-own": "2",
        "x-gtm-pin": "p1nonsense",
        "accept-encoding": "gzip",
      },
    });
    assert.equal(answer.statusCode, 200);
    assert.deepEqual(await answer.body.json(), { ok: true });
    assert.equal(answer.headers["x-gtm-region"], "paris");
    assert.equal(answer.headers["x-gtm-replica"], `127.0.0.1:${engine.port}/0`);
    assert.equal(answer.headers["x-accel-buffering"], "no");
    const [heard] = engine.heard;
    assert.equal(heard?.url, "/v1/chat/completions?a=%2f&b");
    assert.equal(heard?.body, BODY);
    assert.equal(heard?.headers.authorization, "Bearer demo-key");
    assert.equal(heard?.headers["x-own"], "2");
    assert.equal(heard?.headers.host, `127.0.0.1:${engine.port}`);
    assert.equal(heard?.headers["accept-encoding"], "identity");
    assert.equal(heard?.headers["x-gtm-pin"], undefined);
    const [turn] = replicas.turns;
    assert.equal(turn?.model, "m");
    assert.equal(turn?.promptTokens, BODY.length / 4);
    assert.equal(turn?.path, "/v1/chat/completions");
    assert.equal(turn?.clientPrefix, "127.0.0.0/24");
    assert.deepEqual(replicas.outcomes, ["served"]);
  });

  it("hands on each event when it comes, before the next one exists", async () => {
    const second = Promise.withResolvers<void>();
    await using engine = await startTalkingEngine(async (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(chunkOf("one"));
      await second.promise;
      response.end(chunkOf("two"));
    });
    await using gateway = await openGateway({ replicas: plainReplicas([engine.origin]) });
    const answer = await request(`http://127.0.0.1:${gateway.port}/v1/chat/completions`, {
      method: "POST",
      body: BODY,
    });
    const chunks = answer.body[Symbol.asyncIterator]();
    assert.equal(String((await chunks.next()).value), chunkOf("one"));
    second.resolve();
    assert.equal(String((await chunks.next()).value), chunkOf("two"));
    assert.equal((await chunks.next()).done, true);
  });

  it("shows the answer's head before there is an event", async () => {
    const first = Promise.withResolvers<void>();
    await using engine = await startTalkingEngine(async (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.flushHeaders();
      await first.promise;
      response.end(chunkOf("one"));
    });
    await using gateway = await openGateway({ replicas: plainReplicas([engine.origin]) });
    const answer = await request(`http://127.0.0.1:${gateway.port}/v1/chat/completions`, {
      method: "POST",
      body: BODY,
    });
    assert.equal(answer.statusCode, 200);
    first.resolve();
    assert.equal(await answer.body.text(), chunkOf("one"));
  });

  it("keeps statuses, cookies and trailers of the engine", async () => {
    await using engine = await startTalkingEngine((_, response) => {
      response.writeHead(429, ["Set-Cookie", "a=1", "Set-Cookie", "b=2", "Trailer", "X-Sum", "X-Ratelimit", "0"]);
      response.write("slow down");
      response.addTrailers({ "X-Sum": "42" });
      response.end();
    });
    await using gateway = await openGateway({ replicas: plainReplicas([engine.origin]) });
    const answer = await request(`http://127.0.0.1:${gateway.port}/v1/models`);
    assert.equal(answer.statusCode, 429);
    assert.deepEqual(answer.headers["set-cookie"], ["a=1", "b=2"]);
    assert.equal(await answer.body.text(), "slow down");
    assert.deepEqual(answer.trailers, { "x-sum": "42" });
  });

  it("sends a body of 3 MB on while it comes, larger than what is kept", async () => {
    await using engine = await startTalkingEngine((_, response, body) => {
      response.end(`${body.length}`);
    });
    const replicas = plainReplicas([engine.origin]);
    await using gateway = await openGateway({ replicas });
    const body = Buffer.alloc(3_000_000, "x");
    const answer = await request(`http://127.0.0.1:${gateway.port}/v1/files`, { method: "POST", body });
    assert.equal(await answer.body.text(), "3000000");
    assert.equal(replicas.turns[0]?.promptTokens, 750_000);
  });

  it("reaches the engine without headers of one connection, also where the client sends it in chunks", async () => {
    await using engine = await startTalkingEngine((_, response, body) => void response.end(body));
    await using gateway = await openGateway({ replicas: plainReplicas([engine.origin]) });
    await using connection = await rawConnect(gateway.port);
    const own = "Connection: keep-alive, X-Of-Hop\r\nX-Of-Hop: 1\r\nTE: trailers\r\n";
    connection.send(`POST /v1/x HTTP/1.1\r\nHost: localhost\r\n${own}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n`);
    connection.send("4\r\ndefg\r\n0\r\nX-Trailer: 1\r\n\r\n");
    await until(() => connection.rest().includes("abcdefg"));
    assert.equal(engine.heard[0]?.body, "abcdefg");
    for (const name of ["x-of-hop", "te", "transfer-encoding", "x-trailer"]) {
      assert.equal(engine.heard[0]?.headers[name], undefined, name);
    }
  });

  it("is told to go on where it waits for that, and only once it is admitted", async () => {
    await using engine = await startTalkingEngine((_, response, body) => void response.end(body));
    await using gateway = await openGateway({ replicas: plainReplicas([engine.origin]) });
    await using connection = await rawConnect(gateway.port);
    const head = "Content-Length: 3\r\nExpect: 100-continue\r\n\r\n";
    connection.send(`POST /v1/x HTTP/1.1\r\nHost: elsewhere.example\r\n${head}`);
    assert.equal((await connection.answer()).status, 421);
    await using second = await rawConnect(gateway.port);
    second.send(`POST /v1/x HTTP/1.1\r\nHost: localhost\r\n${head}`);
    assert.equal((await second.answer()).status, 100);
    second.send("abc");
    await until(() => second.rest().includes("abc"));
    assert.equal(engine.heard.length, 1);
    assert.equal(engine.heard[0]?.headers.expect, undefined);
  });

  it("has no body in the answer to a HEAD, and none where the status allows none", async () => {
    await using engine = await startTalkingEngine((asked, response) => {
      response.writeHead(asked.method === "HEAD" ? 200 : 204, asked.method === "HEAD" ? { "content-length": 7 } : {});
      response.end();
    });
    await using gateway = await openGateway({ replicas: plainReplicas([engine.origin]) });
    const head = await request(`http://127.0.0.1:${gateway.port}/v1/models`, { method: "HEAD" });
    assert.equal(head.headers["content-length"], "7");
    const none = await request(`http://127.0.0.1:${gateway.port}/v1/files/1`, { method: "DELETE" });
    assert.equal(none.statusCode, 204);
  });

  it("keeps its connection, and the engine's, for the next turn", async () => {
    await using engine = await startTalkingEngine(streamed(["a", "b"]));
    await using gateway = await openGateway({ replicas: plainReplicas([engine.origin]) });
    await using connection = await rawConnect(gateway.port);
    for (let turn = 1; turn <= 3; turn++) {
      connection.send(`POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}`);
      await until(() => connection.rest().split("[DONE]").length === turn + 1);
    }
    assert.equal(engine.heard.length, 3);
  });
});
