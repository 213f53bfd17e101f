/** What the doctor says of agents, and of the models that they report: read from a store as agents fill it. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { readRegionAgents } from "#gtm/doctor/agent-facts.ts";
import { type AgentInputs, agentFindings } from "#gtm/doctor/agents.ts";
import type { Finding } from "#gtm/doctor/finding.ts";
import { placementFindings } from "#gtm/doctor/placements.ts";
import { ModelId, RegionId } from "#shared/ids.ts";
import { agentsKey, KEYS, reportKey } from "#shared/keys.ts";
import { signedWith } from "#shared/region-signature.ts";
import type { RegionReport } from "#shared/report.ts";
import { createMemoryStore } from "#shared/store-memory.ts";
import { aPool, aRegion, MODEL } from "#test/support/builders.ts";
import { faultsIn } from "#test/support/doctor-builders.ts";
import { createFallibleStore } from "#test/support/fallible-store.ts";
import { createManualClock } from "#test/support/manual-clock.ts";
import { publishReport } from "#test/support/publish-report.ts";
import { aModel, aModelReport, aReport, EPOCH_MS } from "#test/support/report-builders.ts";

const EU = RegionId.parse("frankfurt");
const KEY = Buffer.alloc(32, 1);
const OTHER_KEY = Buffer.alloc(32, 2);

/** A store at EPOCH_MS with these reports, signed where there is a key. */
const withReports = async (reports: readonly RegionReport[], key: Uint8Array | null = KEY) => {
  const clock = createManualClock(EPOCH_MS);
  const store = createFallibleStore(createMemoryStore(clock));
  for (const report of reports) await publishReport(store, clock, key === null ? report : signedWith(report, key));
  return { clock, store };
};
type World = Awaited<ReturnType<typeof withReports>>;

const findingsIn = async (
  { store, clock }: World,
  { keys = [KEY], ...wish }: { readonly keys?: readonly Uint8Array[] } & Partial<AgentInputs> = {},
): Promise<readonly Finding[]> =>
  agentFindings({
    regions: [await readRegionAgents(store, EU, { get: () => keys })],
    signing: new Set(keys.length > 0 ? [EU] : []),
    staleAfterMs: 5_000,
    expiredAfterMs: 30_000,
    storeNowMs: clock.epochMs(),
    version: "0.1.0",
    ...wish,
  });
const saying = (findings: readonly Finding[]): string => findings.map(({ what }) => what).join("\n");

describe("an agent of another version", () => {
  it("is told apart from one that says nothing, and from one that is the same", async () => {
    const of = async (agentVersion: string | undefined) =>
      faultsIn(
        await findingsIn(await withReports([aReport("frankfurt", agentVersion === undefined ? {} : { agentVersion })])),
      );
    assert.deepEqual(await of("0.0.9"), ["warning agent-version"]);
    assert.deepEqual(await of(undefined), []);
    assert.deepEqual(await of("0.1.0"), []);
  });
});

describe("a region with two agents that sign and report", () => {
  it("is in order", async () => {
    const world = await withReports([aReport("frankfurt"), aReport("frankfurt", { agentName: "a2" })]);
    const findings = await findingsIn(world);
    assert.deepEqual(faultsIn(findings), []);
    assert.equal(saying(findings), "frankfurt: 2 agents, last heard 0.0 s ago, signed.");
  });
});

describe("a region", () => {
  it("without any agent is a problem", async () => {
    const findings = await findingsIn(await withReports([]));
    assert.deepEqual(faultsIn(findings), ["problem region-unreported"]);
    assert.match(findings[0]?.remedy ?? "", /region: frankfurt/);
  });
  it("whose only agent fell silent is one, and says which", async () => {
    const world = await withReports([aReport("frankfurt")]);
    world.clock.advance(31_000);
    const findings = await findingsIn(world);
    assert.deepEqual(faultsIn(findings), ["problem region-unreported"]);
    assert.match(saying(findings), /a1 did before/);
  });
  it("of which one agent fell silent counts without it", async () => {
    const world = await withReports([aReport("frankfurt")]);
    world.clock.advance(31_000);
    const second = aReport("frankfurt", { agentName: "a2", reportedAtMs: world.clock.epochMs() });
    await publishReport(world.store, world.clock, signedWith(second, KEY));
    const findings = await findingsIn(world);
    assert.deepEqual(faultsIn(findings), ["warning agent-missing"]);
    assert.match(saying(findings), /^frankfurt\/a1 is listed/);
  });
  it("that cannot be read is unknown", async () => {
    const world = await withReports([aReport("frankfurt")]);
    world.store.fault = (_, key) => (key === agentsKey(EU) ? "lost" : null);
    assert.deepEqual(faultsIn(await findingsIn(world)), ["unknown agents"]);
  });
});

describe("an agent", () => {
  const one = () => withReports([aReport("frankfurt")]);

  it("that was heard 7 s ago by the store's clock is doubted", async () => {
    const world = await one();
    world.clock.advance(7_000);
    const findings = await findingsIn(world);
    assert.deepEqual(faultsIn(findings), ["warning agent-stale"]);
    assert.match(saying(findings), /last heard 7\.0 s ago/);
  });
  it("that was heard as long ago as the policy allows is a problem", async () => {
    const world = await one();
    world.clock.advance(7_000);
    assert.deepEqual(faultsIn(await findingsIn(world, { expiredAfterMs: 7_000 })), ["problem agent-stale"]);
  });
  it("that signs with another key is not believed", async () => {
    const findings = await findingsIn(await withReports([aReport("frankfurt")], OTHER_KEY));
    assert.deepEqual(faultsIn(findings), ["problem agent-refused"]);
    assert.match(saying(findings), /signature/);
  });
  it("that does not sign although it has to is not believed", async () => {
    const world = await withReports([aReport("frankfurt")], null);
    assert.deepEqual(faultsIn(await findingsIn(world)), ["problem agent-refused"]);
  });
  it("that does not sign, and need not, could be anybody", async () => {
    const findings = await findingsIn(await withReports([aReport("frankfurt")], null), { keys: [] });
    assert.deepEqual(faultsIn(findings), ["warning agent-unsigned"]);
    assert.match(saying(findings), /whoever writes to the store can speak for frankfurt/);
  });
  it("that signs, and nobody looks, is told of too", async () => {
    const findings = await findingsIn(await one(), { keys: [] });
    assert.match(saying(findings), /signs its reports, and no key verifies that/);
  });
  it("is not called unsigned while the key files cannot be read", async () => {
    assert.deepEqual(faultsIn(await findingsIn(await one(), { keys: [], signing: null })), []);
  });
  const refused: readonly (readonly [string, string, RegExp])[] = [
    ["of a newer major version", JSON.stringify({ ...aReport("frankfurt"), v: 2 }), /\(version\).*version 1.*of 2/],
    ["with a string for a number", JSON.stringify({ ...aReport("frankfurt"), seq: "1" }), /\(schema\).*seq/],
    ["that is no JSON", "{", /\(not-json\)/],
    ["of another region", JSON.stringify(aReport("paris")), /\(other-region\).*paris/],
  ];
  for (const [what, value, says] of refused) {
    it(`with a report ${what} is not believed`, async () => {
      const world = await one();
      await world.store.put(reportKey(EU, aReport("frankfurt").agent), value, KEYS.report.ttlMs);
      const findings = await findingsIn(world);
      assert.deepEqual(faultsIn(findings), ["problem agent-refused"]);
      assert.match(saying(findings), says);
    });
  }
  it("whose clock is an hour ahead of the store's is told of; its age is right all the same", async () => {
    const world = await withReports([aReport("frankfurt", { reportedAtMs: EPOCH_MS + 3_600_000 })]);
    const findings = await findingsIn(world);
    assert.deepEqual(faultsIn(findings), ["warning agent-clock"]);
    assert.match(saying(findings), /60 min ahead of/);
    assert.deepEqual(faultsIn(await findingsIn(world, { storeNowMs: null })), []);
  });
});

describe("a model", () => {
  const pool = aPool([aRegion("frankfurt")]);
  const agentsOf = async (world: World) => [await readRegionAgents(world.store, EU, { get: () => [] })];
  const look = async (world: World, aliases: readonly string[] = [], id = MODEL) =>
    placementFindings({
      models: [aModel({ id, aliases })],
      pools: [{ ...pool, models: [id] }],
      regions: [EU],
      agents: await agentsOf(world),
    });

  it("that a region of its pool reports is placed", async () => {
    assert.deepEqual(faultsIn(await look(await withReports([aReport("frankfurt")]))), []);
  });
  it("is found by its alias, and by the name of an adapter", async () => {
    const id = ModelId.parse("our-llama");
    const byAlias = await withReports([
      aReport("frankfurt", { models: [aModelReport("frankfurt", { aliases: ["x"] })] }),
    ]);
    const byAdapter = await withReports([
      aReport("frankfurt", { models: [aModelReport("frankfurt", { adapters: ["our-llama"] })] }),
    ]);
    assert.deepEqual(faultsIn(await look(byAlias, ["x"], id)), []);
    assert.deepEqual(faultsIn(await look(byAdapter, [], id)), []);
  });
  it("that no region reports, or only as down, cannot be served", async () => {
    const other = await withReports([aReport("frankfurt")]);
    assert.deepEqual(faultsIn(await look(other, [], ModelId.parse("qwen"))), ["problem model-unplaced"]);
    const down = await withReports([aReport("frankfurt", { models: [aModelReport("frankfurt", { state: "down" })] })]);
    const findings = await look(down);
    assert.deepEqual(faultsIn(findings), ["problem model-unplaced"]);
    assert.match(saying(findings), /^No region has llama-70b: pool \S+ cannot serve it\.$/);
  });
  it("that a region outside its pool has cannot be served by that pool", async () => {
    const findings = placementFindings({
      models: [aModel()],
      pools: [{ ...pool, models: [MODEL], regions: [RegionId.parse("paris")] }],
      regions: [EU, RegionId.parse("paris")],
      agents: await agentsOf(await withReports([aReport("frankfurt")])),
    });
    assert.deepEqual(faultsIn(findings), ["warning region-unused", "problem model-unplaced"]);
    assert.match(saying(findings), /Only frankfurt has llama-70b/);
  });
  it("is not looked for where nobody reports, or the store is away", async () => {
    assert.deepEqual(faultsIn(await look(await withReports([]))), ["unknown models"]);
    const away = placementFindings({ models: [aModel()], pools: [pool], regions: [EU], agents: "the store is away" });
    assert.deepEqual(faultsIn(away), ["unknown models"]);
    assert.match(saying(away), /the store is away/);
  });
});
