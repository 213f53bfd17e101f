/** Engines that die, clients that vanish, and those who are slow: nobody hangs, and nobody is held. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import OpenAI from "openai";
import { request } from "undici";
import { openGateway } from "#test/support/gateway.ts";
import { rawConnect } from "#test/support/http-by-hand.ts";
import { plainReplicas } from "#test/support/plain-replicas.ts";
import { chunkOf, saying, startTalkingEngine } from "#test/support/talking-engine.ts";
import { until } from "#test/support/until.ts";

const BODY = JSON.stringify({ model: "m", messages: [] });
const chat = (port: number, path = "/v1/chat/completions") =>
  request(`http://127.0.0.1:${port}${path}`, { method: "POST", body: BODY });

describe("an engine that dies in the middle of its stream", () => {
  const forms: readonly { path: string; expected: RegExp }[] = [
    {
      path: "/v1/chat/completions",
      expected: /\n\ndata: \{"error":\{"message":"The engine ended.*\n\ndata: \[DONE\]\n\n$/,
    },
    { path: "/v1/messages", expected: /\n\nevent: error\ndata: \{"type":"error","error":\{"type":"api_error".*\n\n$/ },
    { path: "/v1/responses", expected: /\n\nevent: error\ndata: \{"type":"error","code":"server_error".*\n\n$/ },
  ];
  for (const { path, expected } of forms) {
    it(`ends as an error event of the API's own form: ${path}`, async () => {
      await using engine = await startTalkingEngine((_, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        // Half an event behind a whole one: nobody must see it glued to the error.
        response.write(`${chunkOf("one")}data: {"cho`, () => response.destroy());
      });
      const replicas = plainReplicas([engine.origin]);
      await using gateway = await openGateway({ replicas });
      const text = await (await chat(gateway.port, path)).body.text();
      assert.ok(text.startsWith(chunkOf("one")));
      assert.match(text, expected);
      assert.ok(!text.includes('{"cho'));
      assert.deepEqual(replicas.outcomes, ["failed"]);
    });
  }

  it("is an APIError to the openai package, after what came before", async () => {
    await using engine = await startTalkingEngine((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(chunkOf("one"), () => response.destroy());
    });
    await using gateway = await openGateway({ replicas: plainReplicas([engine.origin]) });
    const client = new OpenAI({ baseURL: `http://127.0.0.1:${gateway.port}/v1`, apiKey: "demo-key", maxRetries: 0 });
    const stream = await client.chat.completions.create({ model: "m", messages: [], stream: true });
    const words: string[] = [];
    await assert.rejects(async () => {
      for await (const chunk of stream) words.push(chunk.choices[0]?.delta.content ?? "");
    }, /The engine ended in the middle of its answer/);
    assert.deepEqual(words, ["one"]);
  });

  it("breaks the connection where the answer is no stream of events, so that half of it is not taken for all", async () => {
    await using engine = await startTalkingEngine((_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write('{"half":', () => response.destroy());
    });
    await using gateway = await openGateway({ replicas: plainReplicas([engine.origin]) });
    const answer = await chat(gateway.port);
    await assert.rejects(answer.body.text());
  });

  it("ends as an error event, too, where it only falls silent", async () => {
    await using engine = await startTalkingEngine((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(chunkOf("one"));
    });
    await using gateway = await openGateway({
      replicas: plainReplicas([engine.origin]),
      settings: { limits: { engine_idle: "1s" } },
    });
    assert.match(await (await chat(gateway.port)).body.text(), /"error":/);
  });
});

describe("an engine that dies before the first byte", () => {
  it("is replaced by another replica, which gets the whole body", async () => {
    await using dying = await startTalkingEngine((_, response) => void response.destroy());
    await using other = await startTalkingEngine(saying({ from: "other" }));
    const replicas = plainReplicas([dying.origin, other.origin]);
    await using gateway = await openGateway({ replicas });
    assert.deepEqual(await (await chat(gateway.port)).body.json(), { from: "other" });
    assert.equal(other.heard[0]?.body, BODY);
    assert.deepEqual(replicas.outcomes, ["failed", "served"]);
    assert.match(await gateway.metricsText(), /gtm_gateway_attempts_failed_total\{reason="UND_ERR_SOCKET"\} 1/);
  });

  it("is replaced where it says 503, and the other's answer is the only one", async () => {
    await using busy = await startTalkingEngine(saying({ no: true }, 503));
    await using other = await startTalkingEngine(saying({ from: "other" }));
    const replicas = plainReplicas([busy.origin, other.origin]);
    await using gateway = await openGateway({ replicas });
    assert.deepEqual(await (await chat(gateway.port)).body.json(), { from: "other" });
    assert.deepEqual(replicas.outcomes, ["refused", "served"]);
  });

  it("is replaced also where the body is too large to be kept, if nothing of it was sent", async () => {
    await using gone = await startTalkingEngine(saying({}));
    await gone.die();
    await using other = await startTalkingEngine((_, response, body) => void response.end(`${body.length}`));
    await using gateway = await openGateway({ replicas: plainReplicas([gone.origin, other.origin]) });
    const body = Buffer.alloc(2_000_000, "x");
    const answer = await request(`http://127.0.0.1:${gateway.port}/v1/files`, { method: "POST", body });
    assert.equal(await answer.body.text(), "2000000");
  });

  it("is a 502 that may be tried again where no other is there", async () => {
    await using dying = await startTalkingEngine((_, response) => void response.destroy());
    await using gateway = await openGateway({ replicas: plainReplicas([dying.origin]) });
    const answer = await chat(gateway.port);
    assert.equal(answer.statusCode, 502);
    assert.equal(answer.headers["x-should-retry"], "true");
    const problem = (await answer.body.json()) as { code: string; error: { message: string } };
    assert.equal(problem.code, "engine-failed");
    assert.match(problem.error.message, /The engine ended before it answered/);
  });

  it("is a 504 and asked no second time where it says nothing at all", async () => {
    await using silent = await startTalkingEngine(() => {});
    const replicas = plainReplicas([silent.origin, "http://127.0.0.1:9"]);
    await using gateway = await openGateway({ replicas, settings: { limits: { engine_idle: "1s" } } });
    assert.equal((await chat(gateway.port)).statusCode, 504);
    assert.equal(replicas.turns.length, 1);
  });

  it("is asked again where it only closed a connection that was idle", async () => {
    let turns = 0;
    await using engine = await startTalkingEngine((asked, response) => {
      turns += 1;
      if (turns === 2) return void asked.socket.destroy();
      response.end("ok");
    });
    await using gateway = await openGateway({ replicas: plainReplicas([engine.origin]) });
    assert.equal(await (await chat(gateway.port)).body.text(), "ok");
    assert.equal(await (await chat(gateway.port)).body.text(), "ok");
    assert.equal(turns, 3);
  });
});

describe("a client that vanishes", () => {
  it("in mid-stream ends the engine's work at once", async () => {
    await using engine = await startTalkingEngine((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(chunkOf("one"));
    });
    const replicas = plainReplicas([engine.origin]);
    await using gateway = await openGateway({ replicas });
    const answer = await chat(gateway.port);
    answer.body.on("error", () => {});
    answer.body.destroy();
    await until(() => engine.abandoned() === 1);
    await until(() => replicas.outcomes[0] === "aborted");
    assert.match(await gateway.metricsText(), /gtm_gateway_requests_total\{outcome="aborted"\} 1/);
  });

  it("before the first byte does so, too", async () => {
    await using engine = await startTalkingEngine(() => {});
    const replicas = plainReplicas([engine.origin]);
    await using gateway = await openGateway({ replicas });
    await using connection = await rawConnect(gateway.port);
    connection.send(`POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}`);
    await until(() => engine.heard.length === 1);
    connection.destroy();
    await until(() => engine.abandoned() === 1);
    assert.deepEqual(replicas.outcomes, ["aborted"]);
  });

  it("in the middle of its body never reaches an engine", async () => {
    await using engine = await startTalkingEngine(saying({}));
    await using gateway = await openGateway({ replicas: plainReplicas([engine.origin]) });
    await using connection = await rawConnect(gateway.port);
    connection.send(`POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 200\r\n\r\n{`);
    await until(async () => (await gateway.metricsText()).includes("gtm_gateway_turns_under_way 1"));
    connection.destroy();
    await until(async () => (await gateway.metricsText()).includes('gtm_gateway_requests_total{outcome="aborted"} 1'));
    assert.equal(engine.heard.length, 0);
  });
});

describe("a client that is slow", () => {
  it("to read holds the engine back, instead of filling memory", async () => {
    let isHeldBack = false;
    await using engine = await startTalkingEngine((_, response) => {
      response.writeHead(200, { "content-type": "application/octet-stream" });
      const chunk = Buffer.alloc(1_048_576);
      const more = (): void => {
        for (let sent = 0; sent < 64; sent++) {
          if (response.write(chunk)) continue;
          isHeldBack = true;
          response.once("drain", more);
          return;
        }
      };
      more();
    });
    const replicas = plainReplicas([engine.origin]);
    await using gateway = await openGateway({ replicas, settings: { limits: { reader_idle: "300ms" } } });
    const answer = await chat(gateway.port);
    // Nothing is read: the connection is cut, and with it the engine's work.
    answer.body.on("error", () => {});
    await until(() => isHeldBack && engine.abandoned() === 1);
    await until(() => replicas.outcomes.length === 1);
    assert.ok(replicas.passed() < 32 * 1_048_576, `${replicas.passed()} octets passed`);
  });

  it("to send is told 408 once nothing came for the limit", async () => {
    await using engine = await startTalkingEngine(saying({}));
    await using gateway = await openGateway({
      replicas: plainReplicas([engine.origin]),
      settings: { limits: { body_idle: "200ms" } },
    });
    await using connection = await rawConnect(gateway.port);
    connection.send(`POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 200\r\n\r\n{`);
    const answer = await connection.answer();
    assert.equal(answer.status, 408);
    assert.equal(answer.headers.get("connection"), "close");
  });

  it("but sends in time is served", async () => {
    await using engine = await startTalkingEngine((_, response, body) => void response.end(`<${body}>`));
    await using gateway = await openGateway({ replicas: plainReplicas([engine.origin]) });
    await using connection = await rawConnect(gateway.port);
    connection.send(`POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nab`);
    await until(async () => (await gateway.metricsText()).includes("gtm_gateway_turns_under_way 1"));
    connection.send("cd");
    await until(() => connection.rest().includes("<abcd>"));
    assert.equal(engine.heard[0]?.body, "abcd");
  });
});

describe("a body that is too large", () => {
  it("is refused by its length before it is read, and the answer arrives while it is still being sent", async () => {
    await using engine = await startTalkingEngine(saying({}));
    await using gateway = await openGateway({
      replicas: plainReplicas([engine.origin]),
      settings: { limits: { body: "1 MB" } },
    });
    const body = Buffer.alloc(5_000_000, "x");
    const answer = await request(`http://127.0.0.1:${gateway.port}/v1/files`, { method: "POST", body });
    assert.equal(answer.statusCode, 413);
    assert.equal(((await answer.body.json()) as { code: string }).code, "body-too-large");
    assert.equal(engine.heard.length, 0);
  });

  it("is refused when it turns out to be, where it did not say", async () => {
    await using engine = await startTalkingEngine(saying({}));
    await using gateway = await openGateway({
      replicas: plainReplicas([engine.origin]),
      settings: { limits: { body: "1 MB", replay: "100 kB" } },
    });
    await using connection = await rawConnect(gateway.port);
    connection.send("POST /v1/files HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
    const chunk = `${(100_000).toString(16)}\r\n${"x".repeat(100_000)}\r\n`;
    for (let sent = 0; sent < 12; sent++) connection.send(chunk);
    assert.equal((await connection.answer()).status, 413);
    assert.equal(engine.heard.length, 0);
  });
});
