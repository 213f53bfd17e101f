/** Bodies of every size, shape and speed: read to their end, thrown away, and answered. */
import assert from "node:assert/strict";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { describe, it } from "node:test";
import { gzipSync } from "node:zlib";
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

  it("is read to its end before the answer, and what stands behind the prompt is found", async () => {
    await using front = await startFrontDoor();
    await using connection = await rawConnect(front.port);
    connection.send(head(JSON_TYPE, `Content-Length: ${body.length}`));
    connection.send(body);
    isRedirect(await connection.answer());
    assert.equal(front.entries[0]?.query.promptTokens, 131_072, "as long as any region's context");
    assert.equal(
      front.entries[0]?.query.conversationId,
      front.labels.conversationIdOf("default", "user\0behind the prompt"),
    );
    assert.equal(await metricValue(front.metrics, "gtm_http_body_bytes_total"), body.length);
    connection.send(requestText("GET /v1/models"));
    isRedirect(await connection.answer());
  });

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

describe("a body in other forms", () => {
  const text = chatOf("Hello");
  const query = async (request: string | Uint8Array) => {
    await using front = await startFrontDoor();
    isRedirect(await rawExchange(front.port, request));
    const unscanned = await metricValue(front.metrics, "gtm_http_bodies_unscanned_total");
    return { query: front.entries[0]?.query, unscanned };
  };
  const chunked = (...chunks: readonly string[]): string =>
    [...chunks, ""].map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join("");

  it("is scanned when it comes in chunks", async () => {
    const chunks = text.match(/.{1,7}/g) ?? [];
    const found = await query(head(JSON_TYPE, "Transfer-Encoding: chunked") + chunked(...chunks));
    assert.equal(found.query?.promptTokens, Math.ceil(text.length / 4));
    assert.notEqual(found.query?.conversationId, null);
  });
  it("is steered by its headers when it is compressed, and its size says nothing", async () => {
    const packed = gzipSync(text);
    const headers = head(JSON_TYPE, "Content-Encoding: gzip", "X-Session-Id: s", `Content-Length: ${packed.length}`);
    const found = await query(Buffer.concat([Buffer.from(headers), packed]));
    assert.notEqual(found.query?.conversationId, null);
    assert.deepEqual([found.query?.promptTokens, found.query?.model, found.unscanned], [null, null, 1]);
  });
  it("is steered by its headers when it is a form", async () => {
    const form = `--x\r\nContent-Disposition: form-data; name="model"\r\n\r\nwhisper\r\n--x--\r\n`;
    const found = await query(
      requestText("POST /v1/audio/transcriptions", ["Content-Type: multipart/form-data; boundary=x"], form),
    );
    assert.deepEqual([found.query?.promptTokens, found.query?.model, found.unscanned], [null, null, 1]);
  });
  it("is no prompt when it is no JSON", async () => {
    const found = await query(requestText("POST /v1/chat/completions", [JSON_TYPE], "this is no JSON"));
    assert.deepEqual([found.query?.promptTokens, found.query?.model], [null, null]);
  });
  it("is scanned when curl calls it a form", async () => {
    const type = "Content-Type: application/x-www-form-urlencoded";
    assert.equal((await query(requestText("POST /v1/chat/completions", [type], text))).query?.model, "llama-70b");
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
  it("is let send its body where the headers do not", async () => {
    await using front = await startFrontDoor();
    await using connection = await rawConnect(front.port);
    const body = chatOf("Hello").padEnd(4_000);
    connection.send(expecting("X-GTM-Model: llama"));
    assert.equal((await connection.answer()).status, 100);
    connection.send(body);
    isRedirect(await connection.answer());
    assert.notEqual(front.entries[0]?.query.conversationId, null);
  });
  it("is refused before its body where nothing in it could help", async () => {
    await using front = await startFrontDoor();
    const refused = await rawExchange(front.port, expecting().replace("/v1/", "/v2/"));
    assert.deepEqual([refused.status, refused.headers.get("connection")], [404, "close"]);
  });
  it("is not asked for a body that is too large", async () => {
    await using front = await startFrontDoor({ limits: { bodyBytes: 3_999 } });
    assert.equal((await rawExchange(front.port, expecting())).status, 413);
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
  it("is refused when it comes in chunks without a length", async () => {
    await using front = await startFrontDoor({ limits });
    await using connection = await rawConnect(front.port);
    connection.send(head(JSON_TYPE, "Transfer-Encoding: chunked"));
    for (let sent = 0; sent <= MEGABYTE; sent += 50_000) connection.send(`c350\r\n${"x".repeat(50_000)}\r\n`);
    isTooLarge(await connection.answer());
    connection.send("0\r\n\r\n");
    assert.equal(await connection.ended, "end");
    assert.equal(front.entries.length, 0);
  });
  it("of exactly the limit is taken", async () => {
    await using front = await startFrontDoor({ limits });
    const octets = Buffer.alloc(MEGABYTE, " ");
    await using connection = await rawConnect(front.port);
    connection.send(head(JSON_TYPE, `Content-Length: ${MEGABYTE}`));
    connection.send(octets);
    isRedirect(await connection.answer());
  });
});

describe("a body that does not come to its end in time", () => {
  const limits = { bodyMs: 100, lingerMs: 100 };

  it("is refused with 408, and the connection ends", async () => {
    await using front = await startFrontDoor({ limits });
    await using connection = await rawConnect(front.port);
    connection.send(`${head(JSON_TYPE, "Content-Length: 1000")}{"model":`);
    const answer = await connection.answer();
    assert.deepEqual([answer.status, JSON.parse(answer.body).code], [408, "body-too-slow"]);
    assert.equal(answer.headers.get("connection"), "close");
    assert.equal(await connection.ended, "end");
    assert.equal(front.entries.length, 0);
  });
  it("is refused when it comes an octet at a time", async () => {
    await using front = await startFrontDoor({ limits });
    await using connection = await rawConnect(front.port);
    connection.send(head(JSON_TYPE, "Content-Length: 1000"));
    const drip = setInterval(() => connection.send(" "), 10);
    try {
      assert.equal((await connection.answer()).status, 408);
      assert.equal(await connection.ended, "end");
    } finally {
      clearInterval(drip);
    }
  });
});

describe("a client that goes away in the middle of its body", () => {
  for (const how of ["finish", "destroy"] as const) {
    it(`is counted, and others are served (${how})`, async () => {
      await using front = await startFrontDoor();
      await using connection = await rawConnect(front.port);
      connection.send(`${head(JSON_TYPE, "Content-Length: 1000")}{"model":`);
      await until(async () => (await metricValue(front.metrics, "gtm_http_connections")) === 1);
      connection[how]();
      await until(async () => (await metricValue(front.metrics, "gtm_http_aborts_total")) === 1);
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
