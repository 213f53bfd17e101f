/** `/v1/steer`: where a turn would go, told to who asks, over real sockets. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { aPool, aRegion, CONVERSATION, MODEL } from "#test/support/builders.ts";
import { type RunningFrontDoor, startFrontDoor, ZONE } from "#test/support/front-door.ts";
import { startRememberingFrontDoor } from "#test/support/http-house.ts";
import { metricValue } from "#test/support/metric-value.ts";

const FRANKFURT = "https://frankfurt.r.llm.example.org";
type Steered = Record<"base_url" | "pinned_base_url" | "label" | "region" | "decision", string | null> & {
  readonly expires_in_s: number;
};
const post = (front: RunningFrontDoor, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${front.url}/v1/steer`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
const steered = async (reply: Response): Promise<Steered> => {
  assert.equal(reply.status, 200);
  return (await reply.json()) as Steered;
};

describe("a client that asks where its next turn goes", () => {
  it("is told the region's base URL, the pinned one, the label and for how long", async () => {
    await using front = await startFrontDoor();
    const reply = await post(front, { model: "llama", conversation: "thread 1" });
    const [entry] = front.entries;
    const { label } = (await reply.clone().json()) as { label: string };
    assert.deepEqual(await steered(reply), {
      base_url: `${FRANKFURT}/v1`,
      pinned_base_url: `https://${label}.c.${ZONE}/v1`,
      label,
      region: "frankfurt",
      expires_in_s: entry?.decision.ttlSeconds,
      decision: entry?.decision.id,
    });
    const conversation = front.labels.conversationIdOf("default", "thread 1");
    assert.equal(front.labels.read(label).conversation, conversation);
    assert.deepEqual([entry?.query.conversationId, entry?.query.model], [conversation, MODEL]);
    assert.equal(reply.headers.get("cache-control"), `private, max-age=${entry?.decision.ttlSeconds}`);
    assert.equal(reply.headers.get("content-type"), "application/json");
    assert.match(reply.headers.get("vary") ?? "", /Authorization/);
    assert.equal(await metricValue(front.metrics, "gtm_conversation_identity_total", { source: "steer" }), 1);
  });
  it("is told the same by GET", async () => {
    await using front = await startFrontDoor();
    const { label: first } = await steered(await post(front, { model: "llama", conversation: "thread 1" }));
    const { label: second } = await steered(await fetch(`${front.url}/v1/steer?model=llama&conversation=thread%201`));
    assert.equal(second, first);
  });
  it("is sent back to where its conversation lives, also when it names it by its label", async () => {
    const worldRegions = [aRegion("frankfurt"), aRegion("virginia")];
    await using front = await startRememberingFrontDoor({ worldRegions });
    const first = await steered(await post(front, { conversation: "thread 1", prompt_tokens: 9_000 }));
    const again = await steered(await post(front, { conversation: "thread 1", prompt_tokens: 9_000 }));
    const byLabel = await steered(await post(front, { conversation: first.label, prompt_tokens: 9_000 }));
    assert.deepEqual([again.region, byLabel.region, byLabel.label], [first.region, first.region, first.label]);
    assert.deepEqual(
      front.entries.map(({ decision }) => decision.verdict.kind),
      ["placed", "pinned", "pinned"],
    );
    assert.deepEqual(
      front.entries.map(({ query }) => query.promptTokens),
      [9_000, 9_000, 9_000],
    );
  });
  it("is not priced by the octets of its question", async () => {
    await using front = await startFrontDoor();
    await post(front, { model: "llama", conversation: "thread 1", max_tokens: 7 });
    const { query } = front.entries[0] ?? assert.fail("nothing was decided");
    assert.deepEqual([query.promptTokens, query.outputTokens, query.outputLimitTokens], [null, null, 7]);
  });
  it("gets no label where it names no conversation", async () => {
    await using front = await startFrontDoor();
    const { label, pinned_base_url, base_url } = await steered(await post(front, { model: "llama" }));
    assert.deepEqual([label, pinned_base_url, base_url], [null, null, `${FRANKFURT}/v1`]);
  });
  it("may name its conversation by headers, as in a turn", async () => {
    await using front = await startFrontDoor();
    await post(front, { model: "llama" }, { "x-conversation-id": "thread 1" });
    assert.equal(front.entries[0]?.query.conversationId, front.labels.conversationIdOf("default", "thread 1"));
  });
  it("gets no pinned base URL where labels are off", async () => {
    await using front = await startFrontDoor({ offersLabels: false });
    const { label, pinned_base_url } = await steered(await post(front, { conversation: "thread 1" }));
    assert.deepEqual([typeof label, pinned_base_url], ["string", null]);
  });
  it("is of its own tenant", async () => {
    await using front = await startFrontDoor();
    for (const key of ["a", "b"]) await post(front, { conversation: "thread 1" }, { authorization: `Bearer ${key}` });
    assert.equal(new Set(front.entries.map(({ query }) => query.conversationId)).size, 2);
  });
  it("is asked by its pool's path, wherever that lies", async () => {
    const pool = aPool([aRegion("frankfurt")], { paths: ["/openai/v1", "/"] });
    await using front = await startFrontDoor({ pools: [pool], defaultPool: pool });
    const deep = await steered(await fetch(`${front.url}/openai/v1/steer`));
    const shallow = await steered(await fetch(`${front.url}/steer`));
    assert.deepEqual([deep.base_url, shallow.base_url], [`${FRANKFURT}/openai/v1`, FRANKFURT]);
  });
});

describe("a page of another origin", () => {
  it("may ask, also from a sandbox, with a preflight for its headers", async () => {
    await using front = await startFrontDoor();
    const preflight = await fetch(`${front.url}/v1/steer`, {
      method: "OPTIONS",
      headers: {
        origin: "null",
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization, content-type",
      },
    });
    assert.equal(preflight.status, 204);
    assert.equal(preflight.headers.get("access-control-allow-headers"), "authorization, content-type");
    const reply = await post(front, { model: "llama" }, { origin: "null" });
    assert.equal(reply.headers.get("access-control-allow-origin"), "*");
  });
});

describe("a question that cannot be answered", () => {
  const cases: readonly {
    what: string;
    ask: (front: RunningFrontDoor) => Promise<Response>;
    status: number;
    code: string;
  }[] = [
    { what: "no JSON", ask: (front) => post(front, "model=llama"), status: 400, code: "malformed-request" },
    { what: "a list", ask: (front) => post(front, []), status: 400, code: "malformed-request" },
    {
      what: "a number for a name",
      ask: (front) => post(front, { conversation: 7 }),
      status: 400,
      code: "malformed-request",
    },
    {
      what: "a name of 257 octets",
      ask: (front) => post(front, { conversation: "x".repeat(257) }),
      status: 400,
      code: "malformed-request",
    },
    {
      what: "a name of 3 000 octets",
      ask: (front) => post(front, { conversation: "x".repeat(3_000) }),
      status: 400,
      code: "malformed-request",
    },
    {
      what: "tokens that are no number",
      ask: (front) => fetch(`${front.url}/v1/steer?prompt_tokens=many`),
      status: 400,
      code: "malformed-request",
    },
    { what: "an unknown model", ask: (front) => post(front, { model: "no" }), status: 404, code: "unknown-model" },
    {
      what: "another method",
      ask: (front) => fetch(`${front.url}/v1/steer`, { method: "DELETE" }),
      status: 405,
      code: "method-not-allowed",
    },
  ];
  for (const { what, ask, status, code } of cases) {
    it(`is refused as a problem with status ${status}: ${what}`, async () => {
      await using front = await startFrontDoor();
      const reply = await ask(front);
      assert.deepEqual([reply.status, reply.headers.get("content-type")], [status, "application/problem+json"]);
      assert.equal(((await reply.json()) as { code: string }).code, code);
      assert.equal(front.entries.length, 0);
    });
  }
  it("for now says so with each region's reason and when to come again", async () => {
    await using front = await startFrontDoor({ worldRegions: [aRegion("frankfurt", { admin: "drain-all" })] });
    const reply = await post(front, { conversation: CONVERSATION });
    assert.deepEqual([reply.status, reply.headers.get("content-type")], [503, "application/problem+json"]);
    assert.notEqual(reply.headers.get("retry-after"), null);
    assert.equal(reply.headers.get("cache-control"), "no-store");
  });
});
