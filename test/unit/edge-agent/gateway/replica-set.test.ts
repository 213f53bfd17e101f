import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Turn } from "#edge-agent/gateway/ports.ts";
import { createReplicaSet, type ReplicaSet } from "#edge-agent/gateway/replica-set.ts";
import type { Usage } from "#edge-agent/gateway/usage.ts";
import type { ConversationId, ModelId, ReplicaId } from "#shared/ids.ts";
import { aReplicaId, aTurn, factsMap, someFacts } from "#test/support/replica-facts.ts";

const NONE: ReadonlySet<ReplicaId> = new Set();
const RULES = { factor: 3, floorMs: 2_000 };
const usage = (change: Partial<Usage> = {}): Usage => ({
  ...{ promptTokens: 4_000, cachedTokens: null, completionTokens: 100, isCompletionEstimated: false },
  ...{ firstContentAtMs: null, responseId: null, hasError: false },
  ...change,
});
/** Two replicas of 1 ms a token, of which the engines tell nothing else. */
const twoReplicas = (): ReplicaSet => {
  const set = createReplicaSet(RULES);
  set.learn(factsMap(someFacts(1), someFacts(2)), 0);
  return set;
};
/** @returns the replica, or why there is none */
const pick = (set: ReplicaSet, turn: Turn, nowMs: number, not = NONE) => {
  const picked = set.pick(turn, not, nowMs);
  return picked.kind === "picked" ? picked.replica.id : picked.reason;
};
/** Sends a turn where it is picked for; it is prefilled when `ends` says so. */
const send = (set: ReplicaSet, turn: Turn, nowMs: number) => {
  const picked = set.pick(turn, NONE, nowMs);
  assert.ok(picked.kind === "picked");
  const passage = picked.replica.send({ ...turn, atMs: nowMs });
  passage.began(true);
  return { id: picked.replica.id, passage };
};
const other = aTurn({ conversation: "000000000000a" as ConversationId });

describe("the first turns of a conversation that begins with another's context", () => {
  it("go to the replica that holds its parent's context, until one holds its own", () => {
    const set = twoReplicas();
    const parent = send(set, aTurn(), 0);
    parent.passage.firstToken(4_000);
    parent.passage.end(usage(), true, 5_000);
    const child = { ...other, parent: aTurn().conversation, promptTokens: 4_000 };
    assert.notEqual(pick(set, other, 60_000), parent.id, "without parent: to the one that wrote less");
    assert.equal(pick(set, child, 60_000), parent.id);
    const elsewhere = set.pick(child, new Set([parent.id]), 60_000);
    assert.ok(elsewhere.kind === "picked");
    const passage = elsewhere.replica.send({ ...child, atMs: 60_000 });
    passage.began(true);
    passage.firstToken(64_000);
    passage.end(usage(), true, 65_000);
    assert.equal(pick(set, child, 70_000), elsewhere.replica.id);
  });
});

describe("a conversation's next turn", () => {
  it("goes to the replica that holds its context, also while its first turn is still under way", () => {
    const set = twoReplicas();
    const first = send(set, aTurn(), 0);
    assert.equal(pick(set, aTurn(), 10), first.id);
    first.passage.firstToken(4_000);
    first.passage.end(usage(), true, 5_000);
    assert.equal(pick(set, aTurn({ promptTokens: 4_500 }), 60_000), first.id);
  });
  it("goes elsewhere where waiting there costs more than everything again: 9 s against 4 s", () => {
    const set = twoReplicas();
    const first = send(set, aTurn(), 0);
    first.passage.firstToken(4_000);
    first.passage.end(usage(), true, 5_000);
    const long = aTurn({ conversation: null, promptTokens: 9_000 });
    const busy = set.all().find(({ id }) => id === first.id);
    busy?.send({ ...long, atMs: 10_000 }).began(true);
    assert.notEqual(pick(set, aTurn(), 10_000), first.id);
    assert.equal(pick(set, aTurn(), 16_000), first.id, "3 s are left to wait");
  });
  it("goes elsewhere once the replica has started anew: its cache is empty", () => {
    const set = twoReplicas();
    const first = send(set, aTurn(), 0);
    first.passage.firstToken(4_000);
    first.passage.end(usage(), true, 5_000);
    const restarted = someFacts(first.id === aReplicaId(1) ? 1 : 2, { startedAtMs: 2_000_000 });
    set.learn(factsMap(someFacts(1), someFacts(2), restarted), 0);
    const heldNow = set.all().map((one) => one.candidate(aTurn().conversation, 6_000).heldTokens);
    assert.deepEqual(heldNow, [0, 0]);
  });
  it("finds nothing of a turn that failed, nor of one that ended after a restart", () => {
    const set = twoReplicas();
    send(set, aTurn(), 0).passage.end(usage({ promptTokens: null, completionTokens: null }), false, 100);
    const late = send(set, other, 200);
    set.learn(factsMap(someFacts(1, { startedAtMs: 2e6 }), someFacts(2, { startedAtMs: 2e6 })), 0);
    const passed = late.passage.end(usage(), true, 300);
    assert.equal(passed.heldTokens, null);
    for (const one of set.all()) assert.equal(one.heldTokens(), 0);
  });
});

describe("a new conversation", () => {
  it("alternates between idle replicas, as each has written fewer tokens in turn: never the first twice", () => {
    const set = twoReplicas();
    const ids = Array.from({ length: 6 }, (_, at) => {
      const turn = aTurn({ conversation: at.toString().padStart(13, "0") as ConversationId });
      const { id, passage } = send(set, turn, at * 10_000);
      passage.firstToken(at * 10_000 + 4_000);
      passage.end(usage(), true, at * 10_000 + 5_000);
      return id;
    });
    assert.deepEqual(ids, [1, 2, 1, 2, 1, 2].map(aReplicaId));
  });
  it("does not all go to a replica that has just come and written nothing", () => {
    const set = twoReplicas();
    for (let at = 0; at < 4; at++) send(set, aTurn({ conversation: null }), at).passage.end(usage(), true, at);
    set.learn(factsMap(someFacts(1), someFacts(2), someFacts(3)), 0);
    const written = set.all().map((one) => one.tokensWritten());
    assert.deepEqual(written, [8_200, 8_200, 8_200]);
  });
});

describe("a replica that has not been measured, beside one that has", () => {
  it("is taken to be as fast: the engine's word of 1 ms a token counts for nothing against a measured 0.1 ms", () => {
    const set = twoReplicas();
    for (let at = 0; at < 20; at++) {
      const nowMs = at * 10_000;
      const passage = set.all()[0]?.send({ ...other, conversation: null, atMs: nowMs });
      passage?.began(true);
      passage?.firstToken(nowMs + 400);
      passage?.end(usage({ cachedTokens: 0 }), true, nowMs + 900);
    }
    const picked = set.pick(aTurn(), NONE, 300_000);
    assert.ok(picked.kind === "picked");
    const [first, second] = picked.chosen.offers.map(({ fromZeroMs }) => Math.round(fromZeroMs));
    assert.deepEqual([first, second, picked.replica.id], [400, 400, aReplicaId(2)]);
  });
});

describe("a turn is refused", () => {
  it("where no replica has the model, all that have it are down, or have failed this turn already", () => {
    const set = twoReplicas();
    assert.equal(pick(set, aTurn({ model: "model-z" as ModelId }), 0), "model-gone");
    assert.equal(pick(set, aTurn(), 0, new Set([aReplicaId(1), aReplicaId(2)])), "model-gone");
    set.learn(factsMap(someFacts(1, { isDown: true }), someFacts(2, { isDown: true })), 0);
    assert.equal(pick(set, aTurn(), 0), "model-gone");
  });
  it("not where only the GTM calls the model so, but where it was here under that name and is gone", () => {
    const set = twoReplicas();
    const sent = { model: "model-z" as ModelId, decision: "01ARZ3NDEKTSV4RRFFQ69G5FAV" };
    assert.equal(pick(set, aTurn(sent), 0), aReplicaId(1));
    set.learn(factsMap(someFacts(1, { names: new Set(["model-z"]) }), someFacts(2)), 0);
    set.learn(factsMap(someFacts(1), someFacts(2)), 0);
    assert.equal(pick(set, aTurn(sent), 0), "model-gone");
  });
  it("not by an alias, nor at an engine that does not say what it serves", () => {
    const set = twoReplicas();
    assert.equal(pick(set, aTurn({ model: "alias-a" as ModelId }), 0), aReplicaId(1));
    set.learn(factsMap(someFacts(1, { model: null, names: null })), 0);
    assert.equal(pick(set, aTurn({ model: "model-z" as ModelId }), 0), aReplicaId(1));
  });

  const cases: readonly (readonly [predictedTtftMs: number | null, expected: string, why: string])[] = [
    [700, "queue", "4 122 ms (attention with it) are more than 3 × 700 + 2 000"],
    [710, aReplicaId(1), "4 122 ms are less than 3 × 710 + 2 000"],
    [null, aReplicaId(1), "without an estimate nothing is beyond it"],
  ];
  for (const [predictedTtftMs, expected, why] of cases) {
    it(`${expected === "queue" ? "" : "not "}where ${why}`, () => {
      assert.equal(pick(twoReplicas(), aTurn({ predictedTtftMs }), 0), expected);
    });
  }
  it("for as long as it would wait too long", () => {
    const picked = twoReplicas().pick(aTurn({ predictedTtftMs: 0 }), NONE, 0);
    assert.deepEqual(picked, { kind: "refused", reason: "queue", retryAfterMs: 2_123 });
  });
  it("never by the queue behind a router, whose turns are prefilled side by side", () => {
    const queued = (isRouter: boolean) => {
      const set = createReplicaSet(RULES);
      set.learn(factsMap(someFacts(1, { isRouter })), 0);
      for (let turns = 0; turns < 20; turns++) send(set, aTurn(), 0);
      return pick(set, aTurn({ predictedTtftMs: 700 }), 0);
    };
    assert.deepEqual([queued(false), queued(true)], ["queue", aReplicaId(1)]);
  });
  it("never by a speed that is only guessed", () => {
    const set = createReplicaSet(RULES);
    set.learn(factsMap(someFacts(1, { prefillTokensPerSecond: null })), 0);
    assert.equal(pick(set, aTurn({ predictedTtftMs: 1, promptTokens: 100_000 }), 0), aReplicaId(1));
  });
});
