import assert from "node:assert/strict";
import type { IncomingHttpHeaders } from "node:http";
import { describe, it } from "node:test";
import { gzipSync } from "node:zlib";
import { sendTo } from "#edge-agent/gateway/passage.ts";
import type { TurnOutcome } from "#edge-agent/gateway/ports.ts";
import { newReplicaState } from "#edge-agent/gateway/replica-state.ts";
import { correctionOf, makesResponse, measuredTurn } from "#edge-agent/gateway/turn-record.ts";
import { type Ended, watchTurn } from "#edge-agent/gateway/turn-watch.ts";
import type { ModelId, RegionId } from "#shared/ids.ts";
import { MeasuredTurn } from "#shared/measured-turn.ts";
import { createMetrics } from "#shared/metrics.ts";
import { createManualClock } from "#test/support/manual-clock.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { aReplicaId, aTurn, someFacts } from "#test/support/replica-facts.ts";
import * as replies from "#test/support/replies.ts";

const EVENTS: IncomingHttpHeaders = { "content-type": "text/event-stream; charset=utf-8" };
const JSON_BODY: IncomingHttpHeaders = { "content-type": "application/json" };
type Reply = {
  readonly status?: number;
  readonly headers?: IncomingHttpHeaders;
  readonly body?: string | Uint8Array;
  readonly outcome?: TurnOutcome;
};

/** Sent at 0 ms; each event comes 100 ms after the one before, the end 50 ms after the last. */
const pass = async (
  { status = 200, headers = EVENTS, body = replies.CHAT_STREAM, outcome = "served" }: Reply,
  turn = aTurn(),
) => {
  const clock = createManualClock();
  const metrics = createMetrics();
  const unread = metrics.counter({ name: "gtm_gateway_replies_unread_total", help: "Unread.", labels: ["reason"] });
  const facts = someFacts(1);
  const state = newReplicaState(facts, 0);
  const startMs = clock.monotonicMs();
  const passage = sendTo(state, { ...turn, atMs: startMs });
  const all: Ended[] = [];
  const told: string[] = [];
  const onResponse = (id: string): Promise<void> | null => {
    if (makesResponse(turn)) told.push(id);
    return makesResponse(turn) ? Promise.resolve() : null;
  };
  const watch = watchTurn({ passage, clock, unread, onResponse, onEnd: (ended) => all.push(ended) });
  /** Of the parts of the reply, those that wait until something is done. */
  const waiting: number[] = [];
  if (status > 0) watch.head(status, headers);
  const parts = typeof body === "string" ? body.split(/(?<=\n\n)/).map((part) => Buffer.from(part)) : [body];
  for (const [at, part] of parts.entries()) {
    clock.advance(100);
    watch.chunk(part);
    if (watch.before() !== null) waiting.push(at - parts.length);
  }
  clock.advance(50);
  watch.end(outcome);
  watch.end(outcome);
  const [ended] = all;
  assert.ok(ended !== undefined && all.length === 1, "ends once");
  const here = {
    region: "paris" as RegionId,
    replica: aReplicaId(1),
    facts,
    turn: { ...turn, receivedAtMs: startMs },
    ended,
  };
  return {
    ended,
    measured: measuredTurn({ ...here, promisedTokens: passage.promisedTokens }),
    correction: correctionOf(here),
    ...{ told, waiting },
    unread: (reason: string) => metricValue(metrics, "gtm_gateway_replies_unread_total", { reason }),
    inFlight: state.turns.size,
  };
};

describe("a chat stream that passes by", () => {
  it("is measured: first content at 300 ms, behind a comment and a role, whole at 750 ms", async () => {
    const { measured, correction, inFlight } = await pass({});
    const { ttftMs, totalMs, queuedMs, promptTokens, cachedTokens, completionTokens, outcome } =
      MeasuredTurn.parse(measured);
    assert.deepEqual(
      { ttftMs, totalMs, queuedMs, promptTokens, cachedTokens, completionTokens, outcome },
      {
        ...{ ttftMs: 300, totalMs: 750, queuedMs: 0, promptTokens: 5_000, cachedTokens: 4_096, completionTokens: 3 },
        outcome: "served",
      },
    );
    assert.deepEqual([correction?.tokens, correction?.turns, inFlight], [5_003, 1, 0]);
  });
  it("leaves its context where the client went away after the first content", async () => {
    const { measured, correction } = await pass({ outcome: "aborted" });
    assert.deepEqual([measured?.outcome, correction?.tokens], ["aborted", 5_003]);
  });
  it("leaves nothing that is known without a usage", async () => {
    const { measured, correction } = await pass({ body: replies.CHAT_STREAM_SILENT });
    assert.deepEqual([measured?.completionTokens, measured?.isCompletionEstimated, correction], [3, true, null]);
  });
});

describe("an answer that is no turn served", () => {
  const cases: readonly (readonly [what: string, reply: Reply, outcome: string])[] = [
    ["a 400 of the engine", { status: 400, headers: JSON_BODY, body: '{"error":{"message":"too long"}}' }, "refused"],
    ["a 500", { status: 500, headers: JSON_BODY, body: '{"error":"x"}' }, "failed"],
    ["an error within the stream", { body: 'data: {"error":{"message":"died"}}\n\n' }, "failed"],
    ["nothing at all", { status: 0, body: "", outcome: "failed" }, "failed"],
    ["a client that went before the first content", { body: ": wait\n\n", outcome: "aborted" }, "aborted"],
  ];
  for (const [what, reply, outcome] of cases) {
    it(`${what} is ${outcome}, and corrects nothing`, async () => {
      const { measured, correction, inFlight } = await pass(reply);
      assert.deepEqual([measured?.outcome, correction, inFlight], [outcome, null, 0]);
    });
  }
});

describe("a reply that cannot be read", () => {
  it("passes and is counted, where it is compressed", async () => {
    const headers = { ...JSON_BODY, "content-encoding": "gzip" };
    const { measured, correction, unread } = await pass({ headers, body: gzipSync(replies.CHAT_JSON) });
    assert.deepEqual([measured?.outcome, measured?.promptTokens, correction], ["served", null, null]);
    assert.equal(await unread("encoded"), 1);
  });
  it("passes and is counted, where it is sound", async () => {
    const { unread } = await pass({ headers: { "content-type": "audio/mpeg" }, body: Buffer.alloc(100) });
    assert.equal(await unread("other"), 1);
  });
});

describe("a stored response", () => {
  const turn = aTurn({ path: "/v1/responses" });
  it("is remembered where it was made whole, in one piece or streamed", async () => {
    for (const reply of [{ body: replies.RESPONSE_STREAM }, { headers: JSON_BODY, body: replies.RESPONSE_JSON }]) {
      const { told, waiting } = await pass(reply, turn);
      // Before the client gets the last part, and not before any other.
      assert.deepEqual([told, waiting], [["resp_1"], [-1]]);
    }
  });
  it("is not where it is not stored, or came through another path", async () => {
    const unstored = await pass({ headers: JSON_BODY, body: replies.RESPONSE_JSON_NOT_STORED }, turn);
    const elsewhere = await pass({ headers: JSON_BODY, body: replies.RESPONSE_JSON });
    for (const { told, waiting } of [unstored, elsewhere]) assert.deepEqual([told, waiting], [[], []]);
  });
});

describe("a look at the list of models", () => {
  it("is no turn of a model", async () => {
    const { measured, correction } = await pass({ headers: JSON_BODY, body: '{"data":[]}' }, aTurn({ model: null }));
    assert.deepEqual([measured, correction], [null, null]);
  });
});

describe("another name of the model in the ledger", () => {
  it("is the same to a client that came by a label, and another to a GTM that says which it means", async () => {
    const isSame = async (decision: string | null, name: string) =>
      (await pass({}, aTurn({ decision }))).correction?.isSameModel(name as ModelId);
    assert.deepEqual(
      [await isSame(null, "gtm-a"), await isSame("d", "gtm-a"), await isSame("d", "alias-a")],
      [true, false, true],
    );
  });
});
