/** Every answer that the front door gives to a well-formed request, over real sockets and decided by the real steering. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Pool } from "#gtm/domain/pool.ts";
import { ModelId, PoolName } from "#shared/ids.ts";
import { aPool, aRegion, MODEL } from "#test/support/builders.ts";
import { type FrontDoorWish, type RunningFrontDoor, startFrontDoor, ZONE } from "#test/support/front-door.ts";
import { type Asked, ask, FRONT_HOST } from "#test/support/http-ask.ts";
import { metricValue } from "#test/support/metric-value.ts";
import type { RawAnswer } from "#test/support/raw-http.ts";

const REGION_URL = "https://frankfurt.r.llm.example.org";
const CODER = ModelId.parse("coder-30b");

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
    { when: "the host names the pool", asked: { host: `code.${FRONT_HOST}:8080` }, pool: code, model: null },
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
