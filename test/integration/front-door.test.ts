/** The front door over real sockets: what it asks of steering, and what its surroundings may do to it. */
import assert from "node:assert/strict";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { createServer } from "node:http";
import type { AddressInfo, Server } from "node:net";
import { describe, it } from "node:test";
import { createFrontDoor } from "#gtm/wire/http/server.ts";
import { OperationalError } from "#shared/errors.ts";
import { PoolName } from "#shared/ids.ts";
import { createLabels, ephemeralLabelKeys } from "#shared/pin-token.ts";
import { aClient, aConversation, regionId } from "#test/support/builders.ts";
import { frontDoorOptions, startFrontDoor } from "#test/support/front-door.ts";
import { rawExchange, requestText } from "#test/support/http-by-hand.ts";
import { metricValue } from "#test/support/metric-value.ts";

const FRANKFURT = "https://frankfurt.r.llm.example.org";
const CHAT = { model: "llama", messages: [{ role: "user", content: "Hello" }] };

const post = (url: string, body: unknown = CHAT, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  fetch(url, {
    method: "POST",
    redirect: "manual",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });

describe("a chat request to the front door", () => {
  it("is redirected to the region that steering chose, with the same path and query", async () => {
    await using front = await startFrontDoor();
    const answer = await post(`${front.url}/v1/chat/completions?a=b&c=%20d`);
    assert.equal(answer.status, 307);
    assert.equal(answer.headers.get("location"), `${FRANKFURT}/v1/chat/completions?a=b&c=%20d`);
    assert.equal(answer.headers.get("cache-control"), "no-store");
    assert.equal(answer.headers.get("x-gtm-region"), "frankfurt");
    assert.equal(answer.headers.get("x-gtm-verdict"), "placed");
    assert.equal(answer.headers.get("server-timing"), "gtm;dur=0");
    const [entry] = front.entries;
    assert.equal(answer.headers.get("x-gtm-decision"), entry?.decision.id);
    assert.deepEqual(entry?.answer, { status: 307, verdict: "placed", region: "frankfurt", origin: FRANKFURT });
  });

  it("becomes a query that says all that can be known of it", async () => {
    await using front = await startFrontDoor();
    await post(`${front.url}/v1/chat/completions`, { ...CHAT, max_tokens: 99, metadata: { session_id: "s1" } });
    const [entry] = front.entries;
    const bytes = JSON.stringify({ ...CHAT, max_tokens: 99, metadata: { session_id: "s1" } }).length;
    assert.deepEqual(entry?.query, {
      id: entry?.decision.id,
      channel: "http",
      kind: "turn",
      pool: entry?.query.pool,
      model: "llama-70b",
      tenant: "default",
      clientSubnet: "127.0.0.0/24",
      conversationId: front.labels.conversationIdOf("default", "s1"),
      pinnedTo: null,
      promptTokens: Math.ceil(bytes / 4),
      outputTokens: null,
      outputLimitTokens: 99,
      parentId: null,
      stateRegion: null,
      receivedAtMs: front.clock.monotonicMs(),
    });
    assert.equal(await metricValue(front.metrics, "gtm_conversation_identity_total", { source: "session" }), 1);
    assert.equal(await metricValue(front.metrics, "gtm_http_answers_total", { status: "307" }), 1);
    assert.equal(await metricValue(front.metrics, "gtm_http_body_bytes_total"), bytes);
  });
});

describe("a conversation", () => {
  const labels = createLabels(ephemeralLabelKeys());
  const id = labels.conversationIdOf("default", "thread 1");
  const atHome = { ...aConversation({ home: "virginia", contextTokens: 20_000 }), id };

  it("returns to the region that holds it", async () => {
    await using front = await startFrontDoor({ labels, conversations: new Map([[id, atHome]]) });
    const answer = await post(`${front.url}/v1/chat/completions`, CHAT, {
      "x-conversation-id": "thread 1",
      "x-input-tokens": "21000",
    });
    assert.equal(answer.headers.get("x-gtm-region"), "virginia");
    assert.equal(answer.headers.get("x-gtm-verdict"), "pinned");
    assert.equal(front.entries[0]?.query.promptTokens, 21_000);
  });

  it("returns by its pin when the ledger is lost, and by the label in its host", async () => {
    await using front = await startFrontDoor({ labels });
    const first = await post(`${front.url}/v1/chat/completions`, CHAT, { "x-conversation-id": "thread 1" });
    const pin = labels.mint({
      pool: PoolName.parse("chat"),
      region: regionId("virginia"),
      conversation: id,
      issuedAtMs: front.clock.epochMs(),
    });
    assert.equal(first.headers.get("x-gtm-region"), "frankfurt");
    assert.match(first.headers.get("x-gtm-pin") ?? "", /^p1[0-9a-v]{40}$/);
    const byPin = await post(`${front.url}/v1/chat/completions`, CHAT, { "x-gtm-pin": pin, "x-input-tokens": "21000" });
    assert.equal(byPin.headers.get("x-gtm-region"), "virginia");
    assert.equal(byPin.headers.get("x-gtm-verdict"), "pinned");
    const byHost = await rawExchange(
      front.port,
      requestText("GET /v1/models", [`Host: ${pin.toUpperCase()}.C.llm.example.org:8080`]),
    );
    assert.equal(byHost.headers.get("x-gtm-region"), "virginia");
    assert.deepEqual(
      front.entries.map(({ query }) => query.conversationId),
      [id, id, id],
    );
  });
});

describe("a credential", () => {
  it("tells whose request it is, and appears nowhere; nor does the query", async () => {
    await using front = await startFrontDoor();
    await post(`${front.url}/v1/chat/completions?key=sk-query`, CHAT, { authorization: "Bearer sk-secret" });
    assert.match(front.entries[0]?.query.tenant ?? "", /^key-/);
    const everything = JSON.stringify([front.entries[0]?.query, front.entries[0]?.answer, front.lines]);
    assert.doesNotMatch(everything + (await front.metrics.text()), /sk-/);
  });
});

describe("a port that is taken", () => {
  it("is named when the front door does not start", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => other.once("listening", resolve));
    const { port } = other.address() as AddressInfo;
    try {
      const front = createFrontDoor(frontDoorOptions({ listen: { address: "127.0.0.1", port } }).options);
      await assert.rejects(front.start(), (fault) => {
        assert.ok(fault instanceof OperationalError);
        assert.equal(fault.code, "GTM_LISTEN_FAILED");
        assert.match(fault.message, new RegExp(`127\\.0\\.0\\.1:${port}.*EADDRINUSE`));
        return true;
      });
      assert.throws(() => front.address(), /not started/);
    } finally {
      other.close();
    }
  });
});

describe("a connection that the system cannot hand over", () => {
  it("is counted and warned of, and the front door goes on", async () => {
    await using front = await startFrontDoor();
    const servers: Server[] = [];
    const onSocket = (message: unknown): unknown =>
      servers.push((message as { socket: { server: Server } }).socket.server);
    subscribe("net.server.socket", onSocket);
    await post(`${front.url}/v1/chat/completions`);
    unsubscribe("net.server.socket", onSocket);
    servers[0]?.emit("error", new Error("accept EMFILE"));
    assert.equal(await metricValue(front.metrics, "gtm_http_accept_failures_total"), 1);
    const warning = front.lines.find(({ event }) => event === "http.accept-failed");
    assert.deepEqual([warning?.level, warning?.fields], ["warn", { fault: "accept EMFILE" }]);
    assert.equal((await post(`${front.url}/v1/chat/completions`)).status, 307);
  });
});

describe("a bug behind the front door", () => {
  it("is answered with 500, logged, and the next request is served", async () => {
    let isBroken = true;
    const locate = () => {
      if (isBroken) throw new Error("a planted bug");
      return aClient();
    };
    await using front = await startFrontDoor({ ports: { locate } });
    const answer = await post(`${front.url}/v1/chat/completions`);
    assert.deepEqual([answer.status, ((await answer.json()) as { code: string }).code], [500, "internal-error"]);
    assert.match(String(front.lines.find(({ event }) => event === "http.bug")?.fields["stack"]), /a planted bug/);
    isBroken = false;
    assert.equal((await post(`${front.url}/v1/chat/completions`)).status, 307);
  });
});
