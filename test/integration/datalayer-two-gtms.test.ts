/** Two GTMs on one store, in real time: what one does the other knows. */
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { createAgreement } from "#gtm/datalayer/agreement.ts";
import { createCellRegions } from "#gtm/datalayer/cell-regions.ts";
import { createConversationStore } from "#gtm/datalayer/conversation-store.ts";
import { createDegradations } from "#gtm/datalayer/degradations.ts";
import { createOperatorState } from "#gtm/datalayer/operator-state.ts";
import { createStoreFailures } from "#gtm/datalayer/store-failures.ts";
import { createWorldSource, type WorldSource } from "#gtm/datalayer/world-source.ts";
import { canonicalAnswers } from "#gtm/steering/canonical.ts";
import { DEFAULT_POLICY } from "#gtm/steering/policy.ts";
import { systemClock } from "#shared/clock.ts";
import { ConversationId, InstanceId, type RegionId } from "#shared/ids.ts";
import { conversationKey } from "#shared/keys.ts";
import { silentLogger } from "#shared/logger.ts";
import { createMetrics } from "#shared/metrics.ts";
import { ConversationRecord } from "#shared/packed-conversation.ts";
import { createMemoryStore } from "#shared/store-memory.ts";
import { aPool, aRegion, MODEL, regionId } from "#test/support/builders.ts";
import { anEntry } from "#test/support/entry-builders.ts";
import { publishReport } from "#test/support/publish-report.ts";
import { aModel, aReport, aSite, placementIn, regionIn, UNTAUGHT } from "#test/support/report-builders.ts";
import { until } from "#test/support/until.ts";

const NAMES = ["frankfurt", "paris"];
const FRANKFURT = regionId("frankfurt");
const store = createMemoryStore(systemClock);
const running: { readonly stop: () => Promise<void> }[] = [];
after(() => Promise.all(running.map((one) => one.stop())));

const startOne = async (name: string) => {
  const metrics = createMetrics();
  const parts = { store, clock: systemClock, log: silentLogger, metrics };
  const failures = createStoreFailures(parts);
  const cells = createCellRegions(systemClock);
  const degradations = createDegradations(parts);
  const onWiped = (): void => undefined;
  const operators = createOperatorState({ ...parts, failures, degradations, onWiped, onChanged: () => source.touch() });
  const conversations = createConversationStore({
    ...{ ...parts, failures, policy: DEFAULT_POLICY, regions: NAMES.map(regionId), random: Math.random },
    ...{ degradations },
  });
  const pools = [aPool(NAMES.map((site) => aRegion(site)))];
  const agreement = createAgreement({
    ...{
      ...parts,
      degradations,
      boot: name,
      version: "1.0.0",
      instance: InstanceId.parse(name),
      config: { pools: "1" },
    },
    ordersRev: () => operators.current().rev,
    answers: (world) => canonicalAnswers(pools, world, DEFAULT_POLICY),
  });
  const source: WorldSource = createWorldSource({
    ...{ agreement },
    ...{ ...parts, failures, cells, instance: InstanceId.parse(name), policy: DEFAULT_POLICY, models: [aModel()] },
    sites: NAMES.map((site) => aSite(site)),
    ...{ reportKeys: new Map(), degradations, onWiped },
    probes: () => new Map(),
    admin: operators.admin,
    overrides: operators.overrides,
    drains: operators.drains,
    live: conversations.live,
    learning: UNTAUGHT,
  });
  for (const part of [operators, conversations, source]) {
    await part.start();
    running.push(part);
  }
  return { operators, conversations, source, cells, agreement };
};
const backlogMs = (source: WorldSource): number => placementIn(source.world()).replicas[0]?.backlogMs ?? Number.NaN;

describe("two GTMs on one store", async () => {
  await publishReport(store, systemClock, aReport("frankfurt"));
  await publishReport(store, systemClock, aReport("paris"));
  const [a, b] = [await startOne("gtm-a"), await startOne("gtm-b")];

  it("hear the same reports", async () => {
    await publishReport(store, systemClock, aReport("frankfurt", { seq: 2 }));
    for (const { source } of [a, b]) {
      await until(() => regionIn(source.world(), "frankfurt").health === "healthy");
      // A report that came after a turn was sent would have seen it, and the turn would be forgotten.
      const heard = () =>
        source.saved().map(({ report }) => report as { readonly region: string; readonly seq: number });
      await until(() => heard().some(({ region, seq }) => region === FRANKFURT && seq === 2));
    }
  });
  it("count each other's turns in the backlogs", async () => {
    a.source.send(FRANKFURT, MODEL, { replica: null, arrivalAtMs: systemClock.monotonicMs(), workMs: 60_000 });
    await until(() => backlogMs(a.source) > 50_000);
    await until(() => backlogMs(b.source) > 50_000);
    // Each plays the backlog forward to its own latest world, which may be a moment apart.
    await until(() => Math.abs(backlogMs(a.source) - backlogMs(b.source)) < 1_000, "the same backlog at both");
  });
  it("see each other, on the same state and of one mind", async () => {
    for (const [here, there] of [
      [a, "gtm-b"],
      [b, "gtm-a"],
    ] as const) {
      await until(() => here.agreement.others().some(({ id, isSameState }) => id === there && isSameState));
      const [other] = here.agreement.others();
      assert.deepEqual([other?.version, other?.configDiffers, other?.disagreements], ["1.0.0", [], []]);
    }
  });
  it("both forget them with the reports that have seen them", async () => {
    let seq = 3;
    await until(async () => {
      await publishReport(store, systemClock, aReport("frankfurt", { seq: seq++ }));
      return [a, b].every(({ source }) => backlogMs(source) === 0);
    });
  });
  it("follow each other's orders", async () => {
    const order = {
      region: regionId("paris"),
      admin: "drain-all",
      comment: "maintenance",
      actor: "ops",
      expiresAtMs: null,
      schedule: null,
      operation: null,
    } as const;
    await a.operators.order(order);
    await until(() => regionIn(b.source.world(), "paris").admin === "drain-all");
    await b.operators.undo(regionId("paris"), "ops");
    await until(() => regionIn(a.source.world(), "paris").admin === "active");
  });
  it("know where the other sent a cell, and what its conversations keep alive", async () => {
    const entry = anEntry({ query: { kind: "cell", channel: "dns" } });
    a.cells.note(entry);
    await until(() => b.cells.regionOf(entry.decision.turn.hashKey) === "frankfurt");
    a.conversations.commit(turnIn("frankfurt", ConversationId.parse("0000000000000")));
    await until(() => placementIn(b.source.world()).liveTokens === 1_100 * DEFAULT_POLICY.nextTurnFraction);
  });
  it("agree on every conversation that both serve at once, and lose no turn's holding", async () => {
    const ids = Array.from({ length: 20 }, (_, at) => ConversationId.parse(String(at + 1).padStart(13, "0")));
    for (const id of ids) {
      a.conversations.commit(turnIn("frankfurt", id));
      b.conversations.commit(turnIn("frankfurt", id));
    }
    const record = async (id: ConversationId) =>
      ConversationRecord.safeParse(JSON.parse((await store.get(conversationKey(id)))?.value ?? "null")).data;
    for (const id of ids) await until(async () => (await record(id)) !== undefined);
    for (const id of ids) {
      a.conversations.commit(turnIn("frankfurt", id));
      b.conversations.commit(turnIn("paris", id));
      a.conversations.commit(turnIn("frankfurt", id));
    }
    const homeOf = async (one: typeof a, id: ConversationId): Promise<RegionId | undefined> =>
      (await one.conversations.find(id, 1_000))?.holdings[0].region;
    for (const id of ids) {
      await until(async () => {
        const stored = await record(id);
        const home = stored?.h[0]?.[0];
        const isHeldByBoth = stored?.h.length === 2;
        return isHeldByBoth && (await homeOf(a, id)) === home && (await homeOf(b, id)) === home;
      }, `agreement on ${id}`);
    }
  });
});

const turnIn = (region: string, id: ConversationId) => {
  const entry = anEntry({ regions: [aRegion(region)], query: { conversationId: id } });
  return { ...entry, decision: { ...entry.decision, decidedAtMs: systemClock.monotonicMs() } };
};
