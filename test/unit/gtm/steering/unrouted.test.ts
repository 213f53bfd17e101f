/** Where nobody in a region looks at its replicas, a turn waits as long as they do on average. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Placement } from "#gtm/domain/placement.ts";
import { aRegion, aReplica, decideIn } from "#test/support/builders.ts";

const BACKLOGS_MS = [0, 3_000];
const priced = (
  site: { readonly hasAffinity: boolean; readonly hasGateway: boolean },
  learnt: Pick<Partial<Placement>, "heldCorrection" | "isHeldCorrectionLearnt"> = {},
) => {
  const replicas = BACKLOGS_MS.map((backlogMs, at) => aReplica("frankfurt", at, { backlogMs }));
  const { considered } = decideIn({
    regions: [aRegion("frankfurt", { ...site, placement: { replicas, ...learnt } })],
    query: { promptTokens: 8_200 },
  });
  const [only] = considered;
  assert.ok(only?.kind === "candidate");
  return { queueMs: Math.round(only.cost.queueMs), replica: only.plan.replica };
};

describe("a region with one idle replica and one that is busy for 3 s", () => {
  it("serves at once where a router or a gateway chooses", () => {
    for (const site of [
      { hasAffinity: true, hasGateway: false },
      { hasAffinity: false, hasGateway: true },
    ]) {
      const { queueMs, replica } = priced(site);
      assert.deepEqual([queueMs, replica], [0, aReplica("frankfurt", 0).id]);
    }
  });
  it("is taken to wait for 1.5 s, on no replica that is known, where turns come to any of them", () => {
    const { queueMs, replica } = priced({ hasAffinity: false, hasGateway: false });
    assert.equal(replica, null);
    // Less what drains while the turn travels.
    assert.ok(queueMs > 1_300 && queueMs <= 1_500, `${queueMs}`);
  });
  it("is believed to have a router that keeps conversations until turns have shown that it keeps less than half", () => {
    const said = { hasAffinity: true, hasGateway: false };
    const replicaAt = (heldCorrection: number, isHeldCorrectionLearnt = true) =>
      priced(said, { heldCorrection, isHeldCorrectionLearnt }).replica;
    assert.deepEqual([replicaAt(0.3), replicaAt(0.49)], [null, null]);
    assert.ok(replicaAt(0.5) !== null);
    assert.ok(replicaAt(0.3, false) !== null, "nothing has been seen yet");
    const gateway = { hasAffinity: true, hasGateway: true };
    assert.ok(priced(gateway, { heldCorrection: 0.3, isHeldCorrectionLearnt: true }).replica !== null);
  });
});
