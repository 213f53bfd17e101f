import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Decision } from "#gtm/domain/decision.ts";
import type { LastResort } from "#gtm/domain/pool.ts";
import type { Region } from "#gtm/domain/region.ts";
import { toHttpAnswer } from "#gtm/wire/http/redirect.ts";
import { aConversation, aRegion, decideIn, regionId } from "#test/support/builders.ts";

const originOf = (region: string): string => `https://${region}.r.llm.example.org`;
const answerTo = (decision: Decision) => toHttpAnswer(decision, originOf);
const unserved = (lastResort: LastResort): Decision =>
  decideIn({
    regions: [aRegion("frankfurt", { health: "unhealthy" }), aRegion("virginia", { admin: "down" })],
    pool: { lastResort },
  });

describe("a decision for a region", () => {
  const conversation = aConversation({ home: "virginia", contextTokens: 20_000 });
  const cases: readonly { verdict: string; regions: readonly Region[]; isNew?: boolean; region: string }[] = [
    { verdict: "pinned", regions: [aRegion("frankfurt"), aRegion("virginia")], region: "virginia" },
    { verdict: "placed", regions: [aRegion("frankfurt")], isNew: true, region: "frankfurt" },
    {
      verdict: "migrated",
      regions: [aRegion("frankfurt"), aRegion("virginia", { placement: { backlogMs: 60_000 } })],
      region: "frankfurt",
    },
    {
      verdict: "displaced",
      regions: [aRegion("frankfurt"), aRegion("virginia", { admin: "drain-all" })],
      region: "frankfurt",
    },
  ];
  for (const { verdict, regions, isNew = false, region } of cases) {
    it(`is a 307 to that region when it is ${verdict}`, () => {
      const decision = decideIn({ regions, conversation: isNew ? null : conversation });
      assert.deepEqual(answerTo(decision), { status: 307, verdict, region, origin: originOf(region) });
    });
  }
});

describe("when no region can serve", () => {
  it("the answer is 503, when to try again, and each region's reason", () => {
    assert.deepEqual(answerTo(unserved({ kind: "servfail" })), {
      status: 503,
      retryAfterSeconds: 5,
      reasons: [
        { region: "frankfurt", reason: "down", cause: "probe" },
        { region: "virginia", reason: "down", cause: "ordered" },
      ],
    });
  });
  it("a last resort of regions is a 307 to the first of them", () => {
    assert.deepEqual(answerTo(unserved({ kind: "regions", order: [regionId("virginia"), regionId("frankfurt")] })), {
      status: 307,
      verdict: "unserved",
      region: "virginia",
      origin: originOf("virginia"),
    });
  });
  for (const lastResort of [
    { kind: "addresses", ipv4: ["192.0.2.80"], ipv6: [] },
    { kind: "nodata" },
  ] as const satisfies readonly LastResort[]) {
    it(`a last resort of ${lastResort.kind} is of no use to HTTP: 503`, () => {
      assert.equal(answerTo(unserved(lastResort)).status, 503);
    });
  }
});

describe("when data residency keeps regions out", () => {
  const outside = aRegion("virginia", { jurisdiction: "us" });
  const foreign = aRegion("singapore", { jurisdiction: null });
  const decide = (regions: readonly Region[], members = regions): Decision =>
    decideIn({ regions, pool: { jurisdictions: ["eu"], regions: members.map(({ id }) => id) } });

  it("the answer is 451 where that alone keeps all of them out", () => {
    assert.deepEqual(answerTo(decide([outside, foreign])), {
      status: 451,
      reasons: [
        { region: "virginia", reason: "not-allowed", jurisdiction: "us" },
        { region: "singapore", reason: "not-allowed", jurisdiction: null },
      ],
    });
  });
  it("the answer is 503 where a region that may serve is down: it may come back", () => {
    assert.equal(answerTo(decide([outside, aRegion("frankfurt", { admin: "down" })])).status, 503);
  });
  it("regions outside of the pool neither change that nor are told", () => {
    const answer = answerTo(decide([outside, aRegion("frankfurt")], [outside]));
    assert.deepEqual(answer, {
      status: 451,
      reasons: [{ region: "virginia", reason: "not-allowed", jurisdiction: "us" }],
    });
  });
  it("a last resort outside is not answered", () => {
    const decision = decideIn({
      regions: [outside],
      pool: { jurisdictions: ["eu"], lastResort: { kind: "regions", order: [outside.id] } },
    });
    assert.equal(answerTo(decision).status, 451);
  });
});

describe("a pool without any region in the world", () => {
  it("is answered with 503, since nothing says that residency is why", () => {
    assert.deepEqual(answerTo(decideIn({ regions: [] })), { status: 503, retryAfterSeconds: 5, reasons: [] });
  });
});

describe("when a prompt is longer than regions take", () => {
  const short = (id: string) => aRegion(id, { placement: { contextLimitTokens: 8_192 } });
  const query = { promptTokens: 9_000 };

  it("the answer is 413 where that alone keeps all of them out: trying again does not help", () => {
    assert.deepEqual(answerTo(decideIn({ regions: [short("frankfurt"), short("virginia")], query })), {
      status: 413,
      reasons: [
        { region: "frankfurt", reason: "context-too-long", tokens: 9_000, limitTokens: 8_192 },
        { region: "virginia", reason: "context-too-long", tokens: 9_000, limitTokens: 8_192 },
      ],
    });
  });
  it("the answer is 503 where one that takes it is down: it may come back", () => {
    const regions = [short("frankfurt"), aRegion("virginia", { admin: "down" })];
    assert.equal(answerTo(decideIn({ regions, query })).status, 503);
  });
});
