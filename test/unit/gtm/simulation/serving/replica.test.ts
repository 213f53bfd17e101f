import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { DEFAULT_ENGINE, type EngineOptions } from "#gtm/simulation/serving/engine-options.ts";
import { createReplica } from "#gtm/simulation/serving/replica.ts";
import { aRequest } from "./requests.ts";

/** 1 ms a token and no attention, so that times can be read off the token counts. */
const PLAIN: EngineOptions = { ...DEFAULT_ENGINE, speed: { linMs: 1, attnMs: 0 }, kvTokens: 160_000 };

describe("a replica at 1 ms a token", () => {
  it("tells of a request of 1 000 tokens: prefill at once, first token after 1 000 ms, then 25 ms a token", () => {
    const replica = createReplica(PLAIN, 0);
    const request = aRequest({ promptTokens: 1_000, outputTokens: 5 });
    replica.submit(request, 100);
    assert.deepEqual(replica.advanceTo(5_000), [
      { kind: "prefill-started", request, atMs: 100, submittedAtMs: 100, cachedTokens: 0 },
      {
        kind: "first-token",
        request,
        atMs: 1_100,
        submittedAtMs: 100,
        startedAtMs: 100,
        cachedTokens: 0,
        computedTokens: 1_000,
      },
      {
        kind: "finished",
        request,
        atMs: 1_200,
        submittedAtMs: 100,
        startedAtMs: 100,
        firstTokenAtMs: 1_100,
        cachedTokens: 0,
        computedTokens: 1_000,
        outputTokens: 5,
        reason: "stop",
      },
    ]);
  });

  it("computes in the second turn only what the first left out", () => {
    const replica = createReplica(PLAIN, 0);
    replica.submit(aRequest({ promptTokens: 1_000, outputTokens: 25 }), 0);
    replica.advanceTo(10_000);
    const second = aRequest({ promptTokens: 1_500, outputTokens: 1 });
    // 1 024 of the 1 025 tokens were computed: 64 whole blocks.
    assert.equal(replica.cachedTokens(second), 1_024);
    replica.submit(second, 10_000);
    const last = replica.advanceTo(20_000).at(-1);
    assert.ok(last?.kind === "finished");
    assert.deepEqual([last.cachedTokens, last.computedTokens, last.atMs], [1_024, 476, 10_476]);
  });

  it("computes at least one token of a prompt it holds whole", () => {
    const replica = createReplica(PLAIN, 0);
    replica.submit(aRequest({ promptTokens: 160 }), 0);
    replica.advanceTo(1_000);
    assert.equal(replica.cachedTokens(aRequest({ promptTokens: 160 })), 144);
  });

  it("shares a system prompt of 320 tokens between two chats, and nothing else", () => {
    const replica = createReplica(PLAIN, 0);
    replica.submit(aRequest({ promptTokens: 1_000, sharedTokens: 320, conversation: 1 }), 0);
    replica.advanceTo(5_000);
    assert.equal(replica.cachedTokens(aRequest({ promptTokens: 1_000, sharedTokens: 320, conversation: 2 })), 320);
  });

  it("forgets the context that was used longest ago when memory runs out", () => {
    const replica = createReplica({ ...PLAIN, kvTokens: 3_200 }, 0);
    const of = (conversation: number) => aRequest({ promptTokens: 1_000, conversation });
    for (const [turn, conversation] of [1, 2, 3, 1, 4].entries()) replica.submit(of(conversation), turn * 2_000);
    replica.advanceTo(20_000);
    assert.deepEqual(
      [1, 2, 3, 4].map((conversation) => replica.cachedTokens(of(conversation)) > 900),
      [true, false, true, true],
    );
  });

  it("slows all answers down when several are written: 25 ms alone, 25.5 ms each of two", () => {
    const replica = createReplica(PLAIN, 0);
    const first = aRequest({ promptTokens: 16, outputTokens: 101 });
    replica.submit(first, 0);
    replica.submit(aRequest({ promptTokens: 16, outputTokens: 1_001, conversation: 1 }), 0);
    const finished = replica.advanceTo(60_000).find((event) => event.kind === "finished" && event.request === first);
    // 16 ms alone (0.64 tokens), then 99.36 tokens beside the other.
    assert.ok(finished !== undefined && Math.abs(finished.atMs - (16 + 16 + 99.36 * 25.5)) < 1e-6);
  });

  it("lets a request wait until its blocks fit, and those behind it with it", () => {
    const replica = createReplica({ ...PLAIN, kvTokens: 1_600 }, 0);
    replica.submit(aRequest({ promptTokens: 800, outputTokens: 101, conversation: 1 }), 0);
    const large = aRequest({ promptTokens: 800, outputTokens: 1, conversation: 2 });
    replica.submit(large, 0);
    replica.submit(aRequest({ promptTokens: 16, conversation: 3 }), 0);
    replica.advanceTo(1_000);
    const { running, waiting, kvUsedFraction } = replica.state();
    const uncachedTokensWaiting = replica.uncachedTokensWaiting();
    assert.deepEqual(
      { running, waiting, uncachedTokensWaiting, kvUsedFraction },
      { running: 1, waiting: 2, uncachedTokensWaiting: 816, kvUsedFraction: 0.57 },
    );
    const start = replica
      .advanceTo(10_000)
      .find((event) => event.kind === "prefill-started" && event.request === large);
    assert.equal(start?.atMs, 800 + 100 * 25);
  });

  it("refuses what could never fit", () => {
    const replica = createReplica({ ...PLAIN, kvTokens: 1_600 }, 0);
    const request = aRequest({ promptTokens: 1_600, outputTokens: 1 });
    assert.equal(replica.fits(request), false);
    assert.throws(() => replica.submit(request, 0), RangeError);
  });

  it("starts nothing before its weights are loaded", () => {
    const replica = createReplica({ ...PLAIN, coldStartMs: 5_000 }, 0);
    replica.submit(aRequest({ promptTokens: 100 }), 1_000);
    assert.deepEqual([replica.state().isReady, replica.backlogMs()], [false, 4_100]);
    const [started] = replica.advanceTo(10_000);
    assert.equal(started?.atMs, 5_000);
  });

  it("holds nothing after its contexts were forgotten, and goes on", () => {
    const replica = createReplica(PLAIN, 0);
    replica.submit(aRequest({ promptTokens: 1_000 }), 0);
    replica.submit(aRequest({ promptTokens: 2_000 }), 0);
    replica.advanceTo(1_500);
    replica.forgetContexts();
    replica.advanceTo(5_000);
    assert.equal(replica.state().counters.promptTokens, 3_000);
    // The second was being computed when all was forgotten, and named its own part afterwards.
    assert.equal(replica.cachedTokens(aRequest({ promptTokens: 2_000 })), 0);
  });

  it("gives the place of an aborted request to the next", () => {
    const replica = createReplica(PLAIN, 0);
    const gone = aRequest({ promptTokens: 1_000, conversation: 1 });
    const next = aRequest({ promptTokens: 1_000, conversation: 2 });
    replica.submit(gone, 0);
    replica.submit(next, 0);
    assert.equal(replica.backlogMs(), 2_000);
    assert.equal(replica.abort(gone.id, 400), true);
    assert.equal(replica.abort(gone.id, 400), false);
    assert.equal(replica.backlogMs(), 1_000);
    const events = replica.advanceTo(10_000).map(({ kind, request, atMs }) => [kind, request.id - gone.id, atMs]);
    assert.deepEqual(events, [
      ["prefill-started", 0, 0],
      ["finished", 0, 400],
      ["prefill-started", 1, 400],
      ["first-token", 1, 1_400],
      ["finished", 1, 1_400],
    ]);
    assert.equal(replica.state().counters.finished.abort, 1);
  });

  it("counts an answer's tokens while it is written", () => {
    const replica = createReplica(PLAIN, 0);
    const request = aRequest({ promptTokens: 100, outputTokens: 50 });
    replica.submit(request, 0);
    replica.advanceTo(100 + 10 * 25);
    const seen: number[] = [];
    replica.eachDecoding((one, outputTokens) => seen.push(one.id - request.id, outputTokens));
    assert.deepEqual(seen, [0, 11]);
    assert.deepEqual(replica.state().decoded, { outputTokens: 11, gaps: 10, gapsMs: 250 });
    assert.equal(replica.tokensWritten(), 111);
  });
});
