/** Prefills in chunks beside answers, a memory that answers outgrow, and engines that die. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { prefillMs, speedFromRate } from "#gtm/domain/serving.ts";
import { DEFAULT_ENGINE, type EngineOptions } from "#gtm/simulation/serving/engine-options.ts";
import { createReplica, type Replica } from "#gtm/simulation/serving/replica.ts";
import type { EngineRequest, ServingEvent } from "#gtm/simulation/serving/request.ts";
import { aRequest } from "./requests.ts";

/** 1 ms a token, a step of 101 tokens, 25 ms between the tokens of one answer alone. */
const CHUNKED: EngineOptions = { ...DEFAULT_ENGINE, speed: { linMs: 1, attnMs: 0 }, chunkTokens: 101 };

const near = (value: number | undefined, expected: number): void =>
  assert.ok(value !== undefined && Math.abs(value - expected) < 1e-6, `${value}, not ${expected}`);
const timeOf = (events: readonly ServingEvent[], kind: ServingEvent["kind"], request: EngineRequest) =>
  events.find((event) => event.kind === kind && event.request === request)?.atMs;

describe("a prefill in chunks", () => {
  it("takes as long alone as one that is whole, attention included", () => {
    const speed = speedFromRate(8_000);
    const replica = createReplica({ ...CHUNKED, speed, chunkTokens: 512 }, 0);
    const request = aRequest({ promptTokens: 30_000 });
    replica.submit(request, 0);
    near(timeOf(replica.advanceTo(100_000), "first-token", request), prefillMs(speed, 30_000, 30_000));
  });

  it("slows the answer beside it from 25 ms to 100.5 ms a token, and is slowed by it from 1 000 ms to 1 005", () => {
    const replica = createReplica(CHUNKED, 0);
    replica.submit(aRequest({ promptTokens: 100, outputTokens: 1_000, conversation: 1 }), 0);
    replica.advanceTo(100 + 4 * 25);
    const request = aRequest({ promptTokens: 1_000, conversation: 2 });
    replica.submit(request, 200);
    assert.ok(Math.abs(replica.backlogMs() - 1_005) < 1e-6);
    assert.ok(Math.abs(replica.waitingMs() - 1_005) < 1e-6);
    const written: number[] = [];
    const look = (): void => replica.eachDecoding((_, outputTokens) => written.push(outputTokens));
    look();
    near(timeOf(replica.advanceTo(1_205), "first-token", request), 1_205);
    look();
    // Ten steps: 100 tokens of the prompt and one of the answer each.
    assert.deepEqual(written, [5, 15]);
  });

  it("makes way for a short one where two share: 100 tokens end after 200 ms, 1 000 after 1 100", () => {
    const replica = createReplica({ ...CHUNKED, prefillsAtOnce: 2 }, 0);
    const [long, short] = [1_000, 100].map((promptTokens, conversation) => aRequest({ promptTokens, conversation }));
    assert.ok(long !== undefined && short !== undefined);
    replica.submit(long, 0);
    replica.submit(short, 0);
    assert.ok(Math.abs(replica.backlogMs() - 1_100) < 1e-6, "what is here ends then");
    const events = replica.advanceTo(5_000);
    near(timeOf(events, "first-token", short), 200);
    near(timeOf(events, "first-token", long), 1_100);
  });

  it("leaves whole blocks in the cache when its client goes away", () => {
    const replica = createReplica(CHUNKED, 0);
    const request = aRequest({ promptTokens: 1_000 });
    replica.submit(request, 0);
    replica.abort(request.id, 500);
    assert.equal(replica.cachedTokens(request), 496);
    assert.deepEqual(replica.work(), { allTokens: 500, recomputedTokens: 0, abandonedTokens: 500, preemptions: 0 });
  });
});

describe("two answers that outgrow a memory of 1 600 tokens together", () => {
  const served = () => {
    const replica = createReplica({ ...CHUNKED, admission: "prompt", kvTokens: 1_600 }, 0);
    const first = aRequest({ promptTokens: 800, outputTokens: 400, conversation: 1 });
    const second = aRequest({ promptTokens: 700, outputTokens: 300, conversation: 2 });
    replica.submit(first, 0);
    replica.submit(second, 0);
    return { replica, first, second };
  };

  it("are both begun, and the younger makes room, is computed again, and ends whole", () => {
    const { replica, first, second } = served();
    const events = replica.advanceTo(100_000);
    const { preemptions, recomputedTokens } = replica.work();
    assert.equal(preemptions, 1);
    assert.ok(recomputedTokens > 0 && recomputedTokens < 1_000, `${recomputedTokens}`);
    for (const request of [first, second]) {
      const ofIt = events.filter((event) => event.request === request).map(({ kind }) => kind);
      assert.deepEqual(ofIt, ["prefill-started", "first-token", "finished"]);
    }
    const [ended, again] = [first, second].map((request) => timeOf(events, "finished", request) ?? 0);
    assert.ok((again ?? 0) > (ended ?? 0));
    assert.deepEqual([replica.state().decoded.outputTokens, replica.state().kvUsedFraction], [700, 0]);
  });

  it("have the same backlog behind them whether or not somebody asked before", () => {
    const asked = served().replica;
    const backlogs: number[] = [];
    for (let atMs = 1_000; atMs <= 30_000; atMs += 1_000) {
      const unasked = served().replica;
      for (const replica of [asked, unasked]) replica.advanceTo(atMs);
      const backlogMs = unasked.backlogMs();
      near(asked.backlogMs(), backlogMs);
      backlogs.push(backlogMs);
    }
    assert.ok(Math.max(...backlogs.slice(2)) > 1_000, "the one that made room waits, after all had begun");
  });

  it("wait for each other where room for whole answers is asked for", () => {
    const replica = createReplica({ ...CHUNKED, kvTokens: 1_600 }, 0);
    const first = aRequest({ promptTokens: 800, outputTokens: 400, conversation: 1 });
    const second = aRequest({ promptTokens: 700, outputTokens: 300, conversation: 2 });
    replica.submit(first, 0);
    replica.submit(second, 0);
    const events = replica.advanceTo(100_000);
    assert.equal(timeOf(events, "prefill-started", second), timeOf(events, "finished", first));
    assert.equal(replica.work().preemptions, 0);
  });
});

describe("a replica that dies", () => {
  const dying = (): { replica: Replica; requests: readonly EngineRequest[] } => {
    const replica = createReplica({ ...CHUNKED, coldStartMs: 5_000 }, -5_000);
    const lengths = [100, 2_000, 300];
    const requests = lengths.map((promptTokens, conversation) =>
      aRequest({ promptTokens, conversation, outputTokens: 500 }),
    );
    for (const request of requests) replica.submit(request, 0);
    replica.advanceTo(200);
    return { replica, requests };
  };

  it("names what it was writing, computing and keeping waiting", () => {
    const { replica, requests } = dying();
    const lost = replica.fail(1_105);
    assert.deepEqual(
      lost.map(({ request }) => requests.indexOf(request)),
      [0, 1, 2],
    );
    // Ten steps of 100.5 ms since its first token.
    assert.deepEqual(
      lost.map(({ cachedTokens, computedTokens, outputTokens }) => [cachedTokens, computedTokens, outputTokens]),
      [
        [0, 100, 11],
        [0, 1_000, 0],
        [0, 0, 0],
      ],
    );
    assert.throws(() => replica.submit(aRequest({ promptTokens: 10 }), 1_200), /has failed/);
    assert.deepEqual(
      [replica.nextEventAtMs(), replica.waitingMs(), replica.backlogMs()],
      [Infinity, Infinity, Infinity],
    );
  });

  it("begins anew with an empty cache, after its cold start", () => {
    const { replica, requests } = dying();
    const [request] = requests;
    assert.ok(request !== undefined);
    replica.fail(1_105);
    replica.restart(10_000);
    assert.equal(replica.cachedTokens(request), 0);
    replica.submit(request, 10_000);
    assert.equal(timeOf(replica.advanceTo(20_000), "first-token", request), 15_100);
    assert.equal(replica.state().counters.firstTokens, 2, "counts go on");
  });
});
