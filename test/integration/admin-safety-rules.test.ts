/** The safety rules at the admin API: orders and overrides alike, by two operators, and what always may be done. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ConversationId } from "#shared/ids.ts";
import { aConversation, aRegion, type PlacementWish } from "#test/support/builders.ts";
import { type RunningAdmin, runningAdmin, type Tokens, tokensFile } from "#test/unit/gtm/wire/admin/running-admin.ts";

const DRAIN = { mode: "drain-all", comment: "drivers" };
const busy: PlacementWish = { kvCacheUsedFraction: 0.6, sparePrefillTokensPerSecond: 2_000 };
const FULL = {
  regions: [aRegion("frankfurt", { placement: busy }), aRegion("paris", { placement: busy })],
  conversations: Array.from({ length: 10 }, (_, at) => ({
    ...aConversation({ home: at < 5 ? "frankfurt" : "paris", contextTokens: 20_000 }),
    id: ConversationId.parse(`abcdefgh0000${at}`),
  })),
};
const ordered = (admin: RunningAdmin) => admin.gtm.ports.orders.current().regions.map(({ admin: state }) => state);

describe("an order that would fill the other region", () => {
  it("is refused with what was found and the limit, and a dry run says the same", async () => {
    await using admin = await runningAdmin(FULL);
    const refused = await admin.ask("POST", "/regions/frankfurt/drain", { body: DRAIN });
    assert.deepEqual(
      [refused.status, refused.body.rule, refused.body.found, refused.body.limit, refused.body.pass],
      [409, "maxUsedAfterDrainFraction", 1.2, 0.95, "override_rule=maxUsedAfterDrainFraction"],
    );
    assert.match(refused.body.detail, /^paris would use 1\.2 of its KV memory for llama-70b/);
    const plan = await admin.ask("POST", "/regions/frankfurt/drain?dry_run=true", { body: DRAIN });
    assert.deepEqual(plan.body.violations, refused.body.violations);
    assert.deepEqual(plan.body.uses, [
      {
        ...{ region: "paris", model: "llama-70b", arriving: 5 },
        ...{ kvUsedFraction: { now: 0.6, after: 1.2 }, prefillUsedFraction: { now: 0.6, after: 1.2 } },
      },
    ]);
    assert.deepEqual(ordered(admin), []);
    assert.deepEqual(admin.gtm.state.refused, ["maxUsedAfterDrainFraction"]);
  });
  it("is given where somebody names the rule, which log, audit and metric keep", async () => {
    await using admin = await runningAdmin(FULL);
    const path = "/regions/frankfurt/drain?override_rule=maxUsedAfterDrainFraction";
    assert.equal((await admin.ask("POST", path, { body: DRAIN })).status, 200);
    assert.deepEqual(ordered(admin), ["drain-all"]);
    assert.deepEqual(admin.gtm.state.overridden, ["maxUsedAfterDrainFraction"]);
    assert.equal(admin.gtm.state.audit[0]?.overrideRule, "maxUsedAfterDrainFraction");
    const warned = admin.lines.filter(({ event }) => event === "region.rule-overridden");
    assert.deepEqual(
      warned.map(({ level, fields }) => [level, fields?.["rule"]]),
      [["warn", "maxUsedAfterDrainFraction"]],
    );
  });
  it("is not refused where it keeps what it holds", async () => {
    await using admin = await runningAdmin(FULL);
    assert.equal(
      (await admin.ask("POST", "/regions/frankfurt/drain", { body: { ...DRAIN, mode: "drain-new" } })).status,
      200,
    );
  });
  for (const [kind, region] of [
    ["deny", "frankfurt"],
    ["force", "paris"],
  ] as const) {
    it(`is refused as an override of kind ${kind}, too`, async () => {
      await using admin = await runningAdmin(FULL);
      const body = { kind, region, comment: "x", for: "1h" };
      const refused = await admin.ask("POST", "/overrides", { body });
      assert.deepEqual([refused.status, refused.body.rule], [409, "maxUsedAfterDrainFraction"]);
      assert.deepEqual(admin.gtm.ports.orders.current().overrides, []);
    });
  }
});

describe("rules that are configured", () => {
  it("hold as they are now: all that are broken are told, and all have to be named", async () => {
    await using admin = await runningAdmin();
    admin.gtm.state.limits = { ...admin.gtm.state.limits, minActiveRegions: 2, minRegionsPerModel: 2 };
    const refused = await admin.ask("POST", "/regions/frankfurt/down", { body: { comment: "x" } });
    assert.deepEqual(
      refused.body.violations.map(({ rule, found, limit }: Record<string, unknown>) => [rule, found, limit]),
      [
        ["minActiveRegions", 1, 2],
        ["minRegionsPerModel", 1, 2],
      ],
    );
    const some = await admin.ask("POST", "/regions/frankfurt/down?override_rule=minActiveRegions", {
      body: { comment: "x" },
    });
    assert.equal(some.status, 409);
    const path = "/regions/frankfurt/down?override_rule=minActiveRegions,minRegionsPerModel";
    assert.equal((await admin.ask("POST", path, { body: { comment: "x" } })).status, 200);
  });
  it("do not stand against taking out what serves nothing already", async () => {
    for (const health of ["unhealthy", "silent"] as const) {
      await using admin = await runningAdmin({
        ...FULL,
        regions: [aRegion("frankfurt", { health, placement: busy }), aRegion("paris")],
      });
      admin.gtm.state.limits = { ...admin.gtm.state.limits, minActiveRegions: 9, minRegionsPerModel: 9 };
      await admin.ask("POST", "/regions/frankfurt/drain", { body: DRAIN });
      const { status } = await admin.ask("POST", "/regions/frankfurt/down", { body: { comment: "power failure" } });
      assert.deepEqual([status, ordered(admin)], [200, ["down"]]);
    }
  });
});

describe("two operators within the cooldown of 60 s", () => {
  const alice = (tokens: Tokens) => ({ token: tokens.of.operator });
  const bob = (tokens: Tokens) => ({ token: tokens.of.admin });
  const setUp = async () => {
    const stack = new AsyncDisposableStack();
    const tokens = stack.use(await tokensFile());
    const admin = stack.use(await runningAdmin({ tokensFile: tokens.path }));
    const drained = await admin.ask("POST", "/regions/frankfurt/drain", { ...alice(tokens), body: DRAIN });
    assert.equal(drained.status, 200);
    admin.gtm.clock.pass(12_000);
    return { admin, tokens, stack };
  };
  const undrain = (admin: RunningAdmin, who: object, more = "", body: object = {}) =>
    admin.ask("POST", `/regions/frankfurt/undrain${more}`, { ...who, body });

  it("do not take back each other's orders; whoever gave one may", async () => {
    const { admin, tokens, stack } = await setUp();
    await using _ = stack;
    const refused = await undrain(admin, bob(tokens));
    assert.deepEqual(
      [refused.status, refused.body.rule, refused.body.found, refused.body.limit],
      [409, "cooldown", 12_000, 60_000],
    );
    assert.equal(
      refused.body.detail,
      "frankfurt was changed 12 s ago (the-operator drained it (drain-all): drivers); talk to the-operator, or wait 48 s. override_rule=cooldown does it all the same.",
    );
    assert.equal((await undrain(admin, alice(tokens))).status, 200);
    const again = await admin.ask("POST", "/regions/frankfurt/drain", { ...bob(tokens), body: DRAIN });

    assert.match(again.body.detail, /\(the-operator returned it to service: taken back\)/);
  });
  it("are free again when it is over", async () => {
    const { admin, tokens, stack } = await setUp();
    await using _ = stack;
    admin.gtm.clock.pass(48_000);
    assert.equal((await undrain(admin, bob(tokens))).status, 200);
  });
  it("pass it by its name, and say why", async () => {
    const { admin, tokens, stack } = await setUp();
    await using _ = stack;
    const mute = await undrain(admin, bob(tokens), "?override_rule=cooldown");
    assert.deepEqual([mute.status, mute.body.faults[0].at], [400, "body.comment"]);
    const said = await undrain(admin, bob(tokens), "?override_rule=cooldown", { comment: "alice asked me to" });
    assert.equal(said.status, 200);
  });
  it("do not give an override about the same traffic, and may give one about other traffic", async () => {
    const { admin, tokens, stack } = await setUp();
    await using _ = stack;
    const body = { kind: "drain-new", region: "frankfurt", comment: "x", for: "1h" };
    assert.equal((await admin.ask("POST", "/overrides", { ...bob(tokens), body })).body.rule, "cooldown");
    assert.equal(
      (await admin.ask("POST", "/overrides", { ...bob(tokens), body: { ...body, tenant: "acme" } })).status,
      200,
    );
  });
});

describe("override_rule", () => {
  it("that names no rule is refused with the names that there are", async () => {
    await using admin = await runningAdmin();
    const { status, body } = await admin.ask("POST", "/regions/frankfurt/down?override_rule=cooldown,all", {
      body: { comment: "x" },
    });
    assert.equal(status, 400);
    assert.match(body.detail, /minActiveRegions, minRegionsPerModel, maxUsedAfterDrainFraction, cooldown/);
  });
});
