import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Arena } from "#gtm/simulation/rival.ts";
import { createConsistentHash } from "#gtm/simulation/rivals/consistent-hash.ts";
import { RIVALS, rivalNamed } from "#gtm/simulation/rivals/rivals.ts";
import { anArena, aTurn, recordOf } from "./an-arena.ts";

const FRANKFURT = 0;
const VIRGINIA = 1;
const SINGAPORE = 2;

const made = (name: string, arena: Arena) => {
  const named = rivalNamed(name);
  assert.ok(named, name);
  return named.create(arena);
};
const regionsOf = (name: string, arena: Arena, turns: number): (number | undefined)[] => {
  const rival = made(name, arena);
  return Array.from({ length: turns }, (_, at) => rival.choose(aTurn({ conversation: at }))?.region);
};

describe("every rival", () => {
  for (const { name, create } of RIVALS) {
    it(`${name}: chooses none where none may serve, and the only one that may`, () => {
      const { arena, exclude } = anArena();
      const rival = create(arena);
      exclude(FRANKFURT);
      exclude(SINGAPORE);
      assert.equal(rival.choose(aTurn())?.region, VIRGINIA);
      exclude(VIRGINIA);
      assert.equal(rival.choose(aTurn({ turn: 2 })), null);
    });
    it(`${name}: chooses the same with the same seed`, () => {
      assert.deepEqual(
        regionsOf(name, anArena({ seed: 3 }).arena, 20),
        regionsOf(name, anArena({ seed: 3 }).arena, 20),
      );
    });
  }
  it("has a name of its own, and there is none without one", () => {
    assert.equal(new Set(RIVALS.map(({ name }) => name)).size, RIVALS.length);
    assert.equal(rivalNamed("none"), null);
  });
});

describe("rivals that look at no load", () => {
  it("round robin takes each region in turn", () => {
    assert.deepEqual(regionsOf("round-robin", anArena().arena, 4), [FRANKFURT, VIRGINIA, SINGAPORE, FRANKFURT]);
  });
  it("random takes each about as often", () => {
    const chosen = regionsOf("random", anArena().arena, 600);
    for (const region of [FRANKFURT, VIRGINIA, SINGAPORE]) {
      const times = chosen.filter((one) => one === region).length;
      assert.ok(times > 150 && times < 250, `${region}: ${times} of 600`);
    }
  });
  it("nearest takes Frankfurt, 20 ms away", () => {
    assert.deepEqual(regionsOf("nearest", anArena().arena, 2), [FRANKFURT, FRANKFURT]);
  });
  it("sticky stays where the turn before went, and leaves only what may not serve", () => {
    const { arena, exclude } = anArena();
    const rival = made("sticky", arena);
    assert.equal(rival.choose(aTurn({ turn: 2, previous: SINGAPORE }))?.region, SINGAPORE);
    exclude(SINGAPORE);
    assert.equal(rival.choose(aTurn({ turn: 3, previous: SINGAPORE }))?.region, FRANKFURT);
  });
  it("consistent hash gives a region with four times the speed two thirds of the conversations", () => {
    const chosen = regionsOf("consistent-hash", anArena({ rates: [5_000, 20_000, 5_000] }).arena, 600);
    const times = chosen.filter((one) => one === VIRGINIA).length;
    assert.ok(times > 360 && times < 440, `${times} of 600`);
  });
  it("consistent hash keeps a conversation, and sends a child to its parent", () => {
    const rival = made("consistent-hash", anArena().arena);
    const first = rival.choose(aTurn({ conversation: 5 }))?.region;
    assert.equal(rival.choose(aTurn({ conversation: 5, turn: 2 }))?.region, first);
    assert.equal(rival.choose(aTurn({ conversation: 6, parent: 5 }))?.region, first);
  });
});

describe("rivals that count requests under way", () => {
  it("least requests goes where fewest are, of equals to the nearest, and hears of ends and failures", () => {
    const rival = made("least-requests", anArena().arena);
    const turns = [1, 2, 3].map((conversation) => aTurn({ conversation }));
    const chosen = turns.map((turn) => rival.choose(turn)?.region);
    assert.deepEqual(chosen, [FRANKFURT, VIRGINIA, SINGAPORE]);
    rival.onFinished(turns[2] ?? aTurn(), recordOf(turns[2] ?? aTurn(), SINGAPORE));
    assert.equal(rival.choose(aTurn({ conversation: 4 }))?.region, SINGAPORE);
    rival.onFailed(turns[1] ?? aTurn(), VIRGINIA);
    assert.equal(rival.choose(aTurn({ conversation: 5 }))?.region, VIRGINIA);
  });
  it("a turn that is asked again after a failure counts once", () => {
    const rival = made("least-requests", anArena().arena);
    rival.choose(aTurn({ conversation: 1 }));
    rival.choose(aTurn({ conversation: 1 }));
    assert.equal(rival.choose(aTurn({ conversation: 2 }))?.region, FRANKFURT);
  });
  it("power of two never takes the fullest of three", () => {
    const rival = made("power-of-two", anArena().arena);
    const counts = [0, 0, 0];
    for (let conversation = 0; conversation < 300; conversation++) {
      const region = rival.choose(aTurn({ conversation }))?.region ?? 0;
      assert.ok((counts[region] ?? 0) < Math.max(...counts) || new Set(counts).size < 3, `${counts} then ${region}`);
      counts[region] = (counts[region] ?? 0) + 1;
    }
  });
  it("bounded hash lets no region have more than 1.25 times its share", () => {
    const rival = createConsistentHash(anArena().arena, { bound: 1.25 });
    const counts = [0, 0, 0];
    for (let conversation = 0; conversation < 300; conversation++) {
      const region = rival.choose(aTurn({ conversation }))?.region ?? 0;
      counts[region] = (counts[region] ?? 0) + 1;
    }
    assert.ok(Math.max(...counts) <= Math.ceil((1.25 * 300) / 3), String(counts));
  });
});
