/** Two GTMs on one real Redis hear what a gateway measured, decide by it, and one that begins later knows it too. */
import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { request } from "undici";
import { parseGtmConfig } from "#gtm/config.ts";
import { startGtm } from "#gtm/start.ts";
import type { DecisionView } from "#gtm/steering/decision-view.ts";
import { systemClock } from "#shared/clock.ts";
import { ConversationId } from "#shared/ids.ts";
import { learntKey, turnsChannel } from "#shared/keys.ts";
import { silentLogger } from "#shared/logger.ts";
import { createMetrics } from "#shared/metrics.ts";
import { openStore } from "#shared/store-open.ts";
import { StoreSettings } from "#shared/store-settings.ts";
import { MODEL } from "#test/support/builders.ts";
import { HOUSE_REGIONS, houseYaml } from "#test/support/house.ts";
import { keyFolder } from "#test/support/key-folder.ts";
import { aMeasuredTurn } from "#test/support/measured-turns.ts";
import { publishReport } from "#test/support/publish-report.ts";
import { startRedis } from "#test/support/redis.ts";
import { aModelReport, aReport } from "#test/support/report-builders.ts";
import { until } from "#test/support/until.ts";

const stack = new AsyncDisposableStack();
after(() => stack.disposeAsync());
const redis = stack.use(await startRedis());
const keys = stack.use(keyFolder());
const open = (name: string) => {
  const settings = StoreSettings.parse({ url: redis.url, deadline: "10s" });
  const store = openStore(settings, { clock: systemClock, log: silentLogger, name });
  stack.defer(() => store.close());
  return store;
};
const gateway = open("gateway");

let seq = 0;
const report = async (): Promise<void> => {
  seq += 1;
  for (const { id } of HOUSE_REGIONS) {
    await publishReport(gateway, systemClock, aReport(id, { seq, models: [aModelReport(id)] }));
  }
};

const startOne = async (instance: string) => {
  const house = JSON.parse(houseYaml(() => "http://127.0.3.9:1", { regions: { probe: null } }));
  const settings = {
    ...{ ...house, instance, models: [{ id: MODEL }] },
    pools: [{ name: "chat", models: [MODEL], regions: HOUSE_REGIONS.map(({ id }) => id) }],
    keys: { identity_file: keys.files.identity, signing_file: keys.files.signing },
  };
  const gtm = await startGtm(parseGtmConfig(JSON.stringify(settings), "test", {}), open(instance), {
    ...{ clock: systemClock, log: silentLogger, metrics: createMetrics() },
  });
  const { admin } = gtm.addresses();
  return {
    stop: gtm.stop,
    explain: async (promptTokens: number): Promise<DecisionView> => {
      const answer = await request(`http://${admin.address}:${admin.port}/api/v1/explain`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ pool: "chat", client: "203.0.113.7", prompt_tokens: promptTokens }),
      });
      return (await answer.body.json()) as DecisionView;
    },
  };
};

let batches = 0;
/** Twenty conversations' next turns: of what they left behind nothing is cached any more; answers of 900 tokens. */
const measure = async (): Promise<void> => {
  batches += 1;
  const turns = Array.from({ length: 20 }, (_, at) =>
    aMeasuredTurn({
      ...{ region: "eu-central", model: MODEL, replica: null, clientPrefix: "203.0.113.0/24", rttMs: 70 + batches },
      conversation: ConversationId.parse(at.toString(32).padStart(13, "0")),
      ...{ promptTokens: 5_000, cachedTokens: 0, completionTokens: 900, atAgeMs: 0 },
    }),
  );
  const batch = { v: 1, region: "eu-central", gateway: "gw-1", boot: "b1", seq: batches, turns };
  await gateway.announce(turnsChannel(), JSON.stringify(batch));
};

const planIn = ({ considered }: DecisionView, region: string) => {
  const one = considered.find((each) => each.region === region);
  assert.ok(one !== undefined && "plan" in one, `${region} is a candidate`);
  return one.plan;
};
const isTaught = (view: DecisionView): boolean => {
  const plan = planIn(view, "eu-central");
  return view.expected.outputSource === "learnt" && plan.isHeldCorrectionLearnt && plan.rttSource === "measured";
};

await report();
const [a, b] = [await startOne("gtm-a"), await startOne("gtm-b")];
stack.defer(() => b.stop());

describe("two GTMs that hear a gateway's turns through Redis", () => {
  it("expect the answers, the round trips and the losses that it measured, and not of the other region", async () => {
    for (const one of [a, b]) {
      await until(async () => {
        await report();
        await measure();
        return isTaught(await one.explain(5_000));
      }, "it is taught");
      const view = await one.explain(5_000);
      assert.ok(view.expected.outputTokens > 256 && view.expected.outputTokens <= 900, `${view.expected.outputTokens}`);
      assert.ok(planIn(view, "eu-central").heldCorrection < 1);
      assert.ok(planIn(view, "eu-central").rttMs >= 71);
      assert.equal(planIn(view, "us-east").isHeldCorrectionLearnt, false);
      assert.notEqual(planIn(view, "us-east").rttSource, "measured");
      assert.equal((await one.explain(100)).expected.outputSource, "prior");
    }
  });
  it("leave what they learnt to one that begins when no gateway says anything", async () => {
    await a.stop();
    assert.ok((await gateway.get(learntKey())) !== null);
    await report();
    const late = await startOne("gtm-c");
    stack.defer(() => late.stop());
    await until(async () => {
      await report();
      return (await late.explain(5_000)).expected.outputSource === "learnt";
    }, "it knows");
    assert.equal(planIn(await late.explain(5_000), "eu-central").isHeldCorrectionLearnt, true);
  });
});
