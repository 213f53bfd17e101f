/** A learner whose region has no gateway: it knows what it sent there, and what the engines report. */
import { createLearning } from "#gtm/datalayer/learning.ts";
import { DEFAULT_POLICY } from "#gtm/steering/policy.ts";
import { createMetrics } from "#shared/metrics.ts";
import { aConversation, aPool, aRegion, aWorld, NOW_MS } from "#test/support/builders.ts";
import { anEntry } from "#test/support/entry-builders.ts";
import { createManualClock } from "#test/support/manual-clock.ts";

/** Each turn repeats 8 000 of its 10 000 tokens. */
export const aBlindLearner = () => {
  const clock = createManualClock();
  clock.advance(NOW_MS - clock.monotonicMs());
  const regions = [aRegion("frankfurt", { placement: { prefixHitFraction: 0.3, heldCorrection: 0.25 } })];
  const world = aWorld(regions);
  const learning = createLearning({
    ...{ clock, metrics: createMetrics(), sites: regions, policy: DEFAULT_POLICY },
    pools: [aPool(regions).name],
    world: () => world,
  });
  const conversation = aConversation({ home: "frankfurt", contextTokens: 8_000 });
  const entry = anEntry({ regions, conversation, query: { promptTokens: 10_000 } });
  return { clock, learning, sent: () => learning.sent(entry) };
};
