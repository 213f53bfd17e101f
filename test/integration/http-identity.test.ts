/** What names a conversation in a request, and that a name brings its second request back to where its context is. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { PoolName } from "#shared/ids.ts";
import { aClient, aRegion } from "#test/support/builders.ts";
import { type RunningFrontDoor, startFrontDoor, ZONE } from "#test/support/front-door.ts";
import { type Asked, ask, FRONT_HOST } from "#test/support/http-ask.ts";
import { startRememberingFrontDoor } from "#test/support/http-house.ts";
import { metricValue } from "#test/support/metric-value.ts";

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
    host: all.find(({ host }) => host !== undefined)?.host ?? FRONT_HOST,
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
