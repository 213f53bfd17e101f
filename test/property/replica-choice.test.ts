/** The law of the choice inside a region, on the recorded numbers. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { backlogMs, type InFlight, type Lane } from "#edge-agent/gateway/backlog.ts";
import { type Candidate, choose } from "#edge-agent/gateway/choice.ts";
import { createHeld } from "#edge-agent/gateway/held.ts";
import type { ConversationId, ReplicaId } from "#shared/ids.ts";

const ms = (max: number) => fc.oneof(fc.constant(0), fc.double({ min: 0, max, noNaN: true }));
const candidate = fc.record({
  backlogMs: ms(60_000),
  heldTokens: fc.oneof(fc.constant(0), fc.nat(100_000)),
  tokensWritten: fc.oneof(fc.constant(0), fc.nat(1_000_000)),
  speed: fc.record({
    fixedMs: ms(50),
    linMs: fc.oneof(fc.constant(0.125), fc.double({ min: 0.01, max: 2, noNaN: true })),
    attnMs: fc.oneof(fc.constant(0.000_002), ms(0.000_01)),
  }),
});
const candidates = fc
  .array(candidate, { minLength: 1, maxLength: 8 })
  .map((list): Candidate[] => list.map((one, at) => ({ ...one, id: `192.0.2.${at}:8000/0` as ReplicaId })));
const shuffled = (list: readonly Candidate[], seed: number): Candidate[] =>
  list
    .map((one, at) => ({ one, key: ((at + 1) * (2 * seed + 1) * 7_919) % 104_729 }))
    .sort((a, b) => a.key - b.key)
    .map(({ one }) => one);

describe("the chosen replica", () => {
  it("is never dearer than what holds the context, nor than the least loaded from zero by more than what counts as equal", () => {
    fc.assert(
      fc.property(candidates, fc.nat(120_000), (list, promptTokens) => {
        const chosen = choose(list, promptTokens);
        assert.ok(chosen !== null);
        const least = Math.min(...chosen.offers.map((offer) => offer.fromZeroMs));
        assert.ok(chosen.costMs <= least + Math.max(20, 0.1 * least));
        const holders = chosen.offers.filter(({ heldTokens }) => heldTokens > 0);
        for (const { withContextMs } of holders) assert.ok(chosen.costMs <= withContextMs);
        const own = chosen.offers.find(({ id }) => id === chosen.id);
        assert.equal(chosen.costMs, own?.withContextMs);
      }),
    );
  });
  it("holds the context if and only if waiting there plus what is missing costs no more than the least loaded from zero, 20 ms or 10 % aside", () => {
    fc.assert(
      fc.property(candidates, fc.nat(120_000), (list, promptTokens) => {
        const chosen = choose(list, promptTokens);
        const offers = chosen?.offers ?? [];
        const holders = offers.filter(({ heldTokens }) => heldTokens > 0);
        const holderMs = Math.min(...holders.map((offer) => offer.withContextMs));
        const leastMs = Math.min(...offers.map((offer) => offer.fromZeroMs));
        const stays = holderMs <= leastMs + Math.max(20, 0.1 * leastMs);
        assert.equal(chosen?.why, stays ? "holds-context" : "least-loaded");
        if (stays) assert.equal(chosen?.costMs, holderMs);
      }),
    );
  });
  it("is the one with the fewest tokens written of those that are equally loaded and hold nothing", () => {
    fc.assert(
      fc.property(candidates, fc.nat(120_000), (list, promptTokens) => {
        const speed = { fixedMs: 5, linMs: 0.1, attnMs: 0 };
        const idle = list.map((one) => ({ ...one, backlogMs: 0, heldTokens: 0, speed }));
        const fewest = Math.min(...idle.map(({ tokensWritten }) => tokensWritten));
        const chosen = choose(idle, promptTokens);
        assert.equal(chosen?.offers.find(({ id }) => id === chosen.id)?.tokensWritten, fewest);
      }),
    );
  });
  it("does not depend on the order of the replicas", () => {
    fc.assert(
      fc.property(candidates, fc.nat(120_000), fc.nat(1_000), (list, promptTokens, seed) => {
        assert.equal(choose(shuffled(list, seed), promptTokens)?.id, choose(list, promptTokens)?.id);
      }),
    );
  });
});

describe("what a replica holds", () => {
  it("never exceeds its capacity, and forgets the least recently used first", () => {
    const put = fc.record({ of: fc.nat(20), tokens: fc.nat(4_000), isAnonymous: fc.boolean() });
    fc.assert(
      fc.property(fc.array(put, { maxLength: 60 }), (puts) => {
        const held = createHeld(() => 10_000);
        const idOf = (of: number) => of.toString(32).padStart(13, "0") as ConversationId;
        for (const { of, tokens, isAnonymous } of puts) {
          held.put(isAnonymous ? null : idOf(of), tokens);
          assert.ok(held.tokens() <= 10_000);
          if (!isAnonymous) assert.equal(held.tokensOf(idOf(of)), tokens);
        }
      }),
    );
  });
});

describe("a backlog", () => {
  const turn = fc.record({
    gapMs: fc.nat(2_000),
    prefillMs: fc.nat(5_000),
    decodeMs: fc.option(fc.nat(20_000)),
    isStreamed: fc.constantFrom(true, false, null),
    hasFirstToken: fc.boolean(),
  });
  const lane = fc.array(turn, { maxLength: 12 }).map((turns): Lane => {
    let atMs = 0;
    const flying = turns.map((one, at): InFlight => {
      atMs += one.gapMs;
      const { prefillMs, decodeMs, isStreamed } = one;
      return {
        seq: at + 1,
        submittedAtMs: atMs,
        prefillMs,
        decodeMs,
        isStreamed,
        firstTokenAtMs: one.hasFirstToken ? atMs : null,
      };
    });
    const shown = flying.filter(({ firstTokenAtMs }) => firstTokenAtMs !== null).at(-1);
    return {
      turns: flying,
      prefilledAtMs: shown?.firstTokenAtMs ?? Number.NEGATIVE_INFINITY,
      prefilledSeq: shown?.seq ?? 0,
      slots: null,
    };
  });
  const endOf = ({ turns }: Lane): number => turns.at(-1)?.submittedAtMs ?? 0;

  it("is a finite wait, never negative, and never more than all prefills that are left", () => {
    fc.assert(
      fc.property(lane, (one) => {
        const found = backlogMs(one, endOf(one));
        const late = endOf(one);
        const all = one.turns.reduce((sum, { prefillMs }) => sum + prefillMs, 0);
        assert.ok(found >= 0 && found <= all + late * (one.turns.length + 1), `${found}`);
      }),
    );
  });
  it("grows with every turn that is added, and a slot less never makes it shorter", () => {
    fc.assert(
      fc.property(lane, fc.nat(5_000), fc.integer({ min: 1, max: 6 }), (one, prefillMs, slots) => {
        const atMs = endOf(one);
        const before = backlogMs(one, atMs);
        const added = {
          seq: 99,
          submittedAtMs: atMs,
          prefillMs,
          decodeMs: null,
          isStreamed: null,
          firstTokenAtMs: null,
        };
        assert.ok(backlogMs({ ...one, turns: [...one.turns, added] }, atMs) >= before);
        assert.ok(backlogMs({ ...one, slots }, atMs) >= backlogMs({ ...one, slots: slots + 1 }, atMs));
      }),
    );
  });
});
