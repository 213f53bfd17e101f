/** What the admin API and the command line say of models, over a real socket. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ModelView } from "#gtm/wire/admin/model-view.ts";
import { ModelId } from "#shared/ids.ts";
import { aPlacement, aPool, aRegion, MODEL, regionId } from "#test/support/builders.ts";
import { aModelReport, aReport } from "#test/support/report-builders.ts";
import { runCli } from "#test/unit/gtm/cli/fake-io.ts";
import { type AdminWish, runningAdmin } from "#test/unit/gtm/wire/admin/running-admin.ts";

const modelsOf = async (wish: AdminWish = {}, query = ""): Promise<readonly ModelView[]> => {
  await using admin = await runningAdmin(wish);
  return (await admin.ask("GET", `/models${query}`)).body.items;
};
const only = async (wish: AdminWish = {}): Promise<ModelView> => {
  const [model, ...others] = await modelsOf(wish);
  assert.ok(model !== undefined && others.length === 0);
  return model;
};

describe("GET /models", () => {
  it("shows a configured model with its pools, and each region's state, capacity and speed", async () => {
    const model = await only();
    assert.deepEqual(
      [model.id, model.isConfigured, model.aliases, model.weightBytes, model.coldStartMs, model.isServed],
      [MODEL, true, ["llama"], 141e9, 80_000, true],
    );
    assert.deepEqual(
      [model.pools, model.because],
      [[{ name: "chat", region: "frankfurt", why: "" }], "Loaded in frankfurt, paris."],
    );
    const [frankfurt, , singapore] = model.regions;
    assert.deepEqual(frankfurt, {
      ...{ region: "frankfurt", isMember: true, state: "loaded", reportAgeMs: 500, takesNew: true, replicas: 1 },
      ...{ kvCapacityTokens: 400_000, kvPinnedTokens: 0, liveTokens: 0, coldStartMs: 80_000, needs: null },
      prefill: { tokensPerSecond: 5_000, source: "reported", confidence: 1, ageMs: 500 },
      gpuMemoryFreeBytes: 8e9,
    });
    assert.deepEqual([singapore?.state, singapore?.prefill], ["not-placed", null]);
    assert.equal(
      singapore?.needs,
      "An engine that serves it, with 141.0 GB of weights: 8.0 GB are free, 133.0 GB too little; ready after 80.00 s.",
    );
  });
  it("says where a speed is from: the agent's word, other regions', or nobody's", async () => {
    const unmeasured = { prefillTokensPerSecond: null, prefillConfidence: 0 };
    await using admin = await runningAdmin({
      regions: [aRegion("frankfurt"), aRegion("paris", { placement: unmeasured })],
    });
    const report = aReport("frankfurt", { models: [aModelReport("frankfurt", { prefillSource: "configured" })] });
    admin.gtm.state.agents = [
      { region: regionId("frankfurt"), agent: "a1", report, reportAgeMs: 0, isListed: true, ...NOTHING },
    ];
    const sources = async () =>
      (await admin.ask("GET", "/models")).body.items[0].regions.map(
        ({ prefill }: { prefill: { source: string } }) => prefill.source,
      );
    assert.deepEqual(await sources(), ["configured", "other-regions"]);
    const placements = new Map([[MODEL, aPlacement("frankfurt", unmeasured)]]);
    admin.gtm.setRegion("frankfurt", { placements });
    assert.deepEqual(await sources(), ["assumed", "assumed"]);
  });
  it("says that no region serves it, and why", async () => {
    const regions = [aRegion("frankfurt", { placement: null }), aRegion("paris", { placement: null })];
    const model = await only({ regions });
    assert.deepEqual([model.isServed, model.pools], [false, [{ name: "chat", region: null, why: NOWHERE }]]);
    assert.equal(model.because, `No region serves it for chat: ${NOWHERE}.`);
  });
  it("says that it waits to be loaded where it only lies on disk", async () => {
    const model = await only({
      regions: [aRegion("frankfurt", { placement: { state: "on-disk", replicas: [] }, gpuMemoryFreeBytes: 200e9 })],
    });
    assert.deepEqual([model.isServed, model.because], [true, "Loaded nowhere: a turn waits for a region to load it."]);
    assert.equal(model.regions[0]?.needs, "A first turn, which wakes or loads it: ready after 80.00 s.");
  });
  it("says that it lies on disk where its weights do not fit", async () => {
    const model = await only({ regions: [aRegion("frankfurt", { placement: { state: "on-disk", replicas: [] } })] });
    assert.equal(
      model.because,
      "No region serves it for chat: frankfurt has no room to load the model (8.0 GB free, 141.0 GB needed).",
    );
  });
  it("lists a model that is reported and not configured behind the others", async () => {
    const other = ModelId.parse("qwen-7b");
    const placements = new Map([
      [MODEL, aPlacement("frankfurt")],
      [other, aPlacement("frankfurt", { model: other })],
    ]);
    const regions = [aRegion("frankfurt", { placements })];
    const models = await modelsOf({ regions, pools: [aPool(regions)] });
    assert.deepEqual(
      models.map(({ id }) => id),
      [MODEL, other],
    );
    assert.deepEqual([models[1]?.isConfigured, models[1]?.isServed, models[1]?.pools], [false, false, []]);
    assert.match(models[1]?.because ?? "", /^Loaded in frankfurt, and no pool serves it: /);
    assert.deepEqual(
      (await modelsOf({ regions }, "?model=llama")).map(({ id }) => id),
      [MODEL],
    );
  });
});

const NOWHERE = "frankfurt does not place llama-70b, paris does not place llama-70b";
const NOTHING = { pulse: null, refusal: null, isKeyKnown: false };

describe("placements", () => {
  it("show the second tiers of their cache, as agents report them", async () => {
    await using admin = await runningAdmin();
    const tier = {
      ...{ tier: "lmcache", source: "10.0.0.1:8000", hitFraction: 0.4, hitFractionSinceStart: 0.3, usedFraction: null },
      ...{ memoryUsedBytes: 8e9, storageUsedBytes: 0, remoteUsedBytes: null },
    };
    const report = aReport("frankfurt", { models: [aModelReport("frankfurt", { cacheTiers: [tier] })] });
    admin.gtm.state.agents = [
      { region: regionId("frankfurt"), agent: "a1", report, reportAgeMs: 0, isListed: true, ...NOTHING },
    ];
    const { items } = (await admin.ask("GET", "/placements")).body;
    assert.deepEqual(
      items.map((one: { cacheTiers: unknown }) => one.cacheTiers),
      [[tier], []],
    );
    const { placements } = (await admin.ask("GET", "/regions/frankfurt")).body;
    assert.deepEqual(placements[0].cacheTiers, [tier]);
    const { out } = await runCli(["placements", "--server", admin.url]);
    assert.match(out, /\nfrankfurt +llama-70b +lmcache +10\.0\.0\.1:8000 +0\.40 +0\.30 +- +8\.0 GB +0\.0 MB +-\n/);
  });
});

describe("gtm models", () => {
  it("lists models, and of one shows what each region would need", async () => {
    await using admin = await runningAdmin();
    const { out, exitCode } = await runCli(["models", "--server", admin.url]);
    assert.equal(
      out,
      [
        "MODEL      ALIASES  POOLS  REGIONS                 KV TOKENS   WEIGHTS  COLD START  SERVED",
        "llama-70b  llama    chat   loaded 2, not-placed 1    800 000  141.0 GB     80.00 s  Loaded in frankfurt, paris.",
        "",
      ].join("\n"),
    );
    const { out: one } = await runCli(["models", "llama", "--server", admin.url]);
    assert.match(one, /^frankfurt +loaded +yes +1 +400 000 +0 +0 +5 000 +reported +80\.00 s +0\.5 s$/m);
    assert.match(one, /^singapore needs: An engine that serves it, with 141\.0 GB/m);
    assert.equal(exitCode, 0);
  });
});
