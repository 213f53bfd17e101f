/** Bodies that are large, too large, no JSON, or held back until they are asked for. */
import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { aRegion, MODEL } from "#test/support/builders.ts";
import { startFrontDoor } from "#test/support/front-door.ts";
import type { FrontDoorReport } from "#test/support/front-door-process.ts";
import { FRONT_HOST } from "#test/support/http-ask.ts";
import { rawConnect } from "#test/support/http-by-hand.ts";
import { stillServes } from "#test/support/http-still-serves.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { answersUntilEnd, askRaw, type RawAnswer } from "#test/support/raw-http.ts";

const HEAD = `POST /v1/chat/completions HTTP/1.1\r\nHost: ${FRONT_HOST}\r\n`;
const NAMED = `X-GTM-Model: ${MODEL}\r\nX-Conversation-Id: c1\r\n`;
const LOCATION = "https://frankfurt.r.llm.example.org/v1/chat/completions";

type OwnProcess = AsyncDisposable & {
  readonly port: number;
  readonly memory: () => Promise<FrontDoorReport & { kind: "memory" }>;
};

const startOwnProcess = async (): Promise<OwnProcess> => {
  const child = fork("test/support/front-door-process.ts");
  const next = async (): Promise<FrontDoorReport> => (await once(child, "message"))[0];
  const first = await next();
  assert.equal(first.kind, "listening");
  return {
    port: first.kind === "listening" ? first.port : 0,
    memory: async () => {
      child.send("memory");
      const report = await next();
      assert.ok(report.kind === "memory");
      return report;
    },
    [Symbol.asyncDispose]: async () => {
      const exit = once(child, "exit");
      child.disconnect();
      await exit;
    },
  };
};

describe("a body of 20 MB", () => {
  const MEBIBYTE = 1_048_576;
  const bytes = 20_000_000;
  const start = Buffer.from('{"messages":[{"role":"user","content":"');
  const end = Buffer.from(`"}],"model":"${MODEL}"}`);

  /** @param piece is repeated within one string, which is what uploads consist of */
  const post = async (port: number, piece: Buffer): Promise<RawAnswer> => {
    await using client = await rawConnect(port);
    client.send(`${HEAD}Content-Type: application/json\r\nContent-Length: ${bytes}\r\n\r\n`);
    client.send(start);
    for (let left = bytes - start.length - end.length; left > 0; left -= piece.length) {
      client.send(piece.subarray(0, left));
      await client.sent();
    }
    client.send(end);
    return await client.answer();
  };

  it("is read to its end and redirected; the process grows by less than 64 MiB, and after six by less than 100", async () => {
    await using front = await startOwnProcess();
    await askRaw(front.port, `${HEAD}\r\n`);
    const { rssBytes } = await front.memory();
    const grownMiB = async (): Promise<number> => ((await front.memory()).peakRssBytes - rssBytes) / MEBIBYTE;
    const image = Buffer.alloc(65_536, "A0b1+/");
    const postImage = async (): Promise<void> => {
      const { status, headers } = await post(front.port, image);
      assert.deepEqual([status, headers.get("location")], [307, LOCATION]);
      assert.notEqual(headers.get("connection"), "close");
    };
    await postImage();
    const afterOne = await grownMiB();
    assert.ok(afterOne < 64, `grew by ${Math.round(afterOne)} MiB at its peak`);
    for (let times = 1; times < 6; times++) await postImage();
    const afterSix = await grownMiB();
    assert.ok(afterSix < 100, `grew by ${Math.round(afterSix)} MiB at its peak, of 120 MB that passed`);
  });

  it("names its model behind all of that, and every octet is counted as prompt", async () => {
    const placement = { contextLimitTokens: null, kvCapacityTokens: null, replicaCount: 0 };
    await using front = await startFrontDoor({ worldRegions: [aRegion("frankfurt", { placement })] });
    const text = Buffer.from("It is a long way. ".repeat(3_640));
    assert.equal((await post(front.port, text)).status, 307);
    const { query } = front.entries[0] ?? assert.fail("nothing was decided");
    assert.equal(query.model, MODEL);
    assert.equal(query.promptTokens, bytes / 4);
    assert.equal(await metricValue(front.metrics, "gtm_http_body_bytes_total"), bytes);
  });
});

describe("a body over the limit", () => {
  const limits = { bodyBytes: 1_000, lingerMs: 100 };
  const chunk = `3e8\r\n${"x".repeat(1_000)}\r\n`;
  for (const { what, head, octets } of [
    { what: "announced", head: "Content-Length: 5000\r\n", octets: "x".repeat(5_000) },
    { what: "announced, and not sent", head: "Content-Length: 5000\r\n", octets: "" },
    { what: "in chunks", head: "Transfer-Encoding: chunked\r\n", octets: `${chunk.repeat(5)}0\r\n\r\n` },
    { what: "in chunks without an end", head: "Transfer-Encoding: chunked\r\n", octets: chunk.repeat(5) },
  ]) {
    it(`is answered 413, and its connection ends: ${what}`, async () => {
      await using front = await startFrontDoor({ limits });
      await using client = await rawConnect(front.port);
      client.send(`${HEAD}${head}\r\n${octets}`);
      const [answer, ...more] = await answersUntilEnd(client);
      assert.equal(answer?.status, 413);
      assert.equal(JSON.parse(answer?.body ?? "").code, "body-too-large");
      assert.equal(answer?.headers.get("connection"), "close");
      assert.deepEqual(more, []);
      assert.equal(front.entries.length, 0);
      await stillServes(front);
    });
  }
  it("is none of exactly the limit", async () => {
    await using front = await startFrontDoor({ limits });
    const answer = await askRaw(front.port, `${HEAD}Content-Length: 1000\r\n\r\n${"x".repeat(1_000)}`);
    assert.equal(answer.status, 307);
  });
  it("is refused before it is sent, where the client asks first", async () => {
    await using front = await startFrontDoor({ limits });
    const answer = await askRaw(front.port, `${HEAD}Expect: 100-continue\r\nContent-Length: 5000\r\n\r\n`);
    assert.equal(answer.status, 413);
  });
});

describe("a body that is no plain JSON", () => {
  const gzipped = gzipSync(JSON.stringify({ model: "not-looked-at", prompt_cache_key: "k" }));
  const boundary = "--frontier";
  const form = Buffer.from(
    `${boundary}\r\nContent-Disposition: form-data; name="model"\r\n\r\nother\r\n${boundary}--\r\n`,
  );
  for (const [what, type, body] of [
    ["compressed twice", "Content-Type: application/json\r\nContent-Encoding: gzip, gzip\r\n", gzipped],
    [
      "cut while it was compressed",
      "Content-Type: application/json\r\nContent-Encoding: gzip\r\n",
      gzipped.subarray(0, -9),
    ],
    ["a form without a boundary", "Content-Type: multipart/form-data\r\n", form],
    ["a recording", "Content-Type: audio/wav\r\n", Buffer.alloc(3_000, 7)],
  ] as const) {
    it(`is steered by its headers, of unknown length in tokens, and counted: ${what}`, async () => {
      await using front = await startFrontDoor();
      await using client = await rawConnect(front.port);
      client.send(`${HEAD}${NAMED}${type}Content-Length: ${body.length}\r\n\r\n`);
      client.send(body);
      assert.equal((await client.answer()).headers.get("location"), LOCATION);
      const { query } = front.entries[0] ?? assert.fail("nothing was decided");
      assert.deepEqual([query.model, query.promptTokens], [MODEL, null]);
      assert.equal(query.conversationId, front.labels.conversationIdOf("default", "c1"));
      assert.equal(await metricValue(front.metrics, "gtm_http_bodies_unscanned_total"), 1);
    });
  }
  it("is taken for no object where it says JSON and is none", async () => {
    await using front = await startFrontDoor();
    const body = '{"model": }}}}]]]"\\u00';
    const head = `${HEAD}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    assert.equal((await askRaw(front.port, head + body)).status, 307);
    await stillServes(front);
  });
});

describe("a client that holds its body back until it is asked for it", () => {
  const expecting = "Expect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: 4000\r\n";
  it("is redirected before it sends any of it, where its headers name model and conversation", async () => {
    await using front = await startFrontDoor();
    await using client = await rawConnect(front.port);
    client.send(`${HEAD}${NAMED}${expecting}\r\n`);
    const answer = await client.answer();
    assert.equal(answer?.status, 307);
    assert.equal(answer?.headers.get("location"), LOCATION);
    assert.equal(answer?.headers.get("connection"), "close");
    assert.equal(front.entries[0]?.query.promptTokens, 1_000);
  });
  it("is asked for it where they do not, and redirected after it", async () => {
    await using front = await startFrontDoor();
    await using client = await rawConnect(front.port);
    client.send(`${HEAD}${expecting}\r\n`);
    assert.equal((await client.answer()).status, 100);
    client.send(JSON.stringify({ model: MODEL, user: "u" }).padEnd(4_000));
    const answer = await client.answer();
    assert.equal(answer?.status, 307);
    assert.notEqual(answer?.headers.get("connection"), "close");
    assert.equal(front.entries[0]?.query.model, MODEL);
  });
});
