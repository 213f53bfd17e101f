/** What strangers, broken clients and attackers send to the front door, octet by octet. */
import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { aPool, aRegion, MODEL } from "#test/support/builders.ts";
import { type FrontDoorWish, type RunningFrontDoor, startFrontDoor, ZONE } from "#test/support/front-door.ts";
import type { FrontDoorReport } from "#test/support/front-door-process.ts";
import { rawConnect } from "#test/support/http-by-hand.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { answersUntilEnd, askRaw, type RawAnswer } from "#test/support/raw-http.ts";
import { until } from "#test/support/until.ts";

const FRONT = `front.${ZONE}`;
const HEAD = `POST /v1/chat/completions HTTP/1.1\r\nHost: ${FRONT}\r\n`;
const NAMED = `X-GTM-Model: ${MODEL}\r\nX-Conversation-Id: c1\r\n`;
const REGION_URL = "https://frankfurt.r.llm.example.org";
const LOCATION = `${REGION_URL}/v1/chat/completions`;

const stillServes = async (front: RunningFrontDoor): Promise<void> => {
  const { status, headers } = await askRaw(front.port, `${HEAD}\r\n`);
  assert.deepEqual([status, headers.get("location")], [307, LOCATION], "others are served");
  const bugs = front.lines.filter(({ event }) => event === "http.bug");
  assert.deepEqual(bugs, [], "no bug came to light");
};

const get = (target: string, headers = `Host: ${FRONT}\r\n`): string => `GET ${target} HTTP/1.1\r\n${headers}\r\n`;

describe("an attempt to point the redirect elsewhere", () => {
  const attempts: readonly { readonly by: string; readonly request: string; readonly status: number }[] = [
    { by: "a Host of somebody else", request: get("/v1/x", "Host: evil.example\r\n"), status: 307 },
    { by: "a Host with user information", request: get("/v1/x", `Host: ${FRONT}@evil.example\r\n`), status: 400 },
    { by: "a Host with a path", request: get("/v1/x", "Host: evil.example/\r\n"), status: 400 },
    { by: "a Host with a space", request: get("/v1/x", "Host: front evil.example\r\n"), status: 400 },
    { by: "two Hosts", request: get("/v1/x", `Host: ${FRONT}\r\nHost: evil.example\r\n`), status: 400 },
    { by: "no Host", request: get("/v1/x", ""), status: 400 },
    { by: "an empty Host", request: get("/v1/x", "Host:\r\n"), status: 400 },
    {
      by: "headers of proxies",
      request: get(
        "/v1/x",
        `Host: ${FRONT}\r\nX-Forwarded-Host: evil.example\r\nForwarded: host=evil.example;proto=http\r\nX-Forwarded-Proto: http\r\nX-Forwarded-Port: 1\r\nX-Forwarded-Prefix: //evil.example\r\nX-Original-URL: //evil.example/v1\r\nX-Rewrite-URL: http://evil.example/v1\r\n`,
      ),
      status: 307,
    },
    { by: "an absolute target", request: get("http://evil.example/v1/x"), status: 307 },
    { by: "an absolute target with user information", request: get(`http://${FRONT}@evil.example/v1/x`), status: 400 },
    { by: "an absolute target of another scheme", request: get("ftp://evil.example/v1/x"), status: 400 },
    { by: "an absolute target of three slashes", request: get("http:///evil.example/v1/x"), status: 400 },
    { by: "a network path", request: get("//evil.example/v1/x"), status: 404 },
    { by: "a network path of backslashes", request: get("/\\evil.example/v1/x"), status: 400 },
    { by: "a network path below the pool's", request: get("/v1//evil.example/x"), status: 307 },
    { by: "a target that goes on the authority with @", request: get("@evil.example/v1/x"), status: 400 },
    { by: "a target that goes on the authority with a dot", request: get(".evil.example/v1/x"), status: 400 },
    { by: "a target that goes on the authority with a port", request: get(":80@evil.example/v1/x"), status: 400 },
    { by: "user information in the path", request: get("/v1/@evil.example/"), status: 307 },
    { by: "a URL in the query", request: get("/v1/x?next=//evil.example&u=http://evil.example"), status: 307 },
    { by: "dot segments", request: get("/v1/../../evil.example"), status: 404 },
    { by: "encoded dot segments", request: get("/v1/%2e%2E/.%2e/evil.example"), status: 404 },
    { by: "dot segments of backslashes", request: get("/v1\\..\\..\\evil.example"), status: 400 },
    { by: "dot segments back into the pool", request: get("/v1/a/../x"), status: 307 },
    { by: "encoded slashes", request: get("/v1/%2f%2fevil.example%5c..%2f.."), status: 307 },
    { by: "encoded line ends", request: get("/v1/x%0d%0aLocation:%20http://evil.example"), status: 307 },
    // The line feed ends a request line of HTTP/0.9; what follows is a header of the request, and no matter.
    { by: "a line feed in the target", request: get("/v1/x\nLocation: http://evil.example"), status: 307 },
    { by: "a carriage return in the target", request: get("/v1/x\rLocation: http://evil.example"), status: 400 },
    { by: "a tab in the target", request: get("/v1/x\t//evil.example"), status: 400 },
    { by: "a NUL in the target", request: get("/v1/x\0//evil.example"), status: 400 },
    { by: "an octet beyond ASCII in the target", request: get("/v1/\xe9"), status: 400 },
    {
      by: "a line feed in a name of a conversation",
      request: get("/v1/x", `Host: ${FRONT}\r\nX-Conversation-Id: a\nLocation: http://evil.example\r\n`),
      status: 400,
    },
    {
      by: "a carriage return in a model's name",
      request: get("/v1/x", `Host: ${FRONT}\r\nX-GTM-Model: a\rLocation: http://evil.example\r\n`),
      status: 400,
    },
    {
      by: "a folded header",
      request: get("/v1/x", `Host: ${FRONT}\r\nX-Conversation-Id: a\r\n Location: http://evil.example\r\n`),
      status: 400,
    },
    {
      by: "a Location of its own",
      request: get("/v1/x", `Host: ${FRONT}\r\nLocation: http://evil.example/\r\nHost-: evil.example\r\n`),
      status: 307,
    },
    { by: "a tunnel", request: `CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n`, status: 0 },
    { by: "an asterisk", request: `OPTIONS * HTTP/1.1\r\nHost: ${FRONT}\r\n\r\n`, status: 400 },
  ];

  const assertHarmless = ({ headers }: RawAnswer): void => {
    const location = headers.get("location");
    if (location === undefined) return;
    assert.ok(location.startsWith(`${REGION_URL}/v1/`), location);
    const url = new URL(location);
    assert.deepEqual([url.origin, url.username, url.password], [REGION_URL, "", ""]);
    assert.match(url.pathname, /^\/v1\//, "as clients resolve it, too");
  };

  it("ends in a redirect to the configured region, or in none", async () => {
    await using front = await startFrontDoor({ worldRegions: [aRegion("frankfurt")] });
    const found: Record<string, number> = {};
    for (const { by, request } of attempts) {
      await using client = await rawConnect(front.port);
      client.send(request);
      client.finish();
      const [answer, ...more] = await answersUntilEnd(client);
      assert.deepEqual(more, [], by);
      if (answer !== undefined) assertHarmless(answer);
      found[by] = answer?.status ?? 0;
      assert.equal(answer?.headers.has("location") ?? false, found[by] === 307, by);
    }
    assert.deepEqual(found, Object.fromEntries(attempts.map(({ by, status }) => [by, status])));
    await stillServes(front);
  });

  it("is none of our business, where only our own names are answered", async () => {
    await using front = await startFrontDoor({ defaultPool: null });
    for (const request of [get("/v1/x", "Host: evil.example\r\n"), get("http://evil.example/v1/x")]) {
      assert.equal((await askRaw(front.port, request)).status, 421);
    }
    // RFC 9112 §3.2.2: the target counts, not Host.
    const ours = await askRaw(front.port, get(`http://chat.${FRONT}/v1/x`, "Host: evil.example\r\n"));
    assert.equal(ours.headers.get("location"), `${REGION_URL}/v1/x`);
  });

  it("stays below the region even where every path is the pool's", async () => {
    const regions = [aRegion("frankfurt")];
    const pool = aPool(regions, { paths: ["/"] });
    await using front = await startFrontDoor({ worldRegions: regions, pools: [pool], defaultPool: pool });
    for (const target of ["//evil.example/", "/%2f/evil.example", "/@evil.example", "/.evil.example"]) {
      const { status, headers } = await askRaw(front.port, get(target));
      assert.deepEqual([status, headers.get("location")], [307, REGION_URL + target]);
      assert.equal(new URL(headers.get("location") ?? "").origin, REGION_URL);
    }
  });
});

describe("what is no HTTP, or too much of it", () => {
  const manyHeaders = Array.from({ length: 120 }, (_, at) => `X-H${at}: v\r\n`).join("");
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
    { what: "122 headers", octets: `${HEAD}${manyHeaders}\r\n`, status: 431, code: null },
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
    const request = (at: number): string => `POST /v1/${at} HTTP/1.1\r\nHost: ${FRONT}\r\nContent-Length: 2\r\n\r\n{}`;
    client.send(Array.from({ length: 30 }, (_, at) => request(at)).join(""));
    const answers: RawAnswer[] = [];
    while (answers.length < 30) answers.push(await client.answer());
    assert.deepEqual(
      answers.map(({ headers }) => headers.get("location")),
      Array.from({ length: 30 }, (_, at) => `${REGION_URL}/v1/${at}`),
    );
  });
});

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

  it("is read to its end and redirected, three times in a row, and the process grows by less than 64 MiB", async () => {
    await using front = await startOwnProcess();
    await askRaw(front.port, `${HEAD}\r\n`);
    const before = await front.memory();
    const image = Buffer.alloc(65_536, "A0b1+/");
    for (let times = 0; times < 3; times++) {
      const { status, headers } = await post(front.port, image);
      assert.deepEqual([status, headers.get("location")], [307, LOCATION]);
      assert.notEqual(headers.get("connection"), "close");
    }
    const after = await front.memory();
    const grownMiB = (after.peakRssBytes - before.rssBytes) / MEBIBYTE;
    assert.ok(grownMiB < 64, `grew by ${Math.round(grownMiB)} MiB at its peak`);
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
  for (const [what, head] of [
    ["announced", "Content-Length: 5000\r\n"],
    ["in chunks", "Transfer-Encoding: chunked\r\n"],
  ] as const) {
    it(`is answered 413, and its connection ends: ${what}`, async () => {
      await using front = await startFrontDoor({ limits });
      await using client = await rawConnect(front.port);
      client.send(`${HEAD}${head}\r\n`);
      const isChunked = head.startsWith("Transfer");
      for (let at = 0; at < 5; at++) client.send(isChunked ? `3e8\r\n${"x".repeat(1_000)}\r\n` : "x".repeat(1_000));
      if (isChunked) client.send("0\r\n\r\n");
      const [answer, ...more] = await answersUntilEnd(client);
      assert.equal(answer?.status, 413);
      assert.equal(JSON.parse(answer?.body ?? "").code, "body-too-large");
      assert.equal(answer?.headers.get("connection"), "close");
      assert.deepEqual(more, []);
      assert.equal(front.entries.length, 0);
      await stillServes(front);
    });
  }
  it("is refused before it is sent, where the client asks first", async () => {
    await using front = await startFrontDoor({ limits });
    const answer = await askRaw(front.port, `${HEAD}Expect: 100-continue\r\nContent-Length: 5000\r\n\r\n`);
    assert.equal(answer.status, 413);
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

describe("a body that is no plain JSON", () => {
  const gzipped = gzipSync(JSON.stringify({ model: "not-looked-at", prompt_cache_key: "k" }));
  const boundary = "--frontier";
  const form = Buffer.from(
    `${boundary}\r\nContent-Disposition: form-data; name="model"\r\n\r\nother\r\n${boundary}--\r\n`,
  );
  for (const [what, type, body] of [
    ["gzip", "Content-Type: application/json\r\nContent-Encoding: gzip\r\n", gzipped],
    ["multipart", "Content-Type: multipart/form-data; boundary=frontier\r\n", form],
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

describe("X-Forwarded-For", () => {
  const cases: readonly {
    readonly from: string;
    readonly trustedProxies: FrontDoorWish["trustedProxies"];
    readonly forwardedFor: readonly string[];
    readonly expected: string;
  }[] = [
    { from: "a stranger", trustedProxies: [], forwardedFor: ["198.51.100.7"], expected: "127.0.0.0/24" },
    {
      from: "a stranger who claims a trusted one's address",
      trustedProxies: ["10.0.0.0/8"],
      forwardedFor: ["198.51.100.7, 10.0.0.1"],
      expected: "127.0.0.0/24",
    },
    {
      from: "a trusted proxy",
      trustedProxies: ["127.0.0.1"],
      forwardedFor: ["198.51.100.7"],
      expected: "198.51.100.0/24",
    },
    {
      from: "two trusted proxies, of a client that forged one more",
      trustedProxies: ["127.0.0.0/8", "10.0.0.0/8"],
      forwardedFor: ["203.0.113.66, 198.51.100.7, 10.1.2.3"],
      expected: "198.51.100.0/24",
    },
    {
      from: "a trusted proxy that adds a second header",
      trustedProxies: ["127.0.0.1"],
      forwardedFor: ["203.0.113.66", "198.51.100.7"],
      expected: "198.51.100.0/24",
    },
    {
      from: "a trusted proxy, of a client of IPv6",
      trustedProxies: ["127.0.0.1"],
      forwardedFor: ["[2001:db8:1:2::7]:443"],
      expected: "2001:db8:1::/48",
    },
    {
      from: "a trusted proxy that passes nonsense on",
      trustedProxies: ["127.0.0.1"],
      forwardedFor: ["203.0.113.66, unknown"],
      expected: "127.0.0.0/24",
    },
  ];
  for (const { from, trustedProxies, forwardedFor, expected } of cases) {
    it(`says that the client is in ${expected} when it comes from ${from}`, async () => {
      await using front = await startFrontDoor({ ...(trustedProxies === undefined ? {} : { trustedProxies }) });
      const fields = forwardedFor.map((value) => `X-Forwarded-For: ${value}\r\n`).join("");
      await askRaw(front.port, `${HEAD}${fields}\r\n`);
      assert.equal(front.entries[0]?.query.clientSubnet, expected);
    });
  }
});
