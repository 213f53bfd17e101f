/** Nothing is computed for nobody: every prompt token is cached, computed or lost once, whatever happens to its request. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { EngineOptions } from "#gtm/simulation/serving/engine-options.ts";
import type { LostRequest } from "#gtm/simulation/serving/loss.ts";
import { createReplica } from "#gtm/simulation/serving/replica.ts";
import type { ServingEvent } from "#gtm/simulation/serving/request.ts";
import { ask, ENGINES, requestOf } from "#test/support/serving-asks.ts";

const act = fc.oneof(
  { weight: 8, arbitrary: ask.map((one) => ({ kind: "ask" as const, ...one })) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("abort" as const), which: fc.nat(20), gapMs: fc.nat(900) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("fail" as const), gapMs: fc.nat(900), awayMs: fc.nat(900) }) },
);
const acts = fc.array(act, { minLength: 1, maxLength: 40 });
type Act = typeof act extends fc.Arbitrary<infer A> ? A : never;

const play = (options: EngineOptions, list: readonly Act[]) => {
  const replica = createReplica(options, 0);
  const lost: LostRequest[] = [];
  let asked = 0;
  let atMs = 0;
  for (const one of list) {
    atMs += one.gapMs;
    if (one.kind === "ask") {
      replica.submit(requestOf(asked, one), atMs);
      asked += 1;
    } else if (one.kind === "abort") {
      replica.abort(one.which % Math.max(1, asked), atMs);
    } else {
      lost.push(...replica.fail(atMs));
      assert.equal(replica.nextEventAtMs(), Number.POSITIVE_INFINITY);
      atMs += one.awayMs;
      replica.restart(atMs);
    }
  }
  const events = replica.advanceTo(1e9);
  return { replica, lost, asked, events };
};

for (const [kind, options] of ENGINES) {
  describe(`a replica with ${kind}, of whose requests some are aborted and some die with it`, () => {
    it("ends each request once, and finds or computes each token of its prompt once", () => {
      fc.assert(
        fc.property(acts, (list) => {
          const { lost, asked, events } = play(options, list);
          const ended = events.filter((event) => event.kind === "finished");
          const ids = [...ended, ...lost].map(({ request }) => request.id);
          assert.deepEqual(
            ids.toSorted((a, b) => a - b),
            Array.from({ length: asked }, (_, id) => id),
          );
          for (const { request, firstTokenAtMs, cachedTokens, computedTokens } of [...ended, ...lost]) {
            const found = cachedTokens + computedTokens;
            if (firstTokenAtMs === null) assert.ok(found <= request.promptTokens);
            else assert.equal(found, request.promptTokens);
          }
        }),
        { numRuns: 60 },
      );
    });

    it("computes no token but for a first token, again after a preemption, or for a request that went away", () => {
      fc.assert(
        fc.property(acts, (list) => {
          const { replica, events } = play(options, list);
          const { allTokens, recomputedTokens, abandonedTokens } = replica.work();
          const first = events.filter((event: ServingEvent) => event.kind === "first-token");
          const computed = first.reduce((sum, { computedTokens }) => sum + computedTokens, 0);
          assert.equal(computed, replica.state().counters.computedTokens);
          const named = computed + recomputedTokens + abandonedTokens;
          assert.ok(Math.abs(allTokens - named) < 1e-6 * (1 + allTokens), `${allTokens} computed, ${named} named`);
          if (options.admission === "whole") assert.equal(recomputedTokens, 0);
        }),
        { numRuns: 60 },
      );
    });
  });
}
