/** What-if at the admin API and on the command line: the latest turns decided again, before and after a change. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { aConversation } from "#test/support/builders.ts";
import { runCli } from "#test/unit/gtm/cli/fake-io.ts";
import { type RunningAdmin, runningAdmin } from "#test/unit/gtm/wire/admin/running-admin.ts";

const held = aConversation({ home: "frankfurt", contextTokens: 20_000 });
const withTurns = async (times: number): Promise<RunningAdmin> => {
  const admin = await runningAdmin({ conversations: [held] });
  for (let i = 0; i < times; i++) {
    admin.gtm.decide({ channel: "http", kind: "turn", conversationId: held.id, promptTokens: 20_100 });
  }
  return admin;
};
const ask = (admin: RunningAdmin, body: object) => admin.ask("POST", "/what-if", { body });

describe("POST /what-if", () => {
  it("says where turns would go if a region were drained, and what they would compute again", async () => {
    await using admin = await withTurns(3);
    const { status, body } = await ask(admin, { regions: { frankfurt: "drain-all" } });
    assert.equal(status, 200);
    assert.deepEqual(
      [body.decisions, body.before.regions, body.after.regions],
      [3, [{ region: "frankfurt", decisions: 3 }], [{ region: "paris", decisions: 3 }]],
    );
    assert.deepEqual([body.before.verdicts, body.after.verdicts], [{ pinned: 3 }, { displaced: 3 }]);
    assert.deepEqual([body.before.recomputeTokens, body.after.recomputeTokens], [0, 60_000]);
    assert.ok(body.after.predictedTtftMeanMs > body.before.predictedTtftMeanMs + 3_000);
    assert.equal(body.after.overThreeSeconds, 3);
    assert.deepEqual(body.moved, [{ from: "frankfurt", to: "paris", decisions: 3 }]);
  });
  it("says that nothing would serve them where nothing would", async () => {
    await using admin = await withTurns(1);
    const { body } = await ask(admin, { regions: { frankfurt: "down", paris: "down" } });
    assert.deepEqual(body.after.regions, [{ region: null, decisions: 1 }]);
    assert.equal(body.after.predictedTtftMeanMs, null);
  });
  it("says what another policy would do", async () => {
    await using admin = await withTurns(2);
    admin.gtm.setRegion("frankfurt", { admin: "active" });
    const same = await ask(admin, { policy: {} });
    assert.deepEqual(same.body.moved, []);
    assert.deepEqual(same.body.before, same.body.after);
  });
  const overrides: readonly { when: string; override: object; to: string | null; moved: number }[] = [
    { when: "the region were denied to a tenant", override: { kind: "deny", region: "frank*" }, to: "paris", moved: 3 },
    { when: "another region were forced", override: { kind: "force", region: "paris" }, to: "paris", moved: 3 },
    { when: "the region were drained", override: { kind: "drain-all", region: "frankfurt" }, to: "paris", moved: 3 },
    { when: "it kept what it holds", override: { kind: "drain-new", region: "frankfurt" }, to: "frankfurt", moved: 0 },
    {
      when: "a share kept new ones out",
      override: { kind: "share", share: 0, region: "f*" },
      to: "frankfurt",
      moved: 0,
    },
    {
      when: "another tenant's traffic were kept out",
      override: { kind: "deny", region: "frankfurt", tenant: "acme" },
      to: "frankfurt",
      moved: 0,
    },
  ];
  for (const { when, override, to, moved } of overrides) {
    it(`says where turns would go if ${when}, as the override itself does when it is given`, async () => {
      await using admin = await withTurns(3);
      const { status, body } = await ask(admin, { overrides: [override] });
      assert.equal(status, 200);
      assert.deepEqual(body.after.regions, [{ region: to, decisions: 3 }]);
      assert.equal(
        body.moved.reduce((sum: number, one: { decisions: number }) => sum + one.decisions, 0),
        moved,
      );
      assert.deepEqual(admin.gtm.state.orders.overrides, []);
      const given = await admin.ask("POST", "/overrides?override_rule=minRegionsPerModel", {
        body: { ...override, comment: "a test", for: "1h" },
      });
      assert.equal(given.status, 200, JSON.stringify(given.body));
      const { decision } = admin.gtm.decide({
        ...{ channel: "http", kind: "turn", conversationId: held.id, promptTokens: 20_100 },
      });
      assert.equal("region" in decision.verdict ? decision.verdict.region : null, to);
    });
  }
  it("takes several at once, beside regions and policy and what stands already", async () => {
    await using admin = await withTurns(2);
    const body = {
      overrides: [
        { kind: "deny", region: "frankfurt" },
        { kind: "deny", region: "paris" },
      ],
      policy: { marginMs: 10 },
    };
    assert.deepEqual((await ask(admin, body)).body.after.regions, [{ region: null, decisions: 2 }]);
  });
  it("looks at so many of the latest turns, and at nothing that is no turn", async () => {
    await using admin = await withTurns(5);
    admin.gtm.decide({ channel: "dns", kind: "cell" });
    assert.equal((await ask(admin, { last: 2 })).body.decisions, 2);
    assert.equal((await ask(admin, {})).body.decisions, 5);
  });
  it("changes nothing, and is nobody's order: a viewer may ask, and the audit has none of it", async () => {
    await using admin = await withTurns(1);
    const { orders, world, entries } = admin.gtm.state;
    const before = entries.length;
    await ask(admin, { regions: { frankfurt: "drain-all" } });
    assert.equal(admin.gtm.state.orders, orders);
    assert.equal(admin.gtm.state.world, world);
    assert.equal(entries.length, before);
    assert.deepEqual(admin.gtm.state.audit, []);
  });
  const faults: readonly { when: string; body: object; status: number }[] = [
    { when: "a region that there is not", body: { regions: { tokyo: "down" } }, status: 404 },
    { when: "a state that there is not", body: { regions: { paris: "gone" } }, status: 400 },
    { when: "a number of the policy that there is not", body: { policy: { margin: 1 } }, status: 400 },
    { when: "a margin at which nothing would ever move", body: { policy: { marginFraction: 1 } }, status: 400 },
    { when: "an override of no region", body: { overrides: [{ kind: "deny", region: "tokyo*" }] }, status: 400 },
    { when: "a share of what is none", body: { overrides: [{ kind: "deny", region: "*", share: 0 }] }, status: 400 },
    {
      when: "a reason for what nobody gives",
      body: { overrides: [{ kind: "deny", region: "*", for: "1h" }] },
      status: 400,
    },
    { when: "more turns than it looks at", body: { last: 2_001 }, status: 400 },
  ];
  for (const { when, body, status } of faults) {
    it(`refuses ${when}`, async () => {
      await using admin = await withTurns(1);
      assert.equal((await ask(admin, body)).status, status);
    });
  }
});

describe("gtm what-if", () => {
  it("prints both sides", async () => {
    await using admin = await withTurns(3);
    const { exitCode, out } = await runCli(["what-if", "--region", "frankfurt=drain-all", "--server", admin.url]);
    assert.equal(exitCode, 0);
    assert.match(
      out,
      /^3 turns of the last 0\.0 s, decided again as of now:\n\nREGION +NOW +CHANGED\nfrankfurt +3 +0\nparis +0 +3\n/,
    );
    assert.match(out, /tokens computed again +0 → 60 000\n/);
    assert.match(out, /would go elsewhere +3\n/);
  });
  it("takes overrides as they would be given", async () => {
    await using admin = await withTurns(3);
    const run = (...words: string[]) => runCli(["what-if", ...words, "--server", admin.url]);
    assert.match((await run("--deny", "frank*", "--tenant", "default")).out, /frankfurt +3 +0\nparis +0 +3\n/);
    assert.match((await run("--force", "paris")).out, /would go elsewhere +3\n/);
    assert.match((await run("--drain-new", "frankfurt", "--share", "paris=0.1")).out, /would go elsewhere +0\n/);
    const without = await run("--tenant", "acme");
    assert.deepEqual([without.exitCode, /add --deny, --force/.test(without.err)], [2, true]);
    const nowhere = await run("--deny", "tokyo");
    assert.deepEqual(
      [nowhere.exitCode, nowhere.err],
      [2, "gtm: overrides.0.region: tokyo matches none of frankfurt, paris, singapore\n"],
    );
  });
  it("takes a pair or nothing", async () => {
    await using admin = await withTurns(1);
    for (const words of [
      ["--region", "frankfurt"],
      ["--policy", "marginMs=much"],
      ["--last", "all"],
    ]) {
      assert.equal((await runCli(["what-if", ...words, "--server", admin.url])).exitCode, 2);
    }
  });
});
