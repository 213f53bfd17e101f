/** Conversations over a real socket: found by what they have in common, looked at, ordered elsewhere. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ConversationId } from "#shared/ids.ts";
import type { MeasuredTurn } from "#shared/measured-turn.ts";
import { aConversation, CONVERSATION, MODEL, regionId } from "#test/support/builders.ts";
import { runCli } from "#test/unit/gtm/cli/fake-io.ts";
import { runningAdmin } from "#test/unit/gtm/wire/admin/running-admin.ts";

const idOf = (at: number): ConversationId => ConversationId.parse(String(at).padStart(13, "0"));
const many = Array.from({ length: 6 }, (_, at) => ({
  ...aConversation({ home: at % 2 === 0 ? "frankfurt" : "paris", contextTokens: at * 1_000, idleMs: at * 60_000 }),
  id: idOf(at),
}));

describe("GET /conversations", () => {
  const cases: readonly { readonly query: string; readonly ids: readonly number[] }[] = [
    { query: "region=paris", ids: [1, 3, 5] },
    { query: "min_tokens=4000", ids: [4, 5] },
    { query: "idle=3m", ids: [3, 4, 5] },
    { query: "model=llama&pool=chat", ids: [0, 1, 2, 3, 4, 5] },
    { query: "tenant=acme", ids: [0, 1, 2, 3, 4, 5] },
    { query: "tenant=other", ids: [] },
    { query: "sort=tokens&limit=2", ids: [5, 4] },
  ];
  for (const { query, ids } of cases) {
    it(`finds by ${query}`, async () => {
      await using admin = await runningAdmin({ conversations: many });
      const { status, body } = await admin.ask("GET", `/conversations?${query}`);
      assert.equal(status, 200);
      assert.deepEqual(
        body.items.map((one: { id: string }) => Number(one.id)),
        ids,
      );
    });
  }
  const faults: readonly { readonly query: string; readonly status: number; readonly says: RegExp }[] = [
    { query: "model=gpt", status: 404, says: /^There is no model gpt; there are llama-70b\.$/ },
    { query: "pool=nowhere", status: 404, says: /^There is no pool nowhere; there are chat\.$/ },
    { query: "idle=5", status: 400, says: /^query\.idle: / },
    { query: "min_tokens=-1", status: 400, says: /^query\.min_tokens: / },
    { query: "sort=home", status: 400, says: /^query\.sort: / },
    { query: "cursor=x", status: 400, says: /^query\.cursor: it is of no list sorted by recent: begin again/ },
  ];
  for (const { query, status, says } of faults) {
    it(`refuses ${query} and says what is wrong`, async () => {
      await using admin = await runningAdmin({ conversations: many });
      const answer = await admin.ask("GET", `/conversations?${query}`);
      assert.equal(answer.status, status);
      assert.match(answer.body.detail, says);
    });
  }
});

const aTurn = (change: Partial<MeasuredTurn>): MeasuredTurn => ({
  ...{ v: 1, region: regionId("frankfurt"), replica: null, conversation: CONVERSATION, pool: "chat", tenantTag: 1 },
  ...{ model: MODEL, promptTokens: 20_000, cachedTokens: 19_000, completionTokens: 10, isCompletionEstimated: false },
  ...{ ttftMs: 240, totalMs: 900, queuedMs: 0, clientPrefix: null, rttMs: null, predictedTtftMs: 200 },
  ...{ predictedCachedTokens: 19_500, decision: null, outcome: "served", atAgeMs: 500 },
  ...change,
});

describe("GET /conversations/{id}", () => {
  it("tells its latest turns: what was promised, and what gateways measured", async () => {
    await using admin = await runningAdmin();
    for (let at = 0; at < 10; at++) {
      admin.gtm.measure([aTurn({ ttftMs: at, atAgeMs: 10_000 - at }), aTurn({ conversation: idOf(1) })]);
    }
    const { body } = await admin.ask("GET", `/conversations/${CONVERSATION}`);
    assert.deepEqual([body.pool, body.isHomeOrdered], ["chat", false]);
    assert.deepEqual(
      body.history.map((turn: { ttftMs: number }) => turn.ttftMs),
      [9, 8, 7, 6, 5, 4, 3, 2],
    );
    const [latest] = body.history;
    assert.deepEqual(
      [latest.region, latest.promptTokens, latest.cachedTokens, latest.promisedTokens, latest.outcome],
      ["frankfurt", 20_000, 19_000, 19_500, "served"],
    );
    const shown = await runCli(["conversations", "show", CONVERSATION, "--server", admin.url]);
    assert.match(shown.out, /frankfurt +20 000 +19 000 +19 500 +9 ms +200 ms +served/);
  });
});

describe("POST /conversations/{id}/move", () => {
  const path = `/conversations/${CONVERSATION}/move`;
  const body = { region: "paris", comment: "its client moved" };

  it("tells first what it costs, and what comes after; nothing changes", async () => {
    await using admin = await runningAdmin();
    const { status, body: plan } = await admin.ask("POST", `${path}?dry_run=true`, { body });
    assert.equal(status, 200);
    assert.deepEqual(
      [plan.from, plan.to, plan.contextTokens, plan.recomputeTokens],
      ["frankfurt", "paris", 20_000, 20_000],
    );
    assert.ok(plan.recomputeMs > 3_000 && plan.ttftMs > plan.unmoved.ttftMs, JSON.stringify(plan));
    assert.deepEqual(
      [plan.unmoved.region, plan.afterwards.region, plan.afterwards.isMovedBack],
      ["frankfurt", "paris", false],
    );
    assert.match(plan.afterwards.explanation, /^Stays in paris, which holds/);
    assert.equal(admin.gtm.state.conversations[0]?.holdings[0].region, "frankfurt");
    assert.equal(admin.gtm.state.audit.length, 0);
  });
  it("is ordered under the ETag that was shown, and every GTM's next decision follows", async () => {
    await using admin = await runningAdmin();
    const { body: plan } = await admin.ask("POST", `${path}?dry_run=true`, { body });
    const {
      status,
      body: moved,
      headers,
    } = await admin.ask("POST", path, { body, headers: { "if-match": plan.etag } });
    assert.deepEqual([status, moved.home, moved.isHomeOrdered, headers.get("etag")], [200, "paris", true, '"4"']);
    const { decision } = admin.gtm.decide({ conversationId: CONVERSATION, promptTokens: 20_100 });
    assert.ok(decision.verdict.kind === "pinned" && decision.verdict.region === "paris");
    assert.equal(admin.gtm.state.audit.length, 1);
    assert.ok(admin.lines.some(({ event }) => event === "conversation.moved"));
  });
  it("is refused where somebody was faster", async () => {
    await using admin = await runningAdmin();
    const answer = await admin.ask("POST", path, { body, headers: { "if-match": '"2"' } });
    assert.deepEqual([answer.status, answer.body.code], [412, "precondition-failed"]);
  });
  it("is refused where the region may not serve its next turn, and says why", async () => {
    await using admin = await runningAdmin();
    admin.gtm.setRegion("paris", { admin: "drain-all" });
    const { status, body: problem } = await admin.ask("POST", path, { body });
    assert.equal(status, 409);
    assert.match(problem.detail, /could not go to paris: it is being drained\.$/);
    const home = await admin.ask("POST", path, { body: { ...body, region: "frankfurt" } });
    assert.match(home.body.detail, /is at home in frankfurt already\.$/);
  });
  it("needs a region of ours, a conversation that is known, and a reason", async () => {
    await using admin = await runningAdmin();
    assert.equal((await admin.ask("POST", path, { body: { ...body, region: "nowhere" } })).status, 404);
    assert.equal((await admin.ask("POST", `/conversations/${idOf(9)}/move`, { body })).status, 404);
    const unsaid = await admin.ask("POST", path, { body: { region: "paris" } });
    assert.deepEqual(
      [unsaid.status, unsaid.body.faults],
      [400, [{ at: "body.comment", message: "a comment is required: say why" }]],
    );
    assert.equal((await admin.ask("POST", `${path}?dryrun=true`, { body })).status, 400);
  });
});

describe("gtm conversations", () => {
  const words = (url: string, ...more: readonly string[]) => ["conversations", ...more, "--server", url];
  it("list takes every filter and asks on until its limit is reached", async () => {
    await using admin = await runningAdmin({ conversations: many });
    const filters = ["--pool", "chat", "--tenant", "acme", "--model", "llama", "--min-tokens", "1000", "--idle", "1m"];
    const { out, err } = await runCli(words(admin.url, "list", ...filters, "--sort", "tokens", "--limit", "2"));
    assert.match(out, /^0000000000005 +paris/m);
    assert.match(err, /There is more: --cursor 2/);
    const rest = await runCli(words(admin.url, "list", "--cursor", "4", "-o", "jsonl"));
    assert.equal(rest.out.trim().split("\n").length, 2);
    assert.equal((await runCli(words(admin.url, "list", "--min-tokens", "many"))).exitCode, 2);
  });
  it("move shows what it costs, asks, and moves what was shown", async () => {
    await using admin = await runningAdmin();
    const move = words(admin.url, "move", CONVERSATION, "--to", "paris", "--comment", "its client moved");
    const plan = await runCli([...move, "--dry-run"]);
    assert.match(plan.out, /^computes again +20 000 of 20 000 tokens, .* of prefill$/m);
    assert.equal((await runCli(move)).exitCode, 2);
    assert.equal((await runCli(move, { answers: ["n"] })).exitCode, 1);
    assert.equal(admin.gtm.state.conversations[0]?.isHomeOrdered, undefined);
    const moved = await runCli(move, { answers: ["y"] });
    assert.deepEqual([moved.exitCode, moved.out], [0, `${CONVERSATION}: its next turn goes to paris\n`]);
    const again = await runCli([...move, "--yes"]);
    assert.equal(again.exitCode, 5);
    assert.match(again.err, /is at home in paris already/);
  });
});
