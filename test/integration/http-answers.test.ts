/** Every answer that the front door gives to a well-formed request, over real sockets and decided by the real steering. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Pool } from "#gtm/domain/pool.ts";
import { ModelId, PoolName } from "#shared/ids.ts";
import { aClient, aPool, aRegion, MODEL } from "#test/support/builders.ts";
import { type FrontDoorWish, type RunningFrontDoor, startFrontDoor, ZONE } from "#test/support/front-door.ts";
import { startRememberingFrontDoor } from "#test/support/http-house.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { askRaw, type RawAnswer } from "#test/support/raw-http.ts";

const FRONT = `front.${ZONE}`;
const REGION_URL = "https://frankfurt.r.llm.example.org";
const CODER = ModelId.parse("coder-30b");

type Asked = {
  readonly method?: string;
  readonly target?: string;
  readonly host?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
};

const ask = (front: RunningFrontDoor, asked: Asked): Promise<RawAnswer> => {
  const { method = "POST", target = "/v1/chat/completions", host = FRONT, headers = {} } = asked;
  const body = asked.body === undefined ? "" : JSON.stringify(asked.body);
  const length = body === "" ? {} : { "Content-Type": "application/json", "Content-Length": `${body.length}` };
  const fields = Object.entries({ Host: host, ...length, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  return askRaw(front.port, `${method} ${target} HTTP/1.1\r\n${fields.join("")}\r\n${body}`, {
    isHead: method === "HEAD",
  });
};

const problemIn = ({ headers, body }: RawAnswer): { code: string; regions?: unknown; error?: unknown } => {
  assert.equal(headers.get("content-type"), "application/problem+json");
  assert.equal(headers.get("cache-control"), "no-store");
  return JSON.parse(body);
};

describe("a request under a pool's path", () => {
  let front: RunningFrontDoor;
  before(async () => {
    front = await startFrontDoor();
  });
  after(() => front.stop());

  const target = "/v1/files//a%2Fb/%2e./x;y=1?b=2&a=%20+&&=?//x#y";
  for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]) {
    it(`is redirected by 307 with path and query octet for octet, and never stored: ${method}`, async () => {
      const { status, headers, body } = await ask(front, { method, target });
      assert.equal(status, 307);
      assert.equal(headers.get("location"), REGION_URL + target);
      assert.equal(headers.get("cache-control"), "no-store");
      assert.equal(headers.get("content-type"), "application/json");
      if (method !== "HEAD") assert.match(JSON.parse(body).error.message, /frankfurt/);
    });
  }

  it("is told region, verdict, decision and time, and nothing of a conversation where it names none", async () => {
    const { headers } = await ask(front, {});
    const decisionId = headers.get("x-gtm-decision");
    assert.equal(headers.get("x-gtm-region"), "frankfurt");
    assert.equal(headers.get("x-gtm-verdict"), "placed");
    assert.match(headers.get("server-timing") ?? "", /^gtm;dur=\d+(\.\d+)?$/);
    assert.equal(headers.has("x-gtm-pin"), false);
    assert.equal(front.entries.at(-1)?.decision.id, decisionId);
    assert.equal(front.entries.at(-1)?.query.channel, "http");
  });

  it("is told a pin and a base URL made of it where it names a conversation", async () => {
    const { headers } = await ask(front, { headers: { "X-Conversation-Id": "c1" } });
    const pin = headers.get("x-gtm-pin") ?? "";
    assert.equal(front.labels.read(pin).kind, "ours");
    assert.equal(headers.get("x-gtm-pinned-base-url"), `https://${pin}.c.${ZONE}/v1`);
  });

  it("speaks Anthropic's form of an error to Anthropic's clients", async () => {
    const { body } = await ask(front, { target: "/v1/messages", headers: { "anthropic-version": "2023-06-01" } });
    assert.deepEqual(JSON.parse(body).type, "error");
  });

  it("repeats the address of a label's host with the port that the region has", async () => {
    await using other = await startFrontDoor({
      worldRegions: [aRegion("frankfurt", { endpoint: { url: "http://127.0.0.9:8000", ipv4: [], ipv6: [] } })],
    });
    const { headers } = await ask(other, { headers: { "X-Session-Id": "c" } });
    assert.equal(headers.get("location"), "http://127.0.0.9:8000/v1/chat/completions");
    assert.match(headers.get("x-gtm-pinned-base-url") ?? "", /^http:\/\/p1[0-9a-v]+\.c\.llm\.example\.org:8000\/v1$/);
  });

  it("is offered no label where the operator wants none", async () => {
    await using other = await startFrontDoor({ offersLabels: false });
    const { headers } = await ask(other, { headers: { "X-Session-Id": "c" } });
    assert.equal(headers.has("x-gtm-pin"), true);
    assert.equal(headers.has("x-gtm-pinned-base-url"), false);
  });
});

describe("which pool and model a request is for", () => {
  const regions = [aRegion("frankfurt")];
  const chat = aPool(regions);
  const code = aPool(regions, { name: PoolName.parse("code"), models: [CODER], paths: ["/v1", "/fim"] });
  const two = { worldRegions: regions, pools: [chat, code], defaultPool: chat };
  const cases: readonly {
    readonly when: string;
    readonly asked: Asked;
    readonly pool: Pool;
    readonly model: string | null;
  }[] = [
    { when: "nothing is named", asked: {}, pool: chat, model: null },
    { when: "X-GTM-Model names it", asked: { headers: { "X-GTM-Model": CODER } }, pool: code, model: CODER },
    { when: "the body names it", asked: { body: { messages: [], model: CODER } }, pool: code, model: CODER },
    { when: "the body names an alias", asked: { body: { model: "llama" } }, pool: chat, model: MODEL },
    {
      when: "the header contradicts the body",
      asked: { headers: { "X-GTM-Model": MODEL }, body: { model: CODER } },
      pool: chat,
      model: MODEL,
    },
    { when: "the host names the pool", asked: { host: `code.${FRONT}:8080` }, pool: code, model: null },
  ];
  for (const { when, asked, pool, model } of cases) {
    it(`is ${pool.name}, model ${model ?? "unnamed"}, when ${when}`, async () => {
      await using front = await startFrontDoor(two);
      // No region has the second model: refused or not, the decision's record tells what was asked.
      await ask(front, asked);
      const { query } = front.entries[0] ?? assert.fail("nothing was decided");
      assert.deepEqual([query.pool.name, query.model], [pool.name, model]);
    });
  }
});

describe("what is no redirect", () => {
  const eu = [aRegion("frankfurt"), aRegion("virginia")];
  const inUs = aPool(eu, { jurisdictions: ["us"] });
  const down = [aRegion("frankfurt", { admin: "down" }), aRegion("virginia", { health: "unhealthy" })];
  const cases: readonly {
    readonly what: string;
    readonly wish?: FrontDoorWish;
    readonly asked: Asked;
    readonly status: number;
    readonly code: string;
  }[] = [
    {
      what: "a path of no pool",
      asked: { target: "/admin/v1" },
      status: 404,
      code: "not-a-pool-path",
    },
    {
      what: "a path that only begins like a pool's",
      asked: { target: "/v10/models" },
      status: 404,
      code: "not-a-pool-path",
    },
    {
      what: "a host not ours, where no pool is the default",
      wish: { defaultPool: null },
      asked: { host: "evil.example" },
      status: 421,
      code: "misdirected",
    },
    {
      what: "no model named, where no pool is the default",
      wish: { defaultPool: null },
      asked: { body: { messages: [] } },
      status: 404,
      code: "no-model",
    },
    {
      what: "a pool whose regions all lie outside of its jurisdictions",
      wish: { pools: [inUs], defaultPool: inUs },
      asked: {},
      status: 451,
      code: "residency-forbids",
    },
    {
      what: "a pool whose regions are all down",
      wish: { worldRegions: down },
      asked: {},
      status: 503,
      code: "unserved",
    },
  ];
  for (const { what, wish, asked, status, code } of cases) {
    it(`is ${status} ${code} and a problem: ${what}`, async () => {
      await using front = await startFrontDoor(wish);
      const answer = await ask(front, asked);
      assert.equal(answer.status, status);
      assert.equal(problemIn(answer).code, code);
      assert.equal(answer.headers.has("location"), false);
      assert.equal(await metricValue(front.metrics, "gtm_http_answers_total", { status: `${status}` }), 1);
    });
  }

  it("names every region's reason and when to come again, in a form that API clients read too", async () => {
    await using front = await startFrontDoor({ worldRegions: down });
    const answer = await ask(front, {});
    assert.equal(answer.headers.get("retry-after"), `${front.entries[0]?.decision.ttlSeconds}`);
    assert.equal(answer.headers.get("x-gtm-verdict"), "unserved");
    assert.equal(answer.headers.get("x-gtm-decision"), front.entries[0]?.decision.id);
    const { regions, error } = problemIn(answer);
    assert.deepEqual(regions, [
      { region: "frankfurt", reason: "down", cause: "ordered" },
      { region: "virginia", reason: "down", cause: "probe" },
    ]);
    assert.deepEqual(error, {
      message: "No region can serve this request now.",
      type: "gtm_error",
      param: null,
      code: "unserved",
    });
  });

  it("is 503, not 451, where one region would be allowed and is down", async () => {
    const regions = [aRegion("frankfurt", { jurisdiction: "us", admin: "down" }), aRegion("virginia")];
    const pool = aPool(regions, { jurisdictions: ["us"] });
    await using front = await startFrontDoor({ worldRegions: regions, pools: [pool], defaultPool: pool });
    assert.equal((await ask(front, {})).status, 503);
  });

  it("is OpenAI's own error for a model that nobody has", async () => {
    await using front = await startFrontDoor();
    const { status, headers, body } = await ask(front, { body: { model: 'gpt-"9"' } });
    assert.equal(status, 404);
    assert.equal(headers.get("content-type"), "application/json");
    const { error } = JSON.parse(body);
    assert.deepEqual([error.type, error.param, error.code], ["invalid_request_error", "model", "model_not_found"]);
    assert.match(error.message, /`gpt-"9"`/);
    assert.equal(front.entries.length, 0);
  });
});

describe("a page of another origin", () => {
  for (const origin of ["https://app.example.org", "null"]) {
    it(`may ask, and its preflight is never redirected: Origin: ${origin}`, async () => {
      await using front = await startFrontDoor();
      const preflight = await ask(front, {
        method: "OPTIONS",
        headers: {
          Origin: origin,
          "Access-Control-Request-Method": "POST",
          "Access-Control-Request-Headers": "authorization,content-type,x-gtm-pin",
        },
      });
      assert.equal(preflight.status, 204);
      assert.equal(preflight.headers.has("location"), false);
      assert.equal(preflight.headers.get("access-control-allow-origin"), "*");
      assert.equal(preflight.headers.get("access-control-allow-methods"), "POST");
      assert.equal(preflight.headers.get("access-control-allow-headers"), "authorization,content-type,x-gtm-pin");
      assert.equal(front.entries.length, 0);

      const { status, headers } = await ask(front, { headers: { Origin: origin } });
      assert.equal(status, 307);
      assert.equal(headers.get("access-control-allow-origin"), "*");
      assert.match(headers.get("access-control-expose-headers") ?? "", /X-GTM-Pin, X-GTM-Pinned-Base-URL/);
    });
  }
  it("may read a refusal, too", async () => {
    await using front = await startFrontDoor();
    const { headers } = await ask(front, { target: "/nowhere", headers: { Origin: "null" } });
    assert.equal(headers.get("access-control-allow-origin"), "*");
  });
});

/** What names a conversation, in the order in which it is believed. */
const named = (front: RunningFrontDoor): readonly { readonly source: string; readonly asked: Asked }[] => {
  const conversation = front.labels.conversationIdOf("default", "by-token");
  const token = (id: typeof conversation): string =>
    front.labels.mint({
      pool: PoolName.parse("chat"),
      region: aRegion("frankfurt").id,
      conversation: id,
      issuedAtMs: front.clock.epochMs(),
    });
  const label = token(front.labels.conversationIdOf("default", "by-label"));
  const header = (name: string): Asked => ({ headers: { [name]: `by-${name}` } });
  return [
    { source: "pin-token", asked: { headers: { "X-GTM-Pin": token(conversation) } } },
    { source: "host-label", asked: { host: `${label}.c.${ZONE}` } },
    ...["X-Conversation-Id", "X-Session-Id", "X-Session-Affinity"].map((name) => ({
      source: "header",
      asked: header(name),
    })),
    ...[
      "X-Claude-Code-Session-Id",
      "session_id",
      "X-OpenWebUI-Chat-Id",
      "X-Litellm-Session-Id",
      "X-SMG-Routing-Key",
      "X-Dynamo-Session-ID",
      "X-AIBrix-Session-Key",
    ].map((name) => ({ source: "client-header", asked: header(name) })),
    { source: "query", asked: { target: "/v1/chat/completions?a=b&conversation=by%20query" } },
    { source: "prompt-cache-key", asked: { body: { prompt_cache_key: "by-key" } } },
    { source: "session", asked: { body: { metadata: { session_id: "by-session" } } } },
    { source: "metadata-user", asked: { body: { metadata: { user_id: "by-metadata-user" } } } },
    { source: "user", asked: { body: { user: "by-user" } } },
  ];
};

/** One request that says what all of these say; the first's host and target count. */
const merged = (all: readonly Asked[]): Asked => {
  const bodies = all.map(({ body }) => (body ?? {}) as { readonly metadata?: object });
  const metadata = Object.assign({}, ...bodies.map((body) => body.metadata ?? {}));
  return {
    host: all.find(({ host }) => host !== undefined)?.host ?? FRONT,
    target: all.find(({ target }) => target !== undefined)?.target ?? "/v1/chat/completions",
    headers: Object.assign({}, ...all.map(({ headers }) => headers ?? {})),
    body: { ...Object.assign({}, ...bodies), metadata },
  };
};

describe("which conversation a request belongs to", () => {
  it("is the same at its second request, whatever names it: it returns to the region that holds its context", async () => {
    let place: "frankfurt" | "virginia" = "frankfurt";
    await using front = await startRememberingFrontDoor({ ports: { locate: () => aClient(place) } });
    for (const { source, asked } of named(front)) {
      const before = await metricValue(front.metrics, "gtm_conversation_identity_total", { source });
      const from = front.entries.length;
      place = "frankfurt";
      const first = await ask(front, asked);
      place = "virginia";
      const second = await ask(front, asked);
      const ids = front.entries.slice(from).map(({ query }) => query.conversationId);
      const what = `${source}: ${JSON.stringify(asked)}`;
      assert.notEqual(ids[0], null, what);
      assert.equal(ids[0], ids[1], what);
      assert.equal(first.headers.get("x-gtm-region"), "frankfurt", what);
      assert.deepEqual(
        [second.headers.get("x-gtm-verdict"), second.headers.get("x-gtm-region")],
        ["pinned", "frankfurt"],
        what,
      );
      const after = await metricValue(front.metrics, "gtm_conversation_identity_total", { source });
      assert.equal(after - before, 2, what);
    }
    // A stranger from Virginia goes to Virginia: it was the conversation that kept the others in Frankfurt.
    assert.equal((await ask(front, {})).headers.get("x-gtm-region"), "virginia");
    assert.equal(await metricValue(front.metrics, "gtm_conversation_identity_total", { source: "none" }), 1);
  });

  it("is what the first of them says, in their order, where several speak", async () => {
    await using front = await startRememberingFrontDoor();
    const all = named(front);
    for (const [at, { source, asked }] of all.entries()) {
      await ask(front, asked);
      await ask(front, merged(all.slice(at).map((one) => one.asked)));
      const [alone, together] = front.entries.slice(-2).map(({ query }) => query.conversationId);
      assert.equal(together, alone, `${source} before the rest: ${JSON.stringify(asked)}`);
    }
    assert.equal(new Set(front.entries.map(({ query }) => query.conversationId)).size, all.length);
  });

  it("is named by the answer's own pin at the next turn, and its good word on the home is heard", async () => {
    await using front = await startFrontDoor({ ports: { locate: () => aClient("virginia") } });
    const first = await ask(front, { headers: { "X-Conversation-Id": "c" } });
    const pin = first.headers.get("x-gtm-pin") ?? "";
    assert.equal(first.headers.get("x-gtm-region"), "virginia");
    await ask(front, { headers: { "X-GTM-Pin": pin } });
    const [named, pinned] = front.entries;
    assert.equal(pinned, front.entries.at(-1));
    assert.equal(pinned?.query.conversationId, named?.query.conversationId);
    assert.equal(pinned?.query.pinnedTo, "virginia");
  });

  it("is not believed of a forged token where it lives, and that is counted", async () => {
    await using front = await startFrontDoor();
    const { headers } = await ask(front, { headers: { "X-Conversation-Id": "c" } });
    const pin = headers.get("x-gtm-pin") ?? "";
    const forged = pin.slice(0, -1) + (pin.endsWith("0") ? "1" : "0");
    await ask(front, { headers: { "X-GTM-Pin": forged } });
    assert.equal(front.entries.at(-1)?.query.pinnedTo, null);
    assert.equal(await metricValue(front.metrics, "gtm_http_pin_tokens_forged_total"), 1);
  });

  for (const [what, asked, source] of [
    ["a header", { headers: { "X-Conversation-Id": "x".repeat(257), "X-SMG-Routing-Key": "short" } }, "header"],
    ["a token", { headers: { "X-GTM-Pin": "p".repeat(257), "X-SMG-Routing-Key": "short" } }, "pin-token"],
    ["a key in the body", { body: { prompt_cache_key: "é".repeat(129), user: "short" } }, "prompt-cache-key"],
    ["a text in the body", { body: { metadata: { session_id: "x".repeat(9_000) }, user: "short" } }, "session"],
  ] as const satisfies readonly (readonly [string, Asked, string])[]) {
    it(`is not named by ${what} of more than 256 octets, which is counted, and the next source is asked`, async () => {
      await using front = await startFrontDoor();
      await ask(front, asked);
      assert.notEqual(front.entries[0]?.query.conversationId, null);
      assert.equal(await metricValue(front.metrics, "gtm_conversation_identity_ignored_total", { source }), 1);
      assert.equal(await metricValue(front.metrics, "gtm_conversation_identity_total", { source }), 0);
    });
  }
  it("is named by exactly 256 octets", async () => {
    await using front = await startFrontDoor();
    await ask(front, { headers: { "X-Conversation-Id": "x".repeat(256) } });
    assert.equal(await metricValue(front.metrics, "gtm_conversation_identity_total", { source: "header" }), 1);
  });
});

describe("two tenants that use the same name", () => {
  const idsOf = async (wish: FrontDoorWish, headers: readonly Asked["headers"][]): Promise<readonly unknown[]> => {
    await using front = await startFrontDoor(wish);
    for (const one of headers) await ask(front, { headers: { "X-Conversation-Id": "c1", ...one } });
    return front.entries.map(({ query }) => query.conversationId);
  };
  it("are kept apart by their credentials, in whichever header these come", async () => {
    const ids = await idsOf({}, [
      { Authorization: "Bearer sk-a" },
      { Authorization: "Bearer sk-b" },
      {},
      { "x-api-key": "sk-a" },
    ]);
    assert.equal(new Set(ids).size, 3);
    assert.equal(ids[0], ids[3], "one credential is one tenant");
  });
  it("are kept apart by the header that a trusted proxy sets", async () => {
    const wish = { tenantHeader: "X-Tenant", trustedProxies: ["127.0.0.1"] };
    const ids = await idsOf(wish, [
      { "X-Tenant": "a" },
      { "X-Tenant": "b" },
      { "X-Tenant": "a", Authorization: "Bearer x" },
    ]);
    assert.equal(new Set(ids).size, 2);
    assert.equal(ids[0], ids[2]);
  });
  it("cannot name each other where nobody is trusted to", async () => {
    const ids = await idsOf({ tenantHeader: "x-tenant" }, [{ "X-Tenant": "a" }, {}]);
    assert.equal(new Set(ids).size, 1);
  });
});
