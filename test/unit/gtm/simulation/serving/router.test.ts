import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createDice } from "#gtm/simulation/dice.ts";
import { DEFAULT_ENGINE } from "#gtm/simulation/serving/engine-options.ts";
import { createReplica } from "#gtm/simulation/serving/replica.ts";
import { createAffinity, createLeastWaiting, createRoundRobin } from "#gtm/simulation/serving/router.ts";
import { createServingRegion } from "#gtm/simulation/serving/serving-region.ts";
import { aRequest } from "./requests.ts";

/** 1 ms a token, so that waits can be read off the token counts. */
const ENGINE = { ...DEFAULT_ENGINE, speed: { linMs: 1, attnMs: 0 } };
const fourReplicas = () => [1, 2, 3, 4].map(() => createReplica(ENGINE, 0));

describe("a router that honours affinity, where replica 2 holds 8 000 tokens of the prompt's 10 000", () => {
  const setting = (waitsMs: readonly number[]) => {
    const replicas = fourReplicas();
    replicas[2]?.submit(aRequest({ promptTokens: 8_000, conversation: 1 }), 0);
    for (const replica of replicas) replica.advanceTo(8_000);
    for (const [at, waitMs] of waitsMs.entries()) {
      if (waitMs > 0) replicas[at]?.submit(aRequest({ promptTokens: waitMs, conversation: 10 + at }), 8_000);
    }
    return createAffinity(createDice(1))(aRequest({ promptTokens: 10_000, conversation: 1 }), replicas);
  };
  const cases: readonly { when: string; waitsMs: readonly number[]; expected: number }[] = [
    { when: "all are idle", waitsMs: [0, 0, 0, 0], expected: 2 },
    { when: "replica 2 waits 7 s, less than computing 8 000 tokens", waitsMs: [0, 0, 7_000, 0], expected: 2 },
    { when: "replica 2 waits 9 s and only replica 3 is idle", waitsMs: [100, 100, 9_000, 0], expected: 3 },
    { when: "replica 2 waits 9 s and the others 2 s", waitsMs: [2_000, 2_000, 9_000, 2_000], expected: 2 },
  ];
  for (const { when, waitsMs, expected } of cases) {
    it(`chooses replica ${expected} when ${when}`, () => assert.equal(setting(waitsMs), expected));
  }
});

describe("a router that honours affinity, where nobody holds the prompt", () => {
  it("spreads new conversations of an idle region over all replicas by what they have written", () => {
    const region = createServingRegion({ replicas: 4, engine: ENGINE, routing: "affinity", seed: 7, startedAtMs: 0 });
    const taken = [0, 0, 0, 0];
    for (let conversation = 0; conversation < 40; conversation++) {
      const atMs = conversation * 10_000;
      region.advanceTo(atMs);
      const at = region.submit(aRequest({ promptTokens: 1_000, conversation }), atMs, null);
      taken[at] = (taken[at] ?? 0) + 1;
    }
    assert.deepEqual(taken, [10, 10, 10, 10]);
  });

  it("does not favour the first of equals: another seed begins elsewhere", () => {
    const firsts = [1, 2, 3, 4, 5, 6, 7, 8].map((seed) =>
      createAffinity(createDice(seed))(aRequest({ promptTokens: 100 }), fourReplicas()),
    );
    assert.ok(new Set(firsts).size > 1, `${firsts}`);
  });
});

describe("round robin", () => {
  it("takes each replica in turn, whoever holds the context", () => {
    const region = createServingRegion({
      replicas: 3,
      engine: ENGINE,
      routing: "round-robin",
      seed: 1,
      startedAtMs: 0,
    });
    const turns = [0, 1, 2, 3].map((turn) => region.submit(aRequest({ promptTokens: 1_000 }), turn * 5_000, null));
    assert.deepEqual(turns, [0, 1, 2, 0]);
    assert.equal(createRoundRobin()(aRequest({ promptTokens: 1 }), fourReplicas()), 0);
  });
});

describe("a router that looks at what waits alone", () => {
  it("takes the replica with the least to compute, whoever holds the context; of equals the one that wrote least", () => {
    const replicas = fourReplicas();
    replicas[2]?.submit(aRequest({ promptTokens: 8_000, conversation: 1 }), 0);
    for (const replica of replicas) replica.advanceTo(8_000);
    const route = createLeastWaiting(createDice(1));
    const turn = aRequest({ promptTokens: 10_000, conversation: 1 });
    assert.notEqual(route(turn, replicas), 2, "it has written 8 000 tokens, the others none");
    for (const at of [0, 1, 3]) replicas[at]?.submit(aRequest({ promptTokens: 100, conversation: at + 5 }), 8_000);
    assert.equal(route(turn, replicas), 2, "nothing waits there");
  });
});
