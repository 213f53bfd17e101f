/** Forwarding: what the region sees, what the client sees, and when. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { describe, it } from "node:test";
import type { RunningFrontDoor } from "#test/support/front-door.ts";
import { rawConnect } from "#test/support/http-by-hand.ts";
import { startForwarding, startOrigin, textOf } from "#test/support/origin-server.ts";
import { until } from "#test/support/until.ts";

const CHAT = JSON.stringify({ model: "llama", messages: [{ role: "user", content: "Hi" }] });
const PATH = "/v1/chat/completions";
const JSON_TYPE = { "content-type": "application/json" };

const post = (front: RunningFrontDoor, headers: Record<string, string> = {}, body: string = CHAT) =>
  fetch(`${front.url}${PATH}?trace=1`, {
    method: "POST",
    redirect: "manual",
    headers: { ...JSON_TYPE, ...headers },
    body,
  });

const begin = (front: RunningFrontDoor, headers: Record<string, string> = {}): ClientRequest => {
  const asked = request(`${front.url}${PATH}`, { method: "POST", headers: { ...JSON_TYPE, ...headers } });
  asked.on("error", () => {});
  return asked;
};
const answered = async (asked: ClientRequest): Promise<IncomingMessage> => {
  const [incoming] = await once(asked, "response");
  return incoming;
};

describe("a request that is forwarded", () => {
  it("reaches the region with method, path, query, body and key, and comes back as the region said", async () => {
    const seen: string[] = [];
    await using origin = await startOrigin(async (incoming, outgoing) => {
      seen.push(await textOf(incoming));
      outgoing.writeHead(429, { "content-type": "application/json", "x-engine": "e", "x-gtm-region": "lies" });
      outgoing.end('{"error":"busy"}');
    });
    await using front = await startForwarding({ frankfurt: origin.url });
    const reply = await post(front, { authorization: "Bearer sk-1", "x-conversation-id": "c1" });
    assert.equal(reply.status, 429);
    assert.equal(await reply.text(), '{"error":"busy"}');
    const [asked] = origin.requests;
    assert.deepEqual(
      [asked?.method, asked?.url, asked?.headers.authorization],
      ["POST", `${PATH}?trace=1`, "Bearer sk-1"],
    );
    assert.deepEqual(seen, [CHAT]);
    assert.equal(asked?.headers.host, new URL(origin.url).host);
    assert.equal(asked?.headers["content-length"], `${CHAT.length}`);
    assert.deepEqual([reply.headers.get("x-engine"), reply.headers.get("x-gtm-region")], ["e", "frankfurt"]);
    assert.equal(reply.headers.get("x-gtm-decision"), front.entries[0]?.decision.id);
    assert.equal(reply.headers.get("x-gtm-verdict"), "placed");
    assert.equal(reply.headers.get("x-gtm-pin"), asked?.headers["x-gtm-pin"]);
    assert.match(reply.headers.get("server-timing") ?? "", /^gtm;dur=/);
    assert.match(reply.headers.get("via") ?? "", /1\.1 llm-gtm/);
    assert.match(await front.metrics.text(), /gtm_http_forwards_total\{outcome="served"\} 1/);
  });
  it("leaves out headers of the connection, also those that Connection names, and says who asked", async () => {
    await using origin = await startOrigin((_, outgoing) => {
      outgoing.setHeader("Connection", "close, X-Region-Hop");
      outgoing.setHeader("X-Region-Hop", "1");
      outgoing.setHeader("Keep-Alive", "timeout=1");
      outgoing.end("ok");
    });
    await using front = await startForwarding({ frankfurt: origin.url });
    await using client = await rawConnect(front.port);
    client.send(
      [
        `POST ${PATH} HTTP/1.1`,
        "Host: front.llm.example.org",
        "Connection: keep-alive, X-Hop",
        "X-Hop: 1",
        "Proxy-Authorization: Basic x",
        "TE: trailers",
        "X-Forwarded-For: 203.0.113.9",
        "X-GTM-Pin: forged",
        "Via: 1.0 office",
        "X-Kept: 1",
        "Content-Length: 0",
        "",
        "",
      ].join("\r\n"),
    );
    const { status, headers } = await client.answer();
    assert.equal(status, 200);
    const asked = origin.requests[0]?.headers ?? {};
    for (const name of ["x-hop", "proxy-authorization", "te"]) assert.equal(asked[name], undefined, name);
    assert.notEqual(asked["x-gtm-pin"], "forged");
    assert.deepEqual(
      [asked["x-kept"], asked.via, asked["x-forwarded-for"], asked["x-forwarded-host"], asked["x-forwarded-proto"]],
      ["1", "1.0 office, 1.1 llm-gtm", "127.0.0.1", "front.llm.example.org", "http"],
    );
    assert.deepEqual([headers.get("x-region-hop"), headers.get("connection")], [undefined, "keep-alive"]);
  });
  it("continues X-Forwarded-For of a trusted proxy", async () => {
    await using origin = await startOrigin((_, outgoing) => outgoing.end());
    await using front = await startForwarding({ frankfurt: origin.url }, { trustedProxies: ["127.0.0.1"] });
    await post(front, { "x-forwarded-for": "203.0.113.9", "x-forwarded-proto": "https" });
    const asked = origin.requests[0]?.headers ?? {};
    assert.deepEqual([asked["x-forwarded-for"], asked["x-forwarded-proto"]], ["203.0.113.9, 127.0.0.1", "https"]);
  });
  it("passes trailers of the answer on", async () => {
    await using origin = await startOrigin((_, outgoing) => {
      outgoing.writeHead(200, { Trailer: "X-Tokens" });
      outgoing.write("a");
      outgoing.addTrailers({ "X-Tokens": "7" });
      outgoing.end("b");
    });
    await using front = await startForwarding({ frankfurt: origin.url });
    const asked = begin(front);
    asked.end(CHAT);
    const reply = await answered(asked);
    assert.equal(await textOf(reply), "ab");
    assert.equal(reply.trailers["x-tokens"], "7");
  });
  it("has pages told what they may read, by us alone", async () => {
    await using origin = await startOrigin((_, outgoing) => {
      outgoing.setHeader("Access-Control-Allow-Origin", "https://other.example.org");
      outgoing.end();
    });
    await using front = await startForwarding({ frankfurt: origin.url });
    const reply = await post(front, { origin: "https://page.example.org" });
    assert.equal(reply.headers.get("access-control-allow-origin"), "*");
  });
  it("is refused where it has been here before", async () => {
    await using origin = await startOrigin((_, outgoing) => outgoing.end());
    await using front = await startForwarding({ frankfurt: origin.url });
    const reply = await post(front, { via: "1.1 llm-gtm" });
    assert.equal(reply.status, 508);
    assert.equal(origin.requests.length, 0);
  });
});

describe("a stream of events that is forwarded", () => {
  it("comes event by event, and proxies behind us are told not to collect it", async () => {
    let next = (): void => {};
    await using origin = await startOrigin((_, outgoing) => {
      outgoing.writeHead(200, { "content-type": "text/event-stream" });
      outgoing.write("data: 1\n\n");
      next = () => outgoing.end("data: 2\n\n");
    });
    await using front = await startForwarding({ frankfurt: origin.url });
    const reply = await post(front);
    assert.equal(reply.headers.get("x-accel-buffering"), "no");
    const reader = (reply.body ?? assert.fail()).getReader();
    const first = await reader.read();
    assert.equal(Buffer.from(first.value ?? []).toString(), "data: 1\n\n");
    next();
    const second = await reader.read();
    assert.equal(Buffer.from(second.value ?? []).toString(), "data: 2\n\n");
  });
  it("ends with an error event in the API's form where the region dies, and does not hang", async () => {
    await using origin = await startOrigin((_, outgoing) => {
      outgoing.writeHead(200, { "content-type": "text/event-stream" });
      outgoing.write('data: {"n":1}\n\ndata: {"n', () => outgoing.destroy());
    });
    await using front = await startForwarding({ frankfurt: origin.url });
    const text = await (await post(front)).text();
    assert.match(text, /^data: \{"n":1\}\n\ndata: \{"error":\{"message":"The region ended .*\}\n\ndata: \[DONE\]\n\n$/);
    assert.match(await front.metrics.text(), /gtm_http_forwards_total\{outcome="failed"\} 1/);
  });
  it("ends at the region when the client goes away", async () => {
    let isClosed = false;
    await using origin = await startOrigin((incoming, outgoing) => {
      outgoing.writeHead(200, { "content-type": "text/event-stream" });
      outgoing.write("data: 1\n\n");
      incoming.socket.on("close", () => {
        isClosed = true;
      });
    });
    await using front = await startForwarding({ frankfurt: origin.url });
    const asked = begin(front);
    asked.end(CHAT);
    await once(await answered(asked), "data");
    asked.destroy();
    await until(() => isClosed, "the region's connection has ended");
    await until(async () => /outcome="aborted"\} 1/.test(await front.metrics.text()), "it is counted");
  });
});

describe("an answer with a length whose region dies", () => {
  it("is cut, not ended as if it were whole", async () => {
    await using origin = await startOrigin((_, outgoing) => {
      outgoing.writeHead(200, { "content-length": "100" });
      outgoing.write("half", () => outgoing.destroy());
    });
    await using front = await startForwarding({ frankfurt: origin.url });
    await assert.rejects(async () => (await post(front)).text());
  });
});

describe("a region that cannot be reached", () => {
  const NOBODY = "http://127.0.0.1:1";
  it("is passed over: nothing was sent, so the next best gets the request, body and all", async () => {
    const seen: string[] = [];
    await using other = await startOrigin(async (incoming, outgoing) => {
      seen.push(await textOf(incoming));
      outgoing.end("from virginia");
    });
    await using front = await startForwarding({ frankfurt: NOBODY, virginia: other.url });
    const reply = await post(front, { "x-conversation-id": "c1" });
    assert.deepEqual([reply.headers.get("x-gtm-region"), await reply.text()], ["virginia", "from virginia"]);
    assert.deepEqual(seen, [CHAT]);
    assert.match(await front.metrics.text(), /gtm_http_forward_retries_total 1/);
  });
  it("is passed over also before a large body has come, and none of it is lost", async () => {
    const large = JSON.stringify({ model: "llama", prompt: "x".repeat(3_000_000) });
    let seen = "";
    await using other = await startOrigin(async (incoming, outgoing) => {
      seen = await textOf(incoming);
      outgoing.end("ok");
    });
    await using front = await startForwarding({ frankfurt: NOBODY, virginia: other.url });
    const reply = await post(front, {}, large);
    assert.equal(reply.status, 200);
    assert.ok(seen === large);
  });
  it("is told of where there is no other: 502, to be tried again", async () => {
    await using front = await startForwarding({ frankfurt: NOBODY });
    const reply = await post(front);
    assert.deepEqual([reply.status, reply.headers.get("x-should-retry")], [502, "true"]);
    assert.match(await reply.text(), /region-unreachable/);
  });
});

describe("a region that took the request", () => {
  it("and ended without an answer is not asked again, nor another: it may have begun", async () => {
    await using origin = await startOrigin((incoming) => incoming.socket.destroy());
    await using other = await startOrigin((_, outgoing) => outgoing.end());
    await using front = await startForwarding({ frankfurt: origin.url, virginia: other.url });
    assert.equal((await post(front)).status, 502);
    assert.deepEqual([origin.requests.length, other.requests.length], [1, 0]);
  });
  it("and says nothing is given up after the idle limit: 504", async () => {
    await using origin = await startOrigin(() => {});
    await using front = await startForwarding({ frankfurt: origin.url }, { limits: { forwardIdleMs: 50 } });
    const reply = await post(front);
    assert.equal(reply.status, 504);
    assert.match(await front.metrics.text(), /gtm_http_forwards_total\{outcome="silent"\} 1/);
  });
});

describe("a body that is forwarded", () => {
  it("of 20 MB streams: the region has the beginning while the client still sends", async () => {
    let seen = 0;
    await using origin = await startOrigin(async (incoming, outgoing) => {
      for await (const chunk of incoming) seen += chunk.length;
      outgoing.end(`${seen}`);
    });
    await using front = await startForwarding({ frankfurt: origin.url });
    const asked = begin(front);
    asked.write(`{"model":"llama","prompt":"${"x".repeat(2_000_000)}`);
    await until(() => seen >= 2_000_000, "the region has what was sent");
    asked.end(`${"x".repeat(18_000_000)}"}`);
    assert.equal(await textOf(await answered(asked)), `${'{"model":"llama","prompt":""}'.length + 20_000_000}`);
  });
  it("stays with the client while the region does not read", async () => {
    let release = (): void => {};
    await using origin = await startOrigin((incoming, outgoing) => {
      incoming.pause();
      release = () => {
        incoming.resume();
        incoming.on("end", () => outgoing.end("ok"));
      };
    });
    await using front = await startForwarding({ frankfurt: origin.url });
    const asked = begin(front, { "content-length": "30000000", "x-gtm-model": "llama", "x-conversation-id": "c" });
    let isTaken = false;
    asked.end("x".repeat(30_000_000), () => {
      isTaken = true;
    });
    await until(() => origin.requests.length === 1, "the region has the head");
    // Kernel buffers of two connections take a few MB, never thirty.
    assert.equal(isTaken, false);
    release();
    assert.equal(await textOf(await answered(asked)), "ok");
  });
  it("that grows too large is refused, and the region does not take it for whole", async () => {
    let ended = false;
    await using origin = await startOrigin((incoming) => {
      incoming.on("end", () => {
        ended = true;
      });
      incoming.on("error", () => {});
      incoming.resume();
    });
    await using front = await startForwarding({ frankfurt: origin.url }, { limits: { bodyBytes: 200_000 } });
    const asked = begin(front, { "x-gtm-model": "llama", "x-conversation-id": "c", "transfer-encoding": "chunked" });
    asked.write("x".repeat(300_000));
    const reply = await answered(asked);
    assert.equal(reply.statusCode, 413);
    assert.equal(ended, false);
    asked.destroy();
  });
  it("that the client holds back is asked for once the region is there", async () => {
    await using origin = await startOrigin(async (incoming, outgoing) => {
      outgoing.end(await textOf(incoming));
    });
    await using front = await startForwarding({ frankfurt: origin.url });
    await using client = await rawConnect(front.port);
    client.send(
      `POST ${PATH} HTTP/1.1\r\nHost: front.llm.example.org\r\nX-GTM-Model: llama\r\nX-Conversation-Id: c\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n`,
    );
    await until(() => client.rest().includes("100 Continue"), "it is asked for");
    assert.ok(!client.rest().includes("200 OK"));
    client.send("hello");
    await until(() => client.rest().endsWith("hello"), "the answer has come");
  });
});
