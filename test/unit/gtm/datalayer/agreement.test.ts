/** Whether GTMs answer alike, and whether it is told when they do not. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createAgreement } from "#gtm/datalayer/agreement.ts";
import { compare } from "#gtm/datalayer/agreement-compare.ts";
import { createDegradations } from "#gtm/datalayer/degradations.ts";
import { canonicalAnswers, MOST_QUESTIONS } from "#gtm/steering/canonical.ts";
import { DEFAULT_POLICY } from "#gtm/steering/policy.ts";
import { InstanceId, RegionId } from "#shared/ids.ts";
import { createMetrics } from "#shared/metrics.ts";
import type { InstanceSays, SentRecord } from "#shared/records.ts";
import { aPool, aRegion, aWorld, regionId } from "#test/support/builders.ts";
import { createManualClock } from "#test/support/manual-clock.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { recordingLog } from "#test/support/recording-log.ts";

const B = InstanceId.parse("b");
const REGIONS = [aRegion("frankfurt"), aRegion("paris", { placement: { backlogMs: 400 } })];
const QUESTION = "chat from frankfurt";
const says = (wish: Partial<InstanceSays> = {}): InstanceSays => ({
  config: { pools: "1" },
  ordersRev: 3,
  areAgesFrozen: false,
  reports: [["frankfurt/a1", "b1", 7]],
  answers: [[QUESTION, regionId("frankfurt")]],
  ...wish,
});
const record = (said: InstanceSays): SentRecord => ({
  ...{ v: 1, sends: [], live: [], cells: [] },
  ...{ boot: "boot-b", version: "1.0.0", says: said },
});

const setUp = ({ config = { pools: "1" } }: { readonly config?: Readonly<Record<string, string>> } = {}) => {
  const [clock, log, metrics] = [createManualClock(), recordingLog(), createMetrics()];
  const degradations = createDegradations({ clock, log, metrics });
  const agreement = createAgreement({
    ...{ clock, log, metrics, degradations, boot: "boot-a", version: "1.0.0", instance: InstanceId.parse("a") },
    config,
    ordersRev: () => 3,
    answers: () => [{ question: QUESTION, region: regionId("frankfurt") }],
  });
  const look = (): void => agreement.look(aWorld(REGIONS), []);
  /** As they do five times a second. */
  const pass = (ms: number, said: InstanceSays): void => {
    for (let passed = 0; passed < ms; passed += 200) {
      clock.advance(200);
      agreement.hear(B, record(said), 0);
      look();
    }
  };
  const counted = (name: string) => metricValue(metrics, name, { instance: "b" });
  return { clock, log, metrics, degradations, agreement, look, pass, counted };
};
const unheard = { reports: [] };

describe("another GTM", () => {
  it("that answers the same is seen, and nothing is wrong", async () => {
    const { pass, agreement, metrics, degradations, counted } = setUp();
    pass(5_000, says(unheard));
    assert.deepEqual(agreement.others()[0]?.disagreements, []);
    assert.equal(await metricValue(metrics, "gtm_instances"), 2);
    assert.equal(await counted("gtm_instance_disagreements"), 0);
    assert.deepEqual(degradations.current(), []);
  });
  it("that answers otherwise disagrees after 2 s, with both answers, and no longer once it answers the same", async () => {
    const { pass, agreement, degradations, counted } = setUp();
    const otherwise = says({ ...unheard, answers: [[QUESTION, regionId("paris")]] });
    pass(2_000, otherwise);
    assert.deepEqual(agreement.others()[0]?.disagreements, []);
    pass(1_400, otherwise);
    const [first] = agreement.others()[0]?.disagreements ?? [];
    assert.deepEqual([first?.question, first?.here, first?.there], [QUESTION, "frankfurt", "paris"]);
    assert.equal(await counted("gtm_instance_disagreements"), 1);
    assert.match(
      degradations
        .current()
        .map(({ reason }) => reason)
        .join(),
      /^b answers 1 of the questions/,
    );
    pass(1_000, says(unheard));
    assert.equal(await counted("gtm_instance_disagreements"), 0);
    assert.deepEqual(degradations.current(), []);
  });
  it("that is configured otherwise is told of by part, and its answers are not compared", async () => {
    const { pass, agreement, degradations, counted } = setUp();
    pass(5_000, says({ ...unheard, config: { pools: "2", zone: "1" }, answers: [[QUESTION, null]] }));
    assert.deepEqual(agreement.others()[0]?.configDiffers, ["pools", "zone"]);
    assert.deepEqual(agreement.others()[0]?.disagreements, []);
    assert.equal(await counted("gtm_instance_config_differs"), 2);
    assert.match(degradations.current()[0]?.reason ?? "", /b is configured otherwise: pools, zone/);
  });
  it("that has other safety rules is told of, and is compared: they decide nothing", async () => {
    const config = { pools: "1", safety: "1" };
    const { pass, agreement, degradations } = setUp({ config });
    const otherwise = says({
      ...unheard,
      config: { pools: "1", safety: "2" },
      answers: [[QUESTION, regionId("paris")]],
    });
    pass(2_000, otherwise);
    pass(1_400, otherwise);
    assert.deepEqual(agreement.others()[0]?.configDiffers, ["safety"]);
    assert.equal(agreement.others()[0]?.disagreements.length, 1);
    assert.match(
      degradations
        .current()
        .map(({ reason }) => reason)
        .join(),
      /b is configured otherwise: safety/,
    );
  });
  it("that does not say its safety rules is of an earlier version, and is not told of", () => {
    const { pass, agreement } = setUp({ config: { pools: "1", safety: "1" } });
    pass(2_000, says({ ...unheard, config: { pools: "1" } }));
    assert.deepEqual(agreement.others()[0]?.configDiffers, []);
  });
  it("that falls silent is gone after 5 s, with its series", async () => {
    const { pass, agreement, metrics, clock, look } = setUp();
    pass(1_000, says(unheard));
    clock.advance(5_001);
    look();
    assert.deepEqual(agreement.others(), []);
    assert.equal(await metricValue(metrics, "gtm_instances"), 1);
    assert.doesNotMatch(await metrics.text(), /gtm_instance_disagreements\{instance="b"\}/);
  });
});

describe("two processes of one name", () => {
  it("are an error of somebody's, told once, and over 5 s after the other has ended", () => {
    const { clock, log, agreement, degradations, look } = setUp();
    const overwritten = (times: number): void => {
      for (let at = 0; at < times; at++) agreement.sawDouble("boot-of-another");
      clock.advance(1_000);
      look();
    };
    overwritten(2);
    assert.deepEqual(degradations.current(), [], "one may end while the other starts");
    overwritten(5);
    overwritten(5);
    assert.match(degradations.current()[0]?.reason ?? "", /another GTM calls itself a/);
    assert.equal(log.lines.filter(({ level, event }) => level === "error" && event === "instance.double").length, 1);
    clock.advance(5_001);
    look();
    assert.deepEqual(degradations.current(), []);
  });
  it("are not seen in our own word, nor in one that does not say whose it is", () => {
    const { clock, agreement, degradations, look } = setUp();
    for (let at = 0; at < 10; at++) for (const boot of ["boot-a", "", null]) agreement.sawDouble(boot);
    clock.advance(1_000);
    look();
    assert.deepEqual(degradations.current(), []);
  });
});

describe("the same state", () => {
  const here = says();
  const cases = {
    "the same reports": [{}, true],
    "two reports later": [{ reports: [["frankfurt/a1", "b1", 9]] }, true],
    "three reports later": [{ reports: [["frankfurt/a1", "b1", 10]] }, false],
    "another boot of the agent": [{ reports: [["frankfurt/a1", "b2", 7]] }, false],
    "an agent more": [{ reports: [...here.reports, ["paris/a1", "b1", 1]] }, false],
    "an order more": [{ ordersRev: 4 }, false],
    "ages that stand still": [{ areAgesFrozen: true }, false],
    "another configuration": [{ config: { pools: "2" } }, false],
  } as const;
  for (const [what, [wish, expected]] of Object.entries(cases)) {
    it(`${expected ? "is" : "is not"} ${what}`, () => {
      const there = says({ ...(wish as Partial<InstanceSays>), answers: [[QUESTION, RegionId.parse("paris")]] });
      const found = compare(here, there);
      assert.equal(found.isSameState, expected);
      assert.equal(found.differences.length, expected ? 1 : 0);
    });
  }
});

describe("the questions", () => {
  it("are each pool from each region's place, and answered as a new conversation there would be", () => {
    const answers = canonicalAnswers([aPool(REGIONS)], aWorld(REGIONS), DEFAULT_POLICY);
    assert.equal(answers.length, 2);
    for (const { region } of answers) assert.equal(region, "frankfurt");
  });
  it("are answered alike by whoever has the same world, whatever the order of its regions", () => {
    const [one, other] = [REGIONS, REGIONS.toReversed()].map((regions) =>
      canonicalAnswers([aPool(REGIONS)], aWorld(regions), DEFAULT_POLICY).toSorted((a, b) =>
        a.question < b.question ? -1 : 1,
      ),
    );
    assert.deepEqual(one, other);
  });
  it("are bounded", () => {
    const pools = Array.from({ length: 100 }, () => aPool(REGIONS));
    assert.ok(canonicalAnswers(pools, aWorld(REGIONS), DEFAULT_POLICY).length <= MOST_QUESTIONS);
  });
});
