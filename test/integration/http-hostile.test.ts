/** What strangers and broken clients send to the front door, octet by octet: no HTTP, too much of it, or too slowly. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type RunningFrontDoor, startFrontDoor } from "#test/support/front-door.ts";
import { FRONT_HOST } from "#test/support/http-ask.ts";
import { rawConnect } from "#test/support/http-by-hand.ts";
import { stillServes } from "#test/support/http-still-serves.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { answersUntilEnd, askRaw, type RawAnswer } from "#test/support/raw-http.ts";
import { until } from "#test/support/until.ts";

const REGION_URL = "https://frankfurt.r.llm.example.org";
const HEAD = `POST /v1/chat/completions HTTP/1.1\r\nHost: ${FRONT_HOST}\r\n`;

const get = (target: string, headers = `Host: ${FRONT_HOST}\r\n`): string => `GET ${target} HTTP/1.1\r\n${headers}\r\n`;

describe("what is no HTTP, or too much of it", () => {
  /** @param count Host included */
  const withHeaders = (count: number): string =>
    `${HEAD}${Array.from({ length: count - 1 }, (_, at) => `X-H${at}: v\r\n`).join("")}\r\n`;
  const cases: readonly {
    readonly what: string;
    readonly octets: string;
    readonly status: number;
    readonly code: string | null;
  }[] = [
    { what: "garbage", octets: "\0\x01\xff garbage \r\n\r\n", status: 400, code: "HPE_INVALID_METHOD" },
    {
      what: "a TLS hello",
      octets: "\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03",
      status: 400,
      code: "HPE_INVALID_METHOD",
    },
    { what: "HTTP/2 unasked", octets: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", status: 400, code: "HPE_PAUSED_H2_UPGRADE" },
    { what: "half a head", octets: HEAD, status: 400, code: "HPE_INVALID_EOF_STATE" },
    {
      what: "half a body",
      octets: `${HEAD}Content-Length: 100\r\n\r\n{"mod`,
      status: 400,
      code: "HPE_INVALID_EOF_STATE",
    },
    {
      what: "a header of 40 KB",
      octets: `${HEAD}X-Big: ${"x".repeat(40_000)}\r\n\r\n`,
      status: 431,
      code: "HPE_HEADER_OVERFLOW",
    },
    {
      what: "a target of 40 KB",
      octets: get(`/v1/${"x".repeat(40_000)}`),
      status: 431,
      code: "HPE_HEADER_OVERFLOW",
    },
    { what: "101 headers", octets: withHeaders(101), status: 431, code: null },
    { what: "122 headers", octets: withHeaders(122), status: 431, code: "HPE_HEADER_OVERFLOW" },
    {
      what: "chunks that are none",
      octets: `${HEAD}Transfer-Encoding: chunked\r\n\r\nZZ\r\n{}\r\n0\r\n\r\n`,
      status: 400,
      code: "HPE_INVALID_CHUNK_SIZE",
    },
    {
      what: "a chunk of a negative size",
      octets: `${HEAD}Transfer-Encoding: chunked\r\n\r\n-1\r\n`,
      status: 400,
      code: "HPE_INVALID_CHUNK_SIZE",
    },
    {
      what: "a length and chunks at once",
      octets: `${HEAD}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /v1/smuggled HTTP/1.1\r\nHost: a\r\n\r\n`,
      status: 400,
      code: "HPE_INVALID_TRANSFER_ENCODING",
    },
    {
      what: "two lengths",
      octets: `${HEAD}Content-Length: 2\r\nContent-Length: 40\r\n\r\n{}`,
      status: 400,
      code: "HPE_UNEXPECTED_CONTENT_LENGTH",
    },
    {
      what: "a header of 1 MB",
      octets: `${HEAD}X-Big: ${"x".repeat(1_000_000)}\r\n\r\n`,
      status: 431,
      code: "HPE_HEADER_OVERFLOW",
    },
    {
      what: "a thousand headers of 1 KB",
      octets: `${HEAD}${`X-Big: ${"x".repeat(1_000)}\r\n`.repeat(1_000)}\r\n`,
      status: 431,
      code: "HPE_HEADER_OVERFLOW",
    },
    ...(
      [
        ["chunks behind a blank", "Transfer-Encoding : chunked\r\n"],
        ["chunks behind a tab", "Transfer-Encoding:\tchunked\r\nContent-Length: 5\r\n"],
        ["chunks that are not the last encoding", "Transfer-Encoding: chunked, identity\r\n"],
        ["another encoding than chunks", "Transfer-Encoding: xchunked\r\n"],
        ["two encodings", "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n"],
        ["chunks in a folded header", "Transfer-Encoding:\r\n chunked\r\nContent-Length: 5\r\n"],
        ["chunks in a header that a line feed ends", "X-A: b\nTransfer-Encoding: chunked\r\n"],
        ["chunks in a header that a carriage return ends", "X-A: b\rTransfer-Encoding: chunked\r\n"],
        ["chunks behind a NUL", "X-A: b\0\r\nTransfer-Encoding: chunked\r\n"],
        ["a length with a sign", "Content-Length: +5\r\n"],
        ["two lengths in one", "Content-Length: 5, 6\r\n"],
        ["a length beyond all numbers", "Content-Length: 99999999999999999999999\r\n"],
        ["a header without a name", ": x\r\nContent-Length: 5\r\n"],
        ["a first header that is folded", " X: y\r\nContent-Length: 5\r\n"],
      ] as const
    ).map(([what, headers]) => ({
      ...{ what: `smuggling by ${what}`, status: 400, code: null },
      octets: `${HEAD}${headers}\r\n0\r\n\r\nGET /v1/smuggled HTTP/1.1\r\nHost: a\r\n\r\n`,
    })),
    {
      what: "smuggling by a chunk whose size a line feed ends",
      octets: `${HEAD}Transfer-Encoding: chunked\r\n\r\n2\n{}\r\n0\r\n\r\nGET /v1/smuggled HTTP/1.1\r\nHost: a\r\n\r\n`,
      status: 400,
      code: null,
    },
    {
      what: "a length that is no number",
      octets: `${HEAD}Content-Length: 0x10\r\n\r\n`,
      status: 400,
      code: "HPE_INVALID_CONTENT_LENGTH",
    },
  ];
  for (const { what, octets, status, code } of cases) {
    it(`is answered ${status} once, counted, and ends its connection: ${what}`, async () => {
      await using front = await startFrontDoor({ limits: { lingerMs: 50 } });
      await using client = await rawConnect(front.port);
      client.send(octets);
      client.finish();
      const answers = await answersUntilEnd(client);
      assert.deepEqual(
        answers.map((one) => one.status),
        [status],
      );
      assert.equal(answers[0]?.headers.get("content-type"), "application/problem+json");
      if (code !== null) assert.equal(await metricValue(front.metrics, "gtm_http_client_errors_total", { code }), 1);
      assert.equal(await metricValue(front.metrics, "gtm_http_answers_total", { status: `${status}` }), 1);
      assert.equal(front.entries.length, 0);
      await stillServes(front);
    });
  }

  it("is not what lies just within the limits: 100 headers, or one of 30 KB", async () => {
    await using front = await startFrontDoor();
    for (const request of [withHeaders(100), `${HEAD}X-Big: ${"x".repeat(30_000)}\r\n\r\n`]) {
      assert.equal((await askRaw(front.port, request)).status, 307);
    }
  });
  it("does not take away the answer to a whole request before it", async () => {
    await using front = await startFrontDoor({ limits: { lingerMs: 50 } });
    await using client = await rawConnect(front.port);
    client.send(`${HEAD}\r\n\0\0 garbage\r\n\r\n`);
    const statuses = (await answersUntilEnd(client)).map(({ status }) => status);
    assert.deepEqual(statuses, [307, 400]);
  });
});

describe("requests sent in a row without waiting", () => {
  it("are answered in their order", async () => {
    await using front = await startFrontDoor();
    await using client = await rawConnect(front.port);
    const request = (at: number): string =>
      `POST /v1/${at} HTTP/1.1\r\nHost: ${FRONT_HOST}\r\nContent-Length: 2\r\n\r\n{}`;
    client.send(Array.from({ length: 30 }, (_, at) => request(at)).join(""));
    const answers: RawAnswer[] = [];
    while (answers.length < 30) answers.push(await client.answer());
    assert.deepEqual(
      answers.map(({ headers }) => headers.get("location")),
      Array.from({ length: 30 }, (_, at) => `${REGION_URL}/v1/${at}`),
    );
  });
});

describe("a client that sends an octet at a time", () => {
  /** Until the connection is closed. */
  const drip = async (front: RunningFrontDoor, head: string, octets: string): Promise<readonly RawAnswer[]> => {
    await using client = await rawConnect(front.port);
    client.send(head);
    let at = 0;
    const timer = setInterval(() => {
      client.send(octets[at++ % octets.length] ?? " ");
    }, 20);
    try {
      await until(() => at > 2);
      await stillServes(front);
      return await answersUntilEnd(client);
    } finally {
      clearInterval(timer);
    }
  };
  it("is answered 408 once its body takes too long, and others are served meanwhile", async () => {
    await using front = await startFrontDoor({ limits: { bodyMs: 250, lingerMs: 100 } });
    const answers = await drip(front, `${HEAD}Content-Length: 1000\r\n\r\n`, "{");
    assert.deepEqual(
      answers.map(({ status }) => status),
      [408],
    );
    assert.equal(JSON.parse(answers[0]?.body ?? "").code, "body-too-slow");
  });
  it("is answered 408 once its headers take too long, and others are served meanwhile", async () => {
    await using front = await startFrontDoor({ limits: { headersMs: 250, lingerMs: 100 } });
    const answers = await drip(front, `${HEAD}X-Slow: `, "x");
    assert.deepEqual(
      answers.map(({ status }) => status),
      [408],
    );
    const code = "ERR_HTTP_REQUEST_TIMEOUT";
    assert.equal(await metricValue(front.metrics, "gtm_http_client_errors_total", { code }), 1);
  });
  it("is told 408 and closed when it never sends anything", async () => {
    await using front = await startFrontDoor({ limits: { headersMs: 150, lingerMs: 50 } });
    await using client = await rawConnect(front.port);
    const statuses = (await answersUntilEnd(client)).map(({ status }) => status);
    assert.deepEqual(statuses, [408]);
  });
});

describe("more connections than allowed", () => {
  it("are closed at once and counted, and the others go on", async () => {
    await using front = await startFrontDoor({ limits: { connections: 2 } });
    await using one = await rawConnect(front.port);
    await using _two = await rawConnect(front.port);
    await until(async () => (await metricValue(front.metrics, "gtm_http_connections")) === 2, "both are open");
    await using three = await rawConnect(front.port);
    assert.deepEqual(await answersUntilEnd(three), []);
    assert.equal(await metricValue(front.metrics, "gtm_http_connections_refused_total"), 1);
    one.send(`${HEAD}\r\n`);
    assert.equal((await one.answer()).status, 307);
  });
});

describe("a client that goes away in the middle", () => {
  it("is counted as such, and nothing is decided for it", async () => {
    await using front = await startFrontDoor();
    {
      await using client = await rawConnect(front.port);
      client.send(`${HEAD}Content-Length: 1000\r\n\r\n{`);
      await until(async () => (await metricValue(front.metrics, "gtm_http_connections")) === 1);
      await stillServes(front);
    }
    await until(async () => (await metricValue(front.metrics, "gtm_http_aborts_total")) === 1, "the abort is counted");
    assert.equal(front.entries.length, 1, "the other one's");
  });
});
