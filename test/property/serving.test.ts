/** Laws of the engine model, whatever is asked of it. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { prefillMs } from "#gtm/domain/serving.ts";
import { BLOCK_TOKENS } from "#gtm/simulation/serving/block-hash.ts";
import type { EngineOptions } from "#gtm/simulation/serving/engine-options.ts";
import { createReplica } from "#gtm/simulation/serving/replica.ts";
import type { ServingEvent } from "#gtm/simulation/serving/request.ts";
import { createServingRegion } from "#gtm/simulation/serving/serving-region.ts";
import { type Ask, asks, ENGINES, requestOf, SHARED_BLOCKS, WHOLE } from "#test/support/serving-asks.ts";

const FOREVER_MS = 1e9;
const RUNS = { numRuns: 60 };
type Each = (replica: ReturnType<typeof createReplica>) => void;
const play = (options: EngineOptions, list: readonly Ask[], each: Each = () => {}) => {
  const replica = createReplica(options, 0);
  const events: ServingEvent[] = [];
  let atMs = 0;
  for (const [id, one] of list.entries()) {
    atMs += one.gapMs;
    replica.submit(requestOf(id, one), atMs);
    events.push(...replica.advanceTo(atMs));
    each(replica);
  }
  while (replica.nextEventAtMs() < FOREVER_MS) {
    events.push(...replica.advanceTo(replica.nextEventAtMs()));
    each(replica);
  }
  return { replica, events };
};

for (const [kind, options] of ENGINES)
  describe(`a replica with ${kind}`, () => {
    it("accounts for every prompt token once: cached or computed", () => {
      fc.assert(
        fc.property(asks, (list) => {
          const { replica, events } = play(options, list);
          const finished = events.filter((event) => event.kind === "finished");
          assert.equal(finished.length, list.length, "every request ends");
          for (const { request, cachedTokens, computedTokens, outputTokens } of finished) {
            assert.equal(cachedTokens + computedTokens, request.promptTokens);
            assert.ok(computedTokens >= 1);
            assert.equal(outputTokens, request.outputTokens);
          }
          const { counters, decoded } = replica.state();
          const sum = (pick: (one: Ask) => number) => list.reduce((total, one) => total + pick(one), 0);
          assert.equal(counters.cachedTokens + counters.computedTokens, counters.promptTokens);
          assert.equal(
            counters.promptTokens,
            sum((one) => one.promptTokens),
          );
          assert.equal(
            decoded.outputTokens,
            sum((one) => one.outputTokens),
          );
          assert.equal(
            decoded.gaps,
            sum((one) => one.outputTokens - 1),
          );
        }),
        RUNS,
      );
    });

    it("never uses more KV memory than it has, nor more slots", () => {
      fc.assert(
        fc.property(asks, (list) => {
          const { replica } = play(options, list, (now) => {
            const { kvUsedFraction, running } = now.state();
            assert.ok(kvUsedFraction >= 0 && kvUsedFraction <= 1, `${kvUsedFraction}`);
            assert.ok(running <= options.maxRunning);
          });
          assert.equal(replica.state().kvUsedFraction, 0, "nothing stays pinned");
        }),
        RUNS,
      );
    });

    it("does the same however time is cut into steps", () => {
      fc.assert(
        fc.property(asks, fc.integer({ min: 1, max: 5_000 }), (list, stepMs) => {
          const run = (isStepwise: boolean): readonly ServingEvent[] => {
            const replica = createReplica(options, 0);
            const events: ServingEvent[] = [];
            let atMs = 0;
            for (const [id, one] of list.entries()) {
              const nextMs = atMs + one.gapMs;
              for (; isStepwise && atMs < nextMs; atMs += stepMs) events.push(...replica.advanceTo(atMs));
              atMs = nextMs;
              replica.submit(requestOf(id, one), atMs);
            }
            return [...events, ...replica.advanceTo(FOREVER_MS)];
          };
          const whole = run(false);
          const stepped = run(true);
          assert.equal(stepped.length, whole.length);
          for (const event of whole) {
            const twin = stepped.find(({ kind, request }) => kind === event.kind && request.id === event.request.id);
            assert.ok(twin !== undefined && Math.abs(twin.atMs - event.atMs) < 1e-3);
            assert.equal(twin.cachedTokens, event.cachedTokens);
          }
        }),
        RUNS,
      );
    });

    // A newcomer shares at once; what `backlogMs` names there, a unit test shows.
    if (options.prefillsAtOnce > 1) return;

    it("names as backlog exactly the wait that a probe then has", () => {
      fc.assert(
        fc.property(asks, fc.integer({ min: 0, max: 2_000 }), fc.boolean(), (list, laterMs, isAskedEarly) => {
          const replica = createReplica(options, 0);
          let atMs = 0;
          for (const [id, one] of list.entries()) {
            atMs += one.gapMs;
            replica.submit(requestOf(id, one), atMs);
            if (isAskedEarly) replica.backlogMs();
          }
          atMs += laterMs;
          replica.advanceTo(atMs);
          const backlogMs = replica.backlogMs();
          const probe = requestOf(list.length, { conversation: 9, promptTokens: 1, outputTokens: 1 });
          replica.submit(probe, atMs);
          const started = replica
            .advanceTo(FOREVER_MS)
            .find((event) => event.kind === "prefill-started" && event.request === probe);
          assert.ok(started !== undefined);
          assert.ok(Math.abs(started.atMs - atMs - backlogMs) < 1e-3, `${started.atMs - atMs} ≠ ${backlogMs}`);
        }),
        RUNS,
      );
    });

    it("also after requests were aborted", () => {
      fc.assert(
        fc.property(asks, fc.array(fc.nat(29), { minLength: 1, maxLength: 8 }), (list, gone) => {
          const replica = createReplica(options, 0);
          let atMs = 0;
          for (const [id, one] of list.entries()) {
            atMs += one.gapMs;
            replica.submit(requestOf(id, one), atMs);
            replica.backlogMs();
          }
          for (const id of gone) replica.abort(id, atMs);
          const backlogMs = replica.backlogMs();
          const probe = requestOf(99, { conversation: 9, promptTokens: 1, outputTokens: 1 });
          replica.submit(probe, atMs);
          const events = replica.advanceTo(FOREVER_MS);
          const started = events.find((event) => event.kind === "prefill-started" && event.request === probe);
          assert.ok(started !== undefined);
          assert.ok(Math.abs(started.atMs - atMs - backlogMs) < 1e-3, `${started.atMs - atMs} ≠ ${backlogMs}`);
          const ended = events.filter((event) => event.kind === "finished").length;
          assert.equal(ended, list.length + 1, "every request ends once, aborted or not");
          assert.equal(replica.state().kvUsedFraction, 0);
        }),
        RUNS,
      );
    });
  });

describe("a replica with whole prefills", () => {
  const options = WHOLE;
  it("is never idle while a request could start", () => {
    fc.assert(
      fc.property(asks, (list) => {
        const { events } = play(options, list);
        const starts = events.filter((event) => event.kind === "prefill-started");
        const ends = events.filter((event) => event.kind !== "prefill-started").map((event) => event.atMs);
        let laneFreeAtMs = 0;
        for (const { request, atMs, submittedAtMs, cachedTokens } of starts) {
          // A start follows at once on the request's arrival, on the end of the prefill before it, or on the end of a request that made room.
          const cause = [submittedAtMs, ...ends].some((momentMs) => Math.abs(momentMs - atMs) < 1e-6);
          assert.ok(cause, `${request.id} started at ${atMs} for no reason`);
          assert.ok(atMs >= laneFreeAtMs - 1e-6, "one prefill at a time");
          laneFreeAtMs = atMs + prefillMs(options.speed, request.promptTokens - cachedTokens, request.promptTokens);
          const first = events.find((event) => event.kind === "first-token" && event.request === request);
          assert.ok(
            first !== undefined && Math.abs(first.atMs - laneFreeAtMs) < 1e-6,
            "prefill takes its time, no more",
          );
        }
      }),
    );
  });

  it("serves in the order of arrival", () => {
    fc.assert(
      fc.property(asks, (list) => {
        const starts = play(options, list).events.filter((event) => event.kind === "prefill-started");
        assert.deepEqual(
          starts.map(({ request }) => request.id),
          list.map((_, id) => id),
        );
      }),
    );
  });

  it("finds a conversation's whole context again when nothing had to be evicted", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 2_000 }),
        fc.integer({ min: 1, max: 200 }),
        (promptTokens, outputTokens) => {
          const replica = createReplica({ ...options, kvTokens: 100_000 }, 0);
          replica.submit(requestOf(0, { conversation: 1, promptTokens, outputTokens }), 0);
          replica.submit(requestOf(1, { conversation: 2, promptTokens: 3_000, outputTokens: 1 }), 0);
          const heldTokens = promptTokens + outputTokens - 1;
          replica.advanceTo(60_000);
          const next = requestOf(2, { conversation: 1, promptTokens: heldTokens + 100, outputTokens: 1 });
          replica.submit(next, 60_000);
          const [started] = replica.advanceTo(60_000);
          assert.ok(started?.kind === "prefill-started");
          const shared = SHARED_BLOCKS * BLOCK_TOKENS;
          const whole = Math.floor(heldTokens / BLOCK_TOKENS) * BLOCK_TOKENS;
          assert.equal(
            started.cachedTokens,
            Math.max(whole, Math.min(shared, next.promptTokens - 1 - ((next.promptTokens - 1) % BLOCK_TOKENS))),
          );
        },
      ),
    );
  });
});

describe("a region of several replicas", () => {
  it("yields the same events from the same seed", () => {
    fc.assert(
      fc.property(asks, fc.integer(), (list, seed) => {
        const run = () => {
          const region = createServingRegion({
            replicas: 3,
            engine: WHOLE,
            routing: "affinity",
            seed,
            startedAtMs: 0,
          });
          let atMs = 0;
          for (const [id, one] of list.entries()) {
            atMs += one.gapMs;
            region.submit(requestOf(id, one), atMs, null);
          }
          return region.advanceTo(FOREVER_MS);
        };
        const events = run();
        assert.deepEqual(events, run());
        assert.equal(events.filter(({ event }) => event.kind === "finished").length, list.length);
        const times = events.map(({ event }) => event.atMs);
        assert.deepEqual(
          times,
          times.toSorted((a, b) => a - b),
        );
      }),
      { numRuns: 50 },
    );
  });
});
