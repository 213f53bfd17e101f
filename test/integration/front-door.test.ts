/** The front door over real sockets, steered by the real flow. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { createFrontDoor } from "#gtm/wire/http/server.ts";
import { OperationalError } from "#shared/errors.ts";
import { PoolName } from "#shared/ids.ts";
import { createLabels, ephemeralLabelKeys } from "#shared/pin-token.ts";
import { aClient, aConversation, aPool, aRegion, regionId } from "#test/support/builders.ts";
import { type FrontDoorWish, frontDoorOptions, startFrontDoor } from "#test/support/front-door.ts";
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
    await post(`${front.url}/v1/chat/completions`, { ...CHAT, max_tokens: 99, user: "u1" });
    const [entry] = front.entries;
    const bytes = JSON.stringify({ ...CHAT, max_tokens: 99, user: "u1" }).length;
    assert.deepEqual(entry?.query, {
      id: entry?.decision.id,
      channel: "http",
      kind: "turn",
      pool: entry?.query.pool,
      model: "llama-70b",
      tenant: "default",
      clientSubnet: "127.0.0.0/24",
      conversationId: front.labels.conversationIdOf("default", "user\0u1"),
      pinnedTo: null,
      promptTokens: Math.ceil(bytes / 4),
      outputTokens: 99,
      stateRegion: null,
      receivedAtMs: front.clock.monotonicMs(),
    });
    assert.equal(await metricValue(front.metrics, "gtm_conversation_identity_total", { source: "user" }), 1);
    assert.equal(await metricValue(front.metrics, "gtm_http_answers_total", { status: "307" }), 1);
    assert.equal(await metricValue(front.metrics, "gtm_http_body_bytes_total"), bytes);
  });

  for (const method of ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY"]) {
    it(`is redirected whatever its method: ${method}`, async () => {
      await using front = await startFrontDoor();
      const answer = await rawExchange(front.port, requestText(`${method} /v1/files/7?x=1`, ["Connection: close"]));
      assert.equal(answer.status, 307);
      assert.equal(answer.headers.get("location"), `${FRANKFURT}/v1/files/7?x=1`);
    });
  }

  it("without a body counts as no prompt", async () => {
    await using front = await startFrontDoor();
    await fetch(`${front.url}/v1/models`, { redirect: "manual" });
    assert.equal(front.entries[0]?.query.promptTokens, 0);
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

  it("can be reached by the base URL that the answer names", async () => {
    await using front = await startFrontDoor({ labels });
    const answer = await post(`${front.url}/v1/chat/completions`, CHAT, { "x-session-id": "thread 1" });
    const token = answer.headers.get("x-gtm-pin");
    assert.equal(answer.headers.get("x-gtm-pinned-base-url"), `https://${token}.c.llm.example.org/v1`);
  });

  it("gets a pin and no base URL where labels are off", async () => {
    await using front = await startFrontDoor({ labels, offersLabels: false });
    const answer = await post(`${front.url}/v1/chat/completions`, CHAT, { "x-session-id": "thread 1" });
    assert.notEqual(answer.headers.get("x-gtm-pin"), null);
    assert.equal(answer.headers.get("x-gtm-pinned-base-url"), null);
  });

  it("with a forged pin is a stranger's, and counted", async () => {
    await using front = await startFrontDoor({ labels });
    const pin = labels.mint({
      pool: PoolName.parse("chat"),
      region: regionId("virginia"),
      conversation: id,
      issuedAtMs: 0,
    });
    const forged = pin.slice(0, -1) + (pin.endsWith("0") ? "1" : "0");
    const answer = await post(`${front.url}/v1/chat/completions`, CHAT, { "x-gtm-pin": forged });
    assert.equal(answer.headers.get("x-gtm-verdict"), "placed");
    assert.equal(await metricValue(front.metrics, "gtm_http_pin_tokens_forged_total"), 1);
  });

  it("with a name that is too long is nobody's, and counted", async () => {
    await using front = await startFrontDoor();
    await post(`${front.url}/v1/chat/completions`, { ...CHAT, user: "x".repeat(5_000) });
    assert.equal(front.entries[0]?.query.conversationId, null);
    const ignored = await metricValue(front.metrics, "gtm_conversation_identity_ignored_total", { source: "user" });
    assert.equal(ignored, 1);
    assert.equal(await metricValue(front.metrics, "gtm_conversation_identity_total", { source: "none" }), 1);
  });
});

describe("hosts and paths", () => {
  const regions = [aRegion("frankfurt"), aRegion("virginia")];
  const chat = aPool(regions, { name: PoolName.parse("chat") });
  const code = aPool([aRegion("virginia")], { name: PoolName.parse("code"), answer: "front", paths: ["/code"] });
  const start = (wish: FrontDoorWish = {}) =>
    startFrontDoor({ worldRegions: regions, pools: [chat, code], defaultPool: null, ...wish });
  const cases: readonly { host: string; path: string; status: number; region?: string }[] = [
    { host: "chat.front.llm.example.org", path: "/v1/models", status: 307, region: "frankfurt" },
    { host: "code.llm.example.org:8443", path: "/code/x", status: 307, region: "virginia" },
    { host: "code.front.llm.example.org", path: "/v1/models", status: 404 },
    { host: "chat.front.llm.example.org", path: "/v2/models", status: 404 },
    { host: "chat.front.llm.example.org", path: "/v1/../admin", status: 404 },
    { host: "chat.llm.example.org", path: "/v1/models", status: 421 },
    { host: "127.0.0.1", path: "/v1/models", status: 421 },
    { host: "evil.example", path: "/v1/models", status: 421 },
    { host: "stranger.c.llm.example.org", path: "/v1/models", status: 421 },
  ];
  for (const { host, path, status, region } of cases) {
    it(`${host}${path} is answered with ${status}`, async () => {
      await using front = await start();
      const answer = await rawExchange(front.port, requestText(`GET ${path}`, [`Host: ${host}`]));
      assert.equal(answer.status, status);
      assert.equal(answer.headers.get("x-gtm-region"), region);
      if (status === 307) return;
      assert.equal(answer.headers.get("content-type"), "application/problem+json");
      assert.equal(JSON.parse(answer.body).status, status);
    });
  }
  it("front.<zone> goes by the model, and wants one named where there is no default pool", async () => {
    await using front = await start();
    const named = await rawExchange(front.port, requestText("GET /v1/models", ["X-GTM-Model: llama"]));
    assert.equal(named.headers.get("x-gtm-region"), "frankfurt");
    const unnamed = await rawExchange(front.port, requestText("GET /v1/models"));
    assert.deepEqual([unnamed.status, JSON.parse(unnamed.body).code], [404, "no-model"]);
  });
  it("any host will do where there is a default pool", async () => {
    await using front = await start({ defaultPool: chat });
    for (const host of ["127.0.0.1", "[::1]:80", "anything.example", "stranger.c.llm.example.org"]) {
      assert.equal((await rawExchange(front.port, requestText("GET /v1/models", [`Host: ${host}`]))).status, 307);
    }
  });
});

describe("a model that nobody serves", () => {
  it("is 404 in OpenAI's form, whether the body names it or the header", async () => {
    await using front = await startFrontDoor();
    for (const answer of [
      await post(`${front.url}/v1/chat/completions`, { ...CHAT, model: "gpt-9" }),
      await post(`${front.url}/v1/chat/completions`, CHAT, { "x-gtm-model": "gpt-9" }),
    ]) {
      assert.equal(answer.status, 404);
      const { error } = (await answer.json()) as { error: { code: string } };
      assert.equal(error.code, "model_not_found");
    }
    assert.equal(front.entries.length, 0);
  });
  it("is 404 in Anthropic's form to its clients", async () => {
    await using front = await startFrontDoor();
    const headers = { "anthropic-version": "2023-06-01" };
    const answer = await post(`${front.url}/v1/messages`, { ...CHAT, model: "claude" }, headers);
    assert.equal(answer.status, 404);
    assert.equal(((await answer.json()) as { error: { type: string } }).error.type, "not_found_error");
  });
});

describe("when no region can serve", () => {
  it("the answer is 503 with Retry-After and each region's reason", async () => {
    const worldRegions = [aRegion("frankfurt", { health: "unhealthy" }), aRegion("virginia", { admin: "drain-all" })];
    await using front = await startFrontDoor({ worldRegions });
    const answer = await post(`${front.url}/v1/chat/completions`);
    assert.equal(answer.status, 503);
    assert.equal(answer.headers.get("retry-after"), "5");
    assert.equal(answer.headers.get("content-type"), "application/problem+json");
    const problem = (await answer.json()) as { regions: unknown; decision: string };
    assert.deepEqual(problem.regions, [
      { region: "frankfurt", reason: "down", cause: "probe" },
      { region: "virginia", reason: "draining", admin: "drain-all" },
    ]);
    assert.equal(problem.decision, front.entries[0]?.decision.id);
  });
  it("the answer is 451 where data residency alone is why", async () => {
    const regions = [aRegion("virginia", { jurisdiction: "us" })];
    const pool = aPool(regions, { jurisdictions: ["eu"] });
    await using front = await startFrontDoor({ worldRegions: regions, pools: [pool], defaultPool: pool });
    assert.equal((await post(`${front.url}/v1/chat/completions`)).status, 451);
  });
});

describe("who asks", () => {
  const ask = async (wish: FrontDoorWish, headers: Readonly<Record<string, string>>) => {
    const located: string[] = [];
    const locate = (subnet: string) => {
      located.push(subnet);
      return aClient();
    };
    await using front = await startFrontDoor({ ...wish, ports: { locate } });
    await post(`${front.url}/v1/chat/completions`, CHAT, headers);
    return { subnet: located[0], tenant: front.entries[0]?.query.tenant };
  };
  const forwarded = { "x-forwarded-for": "198.51.100.7, 203.0.113.9", "x-tenant": "acme" };

  it("is told by a trusted proxy", async () => {
    const wish = { trustedProxies: ["127.0.0.0/8"], tenantHeader: "X-Tenant" };
    assert.deepEqual(await ask(wish, forwarded), { subnet: "203.0.113.0/24", tenant: "acme" });
  });
  it("is not told by anybody else", async () => {
    const wish = { trustedProxies: ["10.0.0.0/8"], tenantHeader: "X-Tenant" };
    assert.deepEqual(await ask(wish, forwarded), { subnet: "127.0.0.0/24", tenant: "default" });
  });
  it("is known by a credential, which appears nowhere", async () => {
    await using front = await startFrontDoor();
    await post(`${front.url}/v1/chat/completions?key=sk-query`, CHAT, { authorization: "Bearer sk-secret" });
    assert.match(front.entries[0]?.query.tenant ?? "", /^key-/);
    const everything = JSON.stringify([front.entries[0]?.query, front.entries[0]?.answer, front.lines]);
    assert.doesNotMatch(everything + (await front.metrics.text()), /sk-/);
  });
});

describe("a page in a browser", () => {
  it("has its preflight answered, Origin null included, and not redirected", async () => {
    await using front = await startFrontDoor();
    const answer = await fetch(`${front.url}/v1/chat/completions`, {
      method: "OPTIONS",
      redirect: "manual",
      headers: {
        origin: "null",
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type",
      },
    });
    assert.equal(answer.status, 204);
    assert.equal(answer.headers.get("access-control-allow-origin"), "*");
    assert.equal(answer.headers.get("access-control-allow-headers"), "authorization,content-type");
    assert.equal(front.entries.length, 0);
  });
  it("may read the answer's headers, of refusals, too", async () => {
    await using front = await startFrontDoor();
    for (const body of [CHAT, { ...CHAT, model: "gpt-9" }]) {
      const answer = await post(`${front.url}/v1/chat/completions`, body, { origin: "https://app.example" });
      assert.equal(answer.headers.get("access-control-allow-origin"), "*");
      assert.match(answer.headers.get("access-control-expose-headers") ?? "", /X-GTM-Region/);
    }
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
