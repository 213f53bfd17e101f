/** Replicas: how fast they are, and how long they queue now. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { HeardReport } from "#gtm/domain/heard-report.ts";
import type { World } from "#gtm/domain/world.ts";
import type { WorldInputs } from "#gtm/domain/world-assembly.ts";
import type { ModelReport, ReplicaReport } from "#shared/report.ts";
import { MODEL, NOW_MS, regionId, replicaId } from "#test/support/builders.ts";
import {
  aModelReport,
  aReplicaReport,
  aReport,
  aSite,
  heard,
  placementIn,
  worldOf,
} from "#test/support/report-builders.ts";

const FRANKFURT = regionId("frankfurt");

/** Frankfurt alone, with one model report and perhaps other circumstances. */
const frankfurt = (model: Partial<ModelReport>, inputs: Partial<WorldInputs> = {}, how: Partial<HeardReport> = {}) =>
  worldOf([heard(aReport("frankfurt", { models: [aModelReport("frankfurt", model)] }), how)], inputs);
const replicas = (...wishes: Partial<ReplicaReport>[]): ReplicaReport[] =>
  wishes.map((wish, at) => aReplicaReport("frankfurt", at, wish));
const backlogs = (world: World): readonly number[] => placementIn(world).replicas.map(({ backlogMs }) => backlogMs);

describe("a replica's prefill speed", () => {
  const slow = heard(aReport("paris", { models: [aModelReport("paris", { prefillTokensPerSecond: 4_000 })] }));
  const quick = heard(aReport("virginia", { models: [aModelReport("virginia", { prefillTokensPerSecond: 8_000 })] }));
  const unknown = (model: Partial<ModelReport> = {}) =>
    heard(aReport("frankfurt", { models: [aModelReport("frankfurt", { prefillTokensPerSecond: null, ...model })] }));

  it("is what the replica's own line says, its attention term included", () => {
    const world = frankfurt({ replicas: replicas({ prefillLinMs: 0.1, prefillAttnMs: 2e-6 }) });
    assert.deepEqual(placementIn(world).replicas[0]?.speed, { linMs: 0.1, attnMs: 2e-6 });
  });
  it("is the model's reported rate where the replica's is missing", () => {
    assert.equal(placementIn(frankfurt({})).replicas[0]?.speed.linMs, 0.2);
    assert.equal(placementIn(frankfurt({})).prefillConfidence, 1);
  });
  it("is the median of the other regions where the region knows none, of two the slower, and then a guess", () => {
    const placement = placementIn(worldOf([unknown(), slow, quick]));
    assert.equal(placement.replicas[0]?.speed.linMs, 0.25);
    const liar = heard(
      aReport("singapore", {
        models: [
          aModelReport("singapore", {
            replicas: Array.from({ length: 9 }, (_, at) => aReplicaReport("singapore", at, { prefillLinMs: 900 })),
          }),
        ],
      }),
    );
    const sites = ["frankfurt", "paris", "virginia", "singapore"].map((name) => aSite(name));
    const beside = placementIn(worldOf([unknown(), slow, quick, liar], { sites }));
    assert.equal(beside.replicas[0]?.speed.linMs, 0.25);
    assert.equal(placement.prefillConfidence, 0);
    assert.equal(placement.prefillTokensPerSecond, null);
  });
  it("is 5 000 tokens/s with confidence 0 where nobody has measured", () => {
    const placement = placementIn(worldOf([unknown()]));
    assert.equal(placement.replicas[0]?.speed.linMs, 0.2);
    assert.equal(placement.prefillConfidence, 0);
  });
  it("is borrowed for a region that would have to load the model first", () => {
    const placement = placementIn(worldOf([unknown({ state: "on-disk", replicas: [] }), slow]));
    assert.equal(placement.speedWithoutReplicas.linMs, 0.25);
    assert.deepEqual(placement.replicas, []);
  });
  it("is not trusted where the agent does not say how sure it is", () => {
    assert.equal(placementIn(frankfurt({ prefillConfidence: null })).prefillConfidence, 0);
  });
});

describe("backlogs, played forward", () => {
  const twoSecondsAgo = { ageWhenHeardMs: 2_000 };

  it("drain from the moment the report was made", () => {
    const world = frankfurt({ replicas: replicas({ backlogMs: 5_000 }, { backlogMs: 1_000 }) }, {}, twoSecondsAgo);
    assert.deepEqual(backlogs(world), [3_000, 0]);
    assert.equal(placementIn(world).isBacklogKnown, true);
  });
  it("drain on while ages are frozen: engines do not wait for us", () => {
    const freezes = [{ fromMs: NOW_MS - 2_000, toMs: null }];
    assert.deepEqual(
      backlogs(frankfurt({ replicas: replicas({ backlogMs: 5_000 }) }, { freezes }, twoSecondsAgo)),
      [3_000],
    );
  });
  it("are told by what waits where a queue has not moved for so long that none is known: it is not empty", () => {
    const stuck = { requestsWaiting: 10, replicas: replicas({ backlogMs: null }, { backlogMs: null }) };
    // Five prompts each of 4 096 tokens at 5 000 tokens/s and the attention that goes with it, half a second ago.
    const [first = 0, second = 0] = backlogs(frankfurt(stuck));
    assert.ok(first > 5 * 819 - 1_000 && first < 5 * 850, `${first} ms`);
    assert.equal(second, first);
    assert.deepEqual(backlogs(frankfurt({ ...stuck, requestsWaiting: 0 })), [0, 0]);
    assert.deepEqual(backlogs(frankfurt({ ...stuck, requestsWaiting: null })), [0, 0]);
  });
  it("are the mean of the known ones where one is not, and said to be unknown", () => {
    const world = frankfurt({ replicas: replicas({ backlogMs: 1_000 }, { backlogMs: 2_000 }, { backlogMs: null }) });
    assert.deepEqual(backlogs(world), [1_000, 2_000, 1_500]);
    assert.equal(placementIn(world).isBacklogKnown, false);
  });
  it("are 0 where none is known", () => {
    const world = frankfurt({ replicas: replicas({ backlogMs: null }, { backlogMs: null }) });
    assert.deepEqual(backlogs(world), [0, 0]);
    assert.equal(placementIn(world).isBacklogKnown, false);
  });

  const send = (arrivalAtMs: number, workMs: number, at: number | null = null) => ({
    region: FRANKFURT,
    model: MODEL,
    send: { replica: at === null ? null : replicaId("frankfurt", at), arrivalAtMs, workMs },
  });
  it("grow by a send that arrived after the report, at its holder, less what has drained since", () => {
    const world = frankfurt({ replicas: replicas({}, {}) }, { sends: [send(NOW_MS - 500, 800, 1)] }, twoSecondsAgo);
    assert.deepEqual(backlogs(world), [0, 300]);
  });
  it("do not count a send that the report has seen", () => {
    const world = frankfurt({ replicas: replicas({}) }, { sends: [send(NOW_MS - 2_000, 8_000)] }, twoSecondsAgo);
    assert.deepEqual(backlogs(world), [0]);
  });
  it("leave a send that has not arrived in the world's list", () => {
    const coming = send(NOW_MS + 50, 800);
    const world = frankfurt({ replicas: replicas({}) }, { sends: [coming, send(NOW_MS + 90, 5)] }, twoSecondsAgo);
    assert.deepEqual(backlogs(world), [0]);
    assert.equal(world.sends?.send.arrivalAtMs, NOW_MS + 90);
    assert.deepEqual(world.sends?.earlier, { ...coming, earlier: null });
  });
  it("do not count a send twice where one agent's report is older than the other's", () => {
    const agent = (name: string, at: number, backlogMs: number, ageWhenHeardMs: number) =>
      heard(
        aReport("frankfurt", {
          agentName: name,
          models: [aModelReport("frankfurt", { replicas: [aReplicaReport("frankfurt", at, { backlogMs })] })],
        }),
        { ageWhenHeardMs },
      );
    // It went to replica 1, which was idle, and replica 1's newer report already holds it.
    const world = worldOf([agent("a1", 0, 6_000, 2_000), agent("a2", 1, 900, 500)], {
      sends: [send(NOW_MS - 1_000, 1_400, 1)],
    });
    assert.deepEqual(backlogs(world), [4_000, 400]);
  });
});
