/** Bodies as clients really send them: all at once, in pieces, in chunks, not at all, and not to the end. */
import assert from "node:assert/strict";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { describe, it } from "node:test";
import { startFrontDoor } from "#test/support/front-door.ts";
import { type RawAnswer, rawConnect, rawExchange, requestText } from "#test/support/http-by-hand.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { until } from "#test/support/until.ts";

const FRONT = "Host: front.llm.example.org";
const JSON_TYPE = "Content-Type: application/json";
const MEGABYTE = 1_000_000;

/** A head without its body. */
const head = (...headers: readonly string[]): string =>
  ["POST /v1/chat/completions HTTP/1.1", FRONT, ...headers, "", ""].join("\r\n");
const chatOf = (content: string): string =>
  JSON.stringify({ messages: [{ role: "user", content }], model: "llama", user: "behind the prompt" });
const isRedirect = (answer: RawAnswer): void => assert.equal(answer.status, 307, answer.body);

describe("a body of 20 MB", () => {
  const body = Buffer.from(chatOf('He said "no".\n'.repeat(20 * 66_000)));

  it("from a client that writes all of it before it reads is answered, too", async () => {
    await using front = await startFrontDoor();
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const sending = httpRequest(
        { port: front.port, host: "127.0.0.1", method: "POST", path: "/v1/chat/completions" },
        resolve,
      );
      sending.on("error", reject);
      sending.end(body);
    });
    answer.resume();
    assert.equal(answer.statusCode, 307);
  });
});

describe("a body that comes in chunks", () => {
  it("is scanned across their borders", async () => {
    await using front = await startFrontDoor();
    const text = chatOf("Hello");
    const chunks = [...(text.match(/.{1,7}/g) ?? []), ""].map(
      (chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`,
    );
    isRedirect(await rawExchange(front.port, head(JSON_TYPE, "Transfer-Encoding: chunked") + chunks.join("")));
    assert.equal(front.entries[0]?.query.promptTokens, Math.ceil(text.length / 4));
    assert.notEqual(front.entries[0]?.query.conversationId, null);
  });
});

describe("a client that waits for 100 Continue", () => {
  const expecting = (...headers: readonly string[]): string =>
    head(JSON_TYPE, "Expect: 100-continue", "Content-Length: 4000", ...headers);

  it("is redirected before its body where the headers name model and conversation", async () => {
    await using front = await startFrontDoor();
    await using connection = await rawConnect(front.port);
    connection.send(expecting("X-GTM-Model: llama", "X-Session-Id: s"));
    const answer = await connection.answer();
    isRedirect(answer);
    assert.equal(answer.headers.get("connection"), "close", "nobody knows whether the body will come");
    assert.equal(front.entries[0]?.query.promptTokens, 1_000);
    connection.destroy();
    await until(async () => (await metricValue(front.metrics, "gtm_http_connections")) === 0);
    assert.equal(await metricValue(front.metrics, "gtm_http_aborts_total"), 0, "it had its answer");
    assert.doesNotMatch(await front.metrics.text(), /gtm_http_client_errors_total\{/);
  });
});

describe("a body that is larger than allowed", () => {
  const limits = { bodyBytes: MEGABYTE, lingerMs: 5_000 };
  const isTooLarge = (answer: RawAnswer): void => {
    assert.equal(answer.status, 413);
    assert.equal(answer.headers.get("connection"), "close");
    assert.equal(JSON.parse(answer.body).code, "body-too-large");
  };

  it("is refused, and the client that writes it all to the end reads that instead of a reset", async () => {
    await using front = await startFrontDoor({ limits });
    await using connection = await rawConnect(front.port);
    connection.send(head(JSON_TYPE, `Content-Length: ${10 * MEGABYTE}`));
    connection.send(Buffer.alloc(10 * MEGABYTE, "x"));
    isTooLarge(await connection.answer());
    assert.equal(await connection.ended, "end");
  });
});

describe("a client that goes away in the middle of its body", () => {
  for (const how of ["finish", "destroy"] as const) {
    it(`is counted, decided nothing for, and others are served (${how})`, async () => {
      await using front = await startFrontDoor();
      await using connection = await rawConnect(front.port);
      connection.send(`${head(JSON_TYPE, "Content-Length: 1000")}{"model":`);
      await until(async () => (await metricValue(front.metrics, "gtm_http_connections")) === 1);
      connection[how]();
      await until(async () => (await metricValue(front.metrics, "gtm_http_aborts_total")) === 1);
      assert.equal(front.entries.length, 0);
      isRedirect(await rawExchange(front.port, requestText("GET /v1/models")));
    });
  }
});

describe("a body that comes in pieces", () => {
  it("is put together, wherever it was cut", async () => {
    await using front = await startFrontDoor();
    const whole = Buffer.from(requestText("POST /v1/chat/completions", [JSON_TYPE], chatOf("Hello")));
    for (const at of [whole.length - 1, whole.indexOf("\r\n\r\n") + 4, whole.indexOf("llama") + 2]) {
      await using connection = await rawConnect(front.port);
      connection.send(whole.subarray(0, at));
      await connection.sent();
      connection.send(whole.subarray(at));
      isRedirect(await connection.answer());
    }
    assert.deepEqual(
      front.entries.map(({ query }) => query.model),
      ["llama-70b", "llama-70b", "llama-70b"],
    );
  });
});
