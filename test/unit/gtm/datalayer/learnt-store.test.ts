/** A GTM that begins late knows what the others have learnt. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createLearntStore } from "#gtm/datalayer/learnt-store.ts";
import { createStoreFailures } from "#gtm/datalayer/store-failures.ts";
import { heldCorrectionOf } from "#gtm/domain/held-observed.ts";
import { learntOutputTokens } from "#gtm/domain/learnt.ts";
import { learntKey } from "#shared/keys.ts";
import { silentLogger } from "#shared/logger.ts";
import { createMetrics } from "#shared/metrics.ts";
import { createMemoryStore } from "#shared/store-memory.ts";
import { aPool } from "#test/support/builders.ts";
import { createManualClock } from "#test/support/manual-clock.ts";
import { aLearner, createPlay, heldIn, NAMES, playFor } from "./learning-play.ts";

const POOL = aPool([]).name;

/** GTMs with clocks of their own, on a store with another. */
const setUp = () => {
  const storeClock = createManualClock();
  const store = createMemoryStore(storeClock);
  const gtm = () => {
    const { learning, clock } = aLearner();
    const [log, metrics] = [silentLogger, createMetrics()];
    const part = createLearntStore({ store, clock, learning, failures: createStoreFailures({ log, metrics, clock }) });
    return { learning, clock, part };
  };
  const wordsOf = ({ learning }: ReturnType<typeof gtm>) => ({
    held: NAMES.map((name) => heldCorrectionOf(heldIn(learning, name), 1)),
    summary: learntOutputTokens(learning.learnt(), POOL, 20_000),
    next: learning.learnt().pools.get(POOL)?.nextTurnFraction,
  });
  return { store, storeClock, gtm, wordsOf };
};

describe("a GTM that begins when others have learnt for half an hour", () => {
  it("knows c_r, answers and pNext as they do", async () => {
    const { gtm, wordsOf } = setUp();
    const old = gtm();
    await old.part.start();
    playFor(1_800, old, createPlay(7));
    await old.part.stop();
    const late = gtm();
    await late.part.start();
    const [known, begun] = [wordsOf(old), wordsOf(late)];
    assert.ok(known.summary !== null && known.next != null);
    assert.ok(Math.abs((begun.summary ?? 0) - known.summary) < 1e-6);
    assert.ok(Math.abs((begun.next ?? 0) - known.next) < 1e-6);
    for (const [at, held] of known.held.entries()) assert.ok(Math.abs((begun.held[at] ?? 0) - held) < 1e-6);
    await late.part.stop();
  });
  it("believes it less the older it is", async () => {
    const { gtm, wordsOf, storeClock } = setUp();
    const old = gtm();
    playFor(600, old, createPlay(7));
    await old.part.stop();
    storeClock.advance(3_000_000);
    const late = gtm();
    await late.part.start();
    const [known, begun] = [wordsOf(old).held[2] ?? 0, wordsOf(late).held[2] ?? 0];
    assert.ok(begun > known && begun < 1, `${begun} of ${known}`);
    await late.part.stop();
  });
});

describe("a key that holds anything else", () => {
  for (const value of [
    "{",
    '{"v":2}',
    '{"v":1,"held":[{"region":"paris","model":"m","weight":-1,"sum":0}],"pools":[]}',
  ]) {
    it(`teaches nothing: ${value.slice(0, 40)}`, async () => {
      const { gtm, store, wordsOf } = setUp();
      await store.put(learntKey(), value, null);
      const one = gtm();
      await one.part.start();
      assert.deepEqual(wordsOf(one), { held: [1, 1, 1], summary: null, next: null });
      await one.part.stop();
    });
  }
});
