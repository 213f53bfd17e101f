/** What the choice of the replica is worth, in virtual time: the same conversations, each in turn against the gateway's choice. */
import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { PLAY_SPEED, type PlayOptions, type PlayResult, playReplicas } from "#test/support/replica-play.ts";

/** Agents: long contexts, back within seconds, four replicas whose caches hold all of them. */
const AGENTS: PlayOptions = {
  replicas: 4,
  users: 24,
  turnsEach: 12,
  kvTokens: 400_000,
  thinkMs: 10_000,
  firstTokens: 12_000,
  growthTokens: 650,
  seed: 2,
};

describe("24 agents with 12 turns each on four replicas", () => {
  let inTurn: PlayResult;
  let chosen: PlayResult;
  before(() => {
    inTurn = playReplicas("round-robin", AGENTS);
    chosen = playReplicas("choice", AGENTS);
  });

  it("all get all their turns, either way", () => {
    assert.deepEqual([inTurn.turns, chosen.turns], [288, 288]);
  });
  it("wait for their first token less than a third of what they wait with each replica in turn", () => {
    assert.ok(chosen.meanTtftMs * 3 < inTurn.meanTtftMs, `${chosen.meanTtftMs} against ${inTurn.meanTtftMs} ms`);
  });
  it("have less than a third as many tokens computed", () => {
    assert.ok(chosen.computedTokens * 3 < inTurn.computedTokens, `${chosen.computedTokens}, ${inTurn.computedTokens}`);
  });
  it("wait as the backlog said, within 5 % in the mean, once the speed is known by measuring alone", () => {
    assert.ok(chosen.backlogErrorMs <= 0.05 * chosen.meanWaitMs, `${chosen.backlogErrorMs} of ${chosen.meanWaitMs} ms`);
    const measured = chosen.linMs.filter((linMs) => linMs !== null);
    assert.ok(measured.length > 0);
    for (const linMs of measured) assert.ok(Math.abs(linMs / PLAY_SPEED.linMs - 1) < 0.01, `${linMs}`);
  });
  it("get the same from the same seed", () => assert.deepEqual(playReplicas("choice", AGENTS), chosen));
});
