/** What the admin API shows, over a real socket. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { DecisionSchema } from "#gtm/wire/admin/decision-schema.ts";
import { aConversation, aRegion, CONVERSATION, regionId } from "#test/support/builders.ts";
import { EPOCH_MS, READY } from "#test/unit/gtm/wire/admin/fake-ports.ts";
import { runningAdmin } from "#test/unit/gtm/wire/admin/running-admin.ts";

describe("every answer", () => {
  it("is not stored, not sniffed, and runs nothing from elsewhere", async () => {
    await using admin = await runningAdmin();
    for (const path of ["/status", "/nothing", "/regions/nowhere"]) {
      const { headers } = await admin.ask("GET", path);
      assert.equal(headers.get("cache-control"), "no-store");
      assert.equal(headers.get("x-content-type-options"), "nosniff");
      assert.match(headers.get("content-security-policy") ?? "", /^default-src 'self'/);
      assert.equal(headers.get("access-control-allow-origin"), null);
    }
  });
});

describe("GET /status", () => {
  it("says how the GTM is, since when and why", async () => {
    await using admin = await runningAdmin();
    admin.gtm.state.health = {
      ...READY,
      degradedSinceMs: EPOCH_MS,
      reasons: ["the store does not answer"],
      degradations: [{ what: "store", reason: "the store does not answer", sinceMs: EPOCH_MS }],
      savedWorldAgeMs: 61_000.4,
    };
    admin.gtm.clock.pass(2_500);
    const { body } = await admin.ask("GET", "/status");
    assert.equal(body.state, "degraded");
    assert.equal(body.degradedSince, "2026-11-30T04:00:00.000Z");
    assert.deepEqual(body.reasons, ["the store does not answer"]);
    assert.deepEqual([body.instance, body.version, body.uptimeMs], ["gtm-1", "0.1.0", 2_500]);
    assert.deepEqual(body.degradations, [
      { what: "store", reason: "the store does not answer", since: "2026-11-30T04:00:00.000Z", ageMs: 2_500 },
    ]);
    assert.deepEqual(body.world, { version: 7, ageMs: 2_500, areAgesFrozen: false, savedAgeMs: 61_000 });
    assert.deepEqual(body.pools, [
      { name: "chat", models: ["llama-70b"], regions: ["frankfurt", "paris", "singapore"] },
    ]);
    assert.equal(body.regions[2].because, "No model is placed here.");
  });
});

describe("GET /regions", () => {
  it("shows what was ordered, what reports say, what follows, and what is placed", async () => {
    await using admin = await runningAdmin();
    await admin.ask("POST", "/regions/paris/drain", {
      body: { mode: "drain-new", comment: "driver update", for: "2h" },
    });
    admin.gtm.clock.pass(60_000);
    const { body } = await admin.ask("GET", "/regions");
    assert.deepEqual(
      body.items.map((region: { id: string }) => region.id),
      ["frankfurt", "paris", "singapore"],
    );
    const [, paris] = body.items;
    assert.deepEqual(
      [paris.admin, paris.health, paris.takesNew, paris.keepsHeld],
      ["drain-new", "healthy", false, true],
    );
    assert.deepEqual(paris.order, {
      admin: "drain-new",
      comment: "driver update",
      actor: "loopback",
      orderedAt: "2026-11-30T04:00:00.000Z",
      expiresAt: "2026-11-30T06:00:00.000Z",
      expiresInMs: 7_140_000,
      leavesBy: null,
      operation: paris.order.operation,
    });
    assert.match(paris.order.operation, /^[0-9A-HJKMNP-TV-Z]{26}$/);
    const [placement] = paris.placements;
    assert.deepEqual(placement.replicas, [
      { id: "paris.example.org:8000/0", backlogMs: 400, kvCapacityTokens: 400_000, kvPinnedTokens: 0 },
    ]);
    assert.deepEqual([placement.kvCacheUsedFraction, placement.prefixHitFraction], [0.1, 0.5]);
    assert.equal(paris.gpuMemoryFreeBytes, 8e9);
  });
  it("of one region answers with the version of what was ordered as its ETag", async () => {
    await using admin = await runningAdmin();
    const before = (await admin.ask("GET", "/regions/paris")).headers.get("etag");
    admin.gtm.setRegion("paris", { reportAgeMs: 900 });
    assert.equal((await admin.ask("GET", "/regions/paris")).headers.get("etag"), before);
    await admin.ask("POST", "/regions/paris/drain", { body: { mode: "drain-new", comment: "x" } });
    assert.notEqual((await admin.ask("GET", "/regions/paris")).headers.get("etag"), before);
  });
  it("of a region that is not there says which there are", async () => {
    await using admin = await runningAdmin();
    const { status, body, headers } = await admin.ask("GET", "/regions/nowhere");
    assert.equal(status, 404);
    assert.equal(headers.get("content-type"), "application/problem+json");
    assert.equal(body.detail, "There is no region nowhere; there are frankfurt, paris, singapore.");
  });
});

describe("GET /placements", () => {
  it("filters by region, by model and by alias", async () => {
    await using admin = await runningAdmin();
    const regions = async (query: string): Promise<string[]> =>
      (await admin.ask("GET", `/placements${query}`)).body.items.map((one: { region: string }) => one.region);
    assert.deepEqual(await regions(""), ["frankfurt", "paris"]);
    assert.deepEqual(await regions("?region=paris"), ["paris"]);
    assert.deepEqual(await regions("?model=llama"), ["frankfurt", "paris"]);
    assert.deepEqual(await regions("?model=other"), []);
    assert.equal((await admin.ask("GET", "/placements?region=nowhere")).status, 404);
  });
});

describe("GET /conversations", () => {
  const conversations = [
    aConversation({ home: "frankfurt", contextTokens: 20_000, alsoHeldBy: [{ region: "paris", tokens: 8_000 }] }),
    { ...aConversation({ home: "paris", contextTokens: 3_000 }), id: "abcdefgh01235" as typeof CONVERSATION },
    { ...aConversation({ home: "paris", contextTokens: 4_000 }), id: "abcdefgh01236" as typeof CONVERSATION },
  ];
  it("pages through those at home in a region", async () => {
    await using admin = await runningAdmin({ conversations });
    const first = (await admin.ask("GET", "/conversations?region=paris&limit=1")).body;
    assert.deepEqual([first.items.length, first.items[0].id], [1, "abcdefgh01235"]);
    const second = (await admin.ask("GET", `/conversations?region=paris&limit=1&cursor=${first.next_cursor}`)).body;
    assert.deepEqual([second.items[0].id, second.next_cursor], ["abcdefgh01236", null]);
  });
  it("of one shows its holdings and their ages, its revision as ETag", async () => {
    await using admin = await runningAdmin({ conversations });
    admin.gtm.clock.pass(5_000);
    const { body, headers } = await admin.ask("GET", `/conversations/${CONVERSATION}`);
    assert.equal(headers.get("etag"), '"3"');
    assert.deepEqual([body.home, body.contextTokens, body.idleMs, body.isPinned], ["frankfurt", 20_000, 35_000, true]);
    assert.deepEqual(body.holdings, [
      { region: "frankfurt", replica: null, tokens: 20_000, ageMs: 35_000 },
      { region: "paris", replica: null, tokens: 8_000, ageMs: 35_000 },
    ]);
  });
  it("reads a label where it is no id", async () => {
    await using admin = await runningAdmin({ conversations });
    const { status, body } = await admin.ask("GET", "/conversations/my-own-label");
    assert.equal(status, 404);
    assert.match(body.detail, /conversation 0000000000000/);
  });
  it("is 503 with the time to try again while the store is away", async () => {
    await using admin = await runningAdmin({ conversations });
    admin.gtm.state.isStoreAway = true;
    for (const path of ["/conversations", `/conversations/${CONVERSATION}`]) {
      const { status, body, headers } = await admin.ask("GET", path);
      assert.deepEqual([status, body.code, headers.get("retry-after")], [503, "store-unreachable", "5"]);
    }
  });
});

describe("DELETE /conversations/{id}", () => {
  it("forgets it, and says whether there was one", async () => {
    await using admin = await runningAdmin();
    const path = `/conversations/${CONVERSATION}`;
    assert.deepEqual((await admin.ask("DELETE", path)).body, { id: CONVERSATION, released: true });
    assert.deepEqual((await admin.ask("DELETE", path)).body, { id: CONVERSATION, released: false });
    assert.equal((await admin.ask("GET", path)).status, 404);
  });
  it("leaves it where If-Match names an older revision", async () => {
    await using admin = await runningAdmin();
    const path = `/conversations/${CONVERSATION}`;
    const { status } = await admin.ask("DELETE", path, { headers: { "if-match": '"2"' } });
    assert.equal(status, 412);
    assert.equal((await admin.ask("DELETE", path, { headers: { "if-match": '"3"' } })).body.released, true);
  });
});

describe("GET /decisions", () => {
  it("lists newest first, a page at a time, filtered", async () => {
    await using admin = await runningAdmin();
    const ids = [1, 2, 3].map(() => admin.gtm.decide().decision.id);
    const pinned = admin.gtm.decide({ conversationId: CONVERSATION }).decision.id;
    const list = async (query: string) => (await admin.ask("GET", `/decisions?${query}`)).body;
    const idsOf = (page: { items: readonly { id: string }[] }) => page.items.map(({ id }) => id);
    const first = await list("limit=2");
    assert.deepEqual(idsOf(first), [pinned, ids[2]]);
    assert.deepEqual(idsOf(await list(`limit=2&cursor=${first.next_cursor}`)), [ids[1], ids[0]]);
    assert.deepEqual(idsOf(await list("verdict=pinned")), [pinned]);
    assert.deepEqual(idsOf(await list(`conversation=${CONVERSATION}`)), [pinned]);
    assert.deepEqual(idsOf(await list("region=paris")), []);
    assert.deepEqual(idsOf(await list("channel=dns")), []);
    assert.equal((await list("pool=chat")).items.length, 4);
  });
  it("of one shows all that was considered, why, and what would flip it", async () => {
    await using admin = await runningAdmin();
    const { decision } = admin.gtm.decide({ conversationId: CONVERSATION, promptTokens: 21_000 });
    const { body } = await admin.ask("GET", `/decisions/${decision.id}`);
    assert.equal(DecisionSchema.safeParse(body).error, undefined);
    assert.deepEqual([body.id, body.at], [decision.id, "2026-11-30T04:00:00.000Z"]);
    assert.deepEqual(
      body.considered.map((one: { region: string; exclusion?: { reason: string } }) => [
        one.region,
        one.exclusion?.reason,
      ]),
      [
        ["frankfurt", undefined],
        ["paris", undefined],
        ["singapore", "model-not-placed"],
      ],
    );
    assert.match(body.explanation, /^Stays in frankfurt/);
    assert.match(body.flipsIf, /queue grew by/);
  });
  it("of one that this instance does not remember is 404 and names the instance", async () => {
    await using admin = await runningAdmin();
    const { status, body } = await admin.ask("GET", "/decisions/01KB8Y0000000000000000ZZZZ");
    assert.equal(status, 404);
    assert.match(body.detail, /This instance \(gtm-1\) does not remember/);
  });
});

describe("POST /explain", () => {
  const asked = { pool: "chat", client: "203.0.113.7", conversation: CONVERSATION, prompt_tokens: 21_000 };
  it("answers as the same turn would be, without leaving a trace", async () => {
    await using admin = await runningAdmin();
    const { world } = admin.gtm.state;
    const { status, body } = await admin.ask("POST", "/explain", { body: asked });
    assert.equal(status, 200);
    assert.deepEqual([body.verdict.kind, body.verdict.region, body.channel], ["pinned", "frankfurt", "explain"]);
    assert.equal(body.client.subnet, "203.0.113.0/24");
    const decided = admin.gtm.decide({ conversationId: CONVERSATION, promptTokens: 21_000 });
    const real = (await admin.ask("GET", `/decisions/${decided.decision.id}`)).body;
    assert.deepEqual(body.considered, real.considered);
    assert.equal(admin.gtm.state.entries.length, 1);
    assert.equal(admin.gtm.state.world, world);
  });
  it("takes an alias for a model", async () => {
    await using admin = await runningAdmin();
    assert.equal((await admin.ask("POST", "/explain", { body: { ...asked, model: "llama" } })).body.model, "llama-70b");
  });
  const refused: readonly { what: string; body: unknown; status: number; says: RegExp }[] = [
    { what: "a pool that is not there", body: { ...asked, pool: "x" }, status: 404, says: /no pool x; there are chat/ },
    {
      what: "a model of no pool",
      body: { ...asked, model: "gpt" },
      status: 404,
      says: /has no model gpt; it has llama-70b/,
    },
    {
      what: "a client that is no network",
      body: { ...asked, client: "Berlin" },
      status: 400,
      says: /body\.client: must be an IP/,
    },
    { what: "a negative prompt", body: { ...asked, prompt_tokens: -1 }, status: 400, says: /body\.prompt_tokens/ },
    { what: "a key that is not known", body: { ...asked, promptTokens: 1 }, status: 400, says: /promptTokens/ },
  ];
  for (const { what, body, status, says } of refused) {
    it(`refuses ${what}`, async () => {
      await using admin = await runningAdmin();
      const reply = await admin.ask("POST", "/explain", { body });
      assert.equal(reply.status, status);
      assert.match(reply.body.detail, says);
    });
  }
  it("of a pool without any region explains that nothing serves", async () => {
    await using admin = await runningAdmin({ regions: [aRegion("frankfurt", { health: "unhealthy" })] });
    const { body } = await admin.ask("POST", "/explain", { body: asked });
    assert.deepEqual([body.verdict.kind, body.answeredWith], ["unserved", "nothing"]);
    assert.match(body.explanation, /frankfurt does not answer its probe/);
  });
});

describe("GET /openapi.json", () => {
  it("is OpenAPI 3.1 and lists every address with its summary, security and problems", async () => {
    await using admin = await runningAdmin();
    const { body } = await admin.ask("GET", "/openapi.json");
    assert.equal(body.openapi, "3.1.0");
    const operations = Object.entries<Record<string, { summary: string; security: unknown }>>(body.paths).flatMap(
      ([path, methods]) =>
        Object.entries(methods).map(([method, operation]) => ({ name: `${method} ${path}`, operation })),
    );
    assert.deepEqual(operations.map(({ name }) => name).sort(), [
      "delete /api/v1/acme-challenges/{name}",
      "delete /api/v1/conversations/{id}",
      "delete /api/v1/overrides/{id}",
      "delete /api/v1/tokens/{id}",
      "get /api/v1/acme-challenges",
      "get /api/v1/agents",
      "get /api/v1/audit",
      "get /api/v1/config",
      "get /api/v1/config/schema",
      "get /api/v1/conversations",
      "get /api/v1/conversations/{id}",
      "get /api/v1/decisions",
      "get /api/v1/decisions/{id}",
      "get /api/v1/events",
      "get /api/v1/instances",
      "get /api/v1/models",
      "get /api/v1/operations",
      "get /api/v1/operations/{id}",
      "get /api/v1/overrides",
      "get /api/v1/overrides/{id}",
      "get /api/v1/placements",
      "get /api/v1/recent",
      "get /api/v1/regions",
      "get /api/v1/regions/{id}",
      "get /api/v1/regions/{id}/history",
      "get /api/v1/snapshot",
      "get /api/v1/status",
      "get /api/v1/tokens",
      "get /api/v1/tokens/{id}",
      "get /api/v1/version",
      "get /api/v1/whoami",
      "get /api/v1/zones",
      "get /api/v1/zones/{zone}/delegation",
      "get /api/v1/zones/{zone}/records",
      "patch /api/v1/overrides/{id}",
      "patch /api/v1/tokens/{id}",
      "post /acme/cleanup",
      "post /acme/present",
      "post /api/v1/acme-challenges",
      "post /api/v1/config/check",
      "post /api/v1/config/reload",
      "post /api/v1/conversations/{id}/move",
      "post /api/v1/explain",
      "post /api/v1/operations/{id}/cancel",
      "post /api/v1/overrides",
      "post /api/v1/regions/{id}/down",
      "post /api/v1/regions/{id}/drain",
      "post /api/v1/regions/{id}/undrain",
      "post /api/v1/regions/{id}/up",
      "post /api/v1/tokens",
      "post /api/v1/what-if",
      "post /api/v1/zones/{zone}/delegation/check",
    ]);
    for (const { name, operation } of operations) {
      assert.ok(operation.summary.length > 10, name);
      const schemes = name.includes(" /acme/") ? [{ basic: [] }, { bearer: [] }] : [{ bearer: [] }];
      assert.deepEqual(operation.security, schemes, name);
    }
    const schemas = body.components.schemas;
    assert.ok(schemas.Decision.properties.considered);
    const named = [...JSON.stringify(body).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name = ""]) => name);
    assert.ok(named.length > 10);
    assert.deepEqual(
      named.filter((name) => schemas[name] === undefined),
      [],
    );
  });
});

describe("GET /instances", () => {
  it("shows this GTM and the others, with both answers where they differ", async () => {
    await using admin = await runningAdmin();
    admin.gtm.state.others = [
      {
        ...{ id: "gtm-b", heardMsAgo: 120.4, version: "", config: { regions: "ffff" }, configDiffers: ["regions"] },
        isSameState: true,
        disagreements: [{ question: "chat from paris", here: regionId("paris"), there: null, forMs: 2_500.7 }],
      },
    ];
    const { body } = await admin.ask("GET", "/instances");
    assert.deepEqual(body, {
      ...{ instance: "gtm-1", version: "0.1.0", boot: "boot-a", config: { regions: "0011" } },
      others: [
        {
          ...{ instance: "gtm-b", lastSeenMsAgo: 120, version: null, config: { regions: "ffff" } },
          ...{ configDiffers: ["regions"], isSameState: true },
          disagreements: [{ question: "chat from paris", here: "paris", there: null, forMs: 2_501 }],
        },
      ],
    });
  });
});
