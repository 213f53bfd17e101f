import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createAgenda } from "#gtm/simulation/clock.ts";
import { createDice } from "#gtm/simulation/dice.ts";

describe("virtual time", () => {
  it("lets 1 000 acts happen in the order of their times, and equal ones in the order they were asked for", () => {
    const agenda = createAgenda();
    const dice = createDice(1);
    const wanted = Array.from({ length: 1_000 }, (_, order) => ({ atMs: Math.floor(dice() * 100), order }));
    const happened: typeof wanted = [];
    for (const one of wanted) agenda.at(one.atMs, () => happened.push(one));
    agenda.runUntil(100);
    assert.deepEqual(
      happened,
      wanted.toSorted((a, b) => a.atMs - b.atMs || a.order - b.order),
    );
  });

  it("runs what acts ask for, stops at the end of its time and goes on from there", () => {
    const agenda = createAgenda();
    const times: number[] = [];
    const again = (): void => {
      times.push(agenda.nowMs());
      agenda.at(agenda.nowMs() + 10, again);
    };
    agenda.at(0, again);
    agenda.runUntil(25);
    assert.deepEqual([times, agenda.nowMs()], [[0, 10, 20], 25]);
    agenda.runUntil(30);
    assert.deepEqual(times, [0, 10, 20, 30]);
  });

  it("knows no way back", () => {
    const agenda = createAgenda();
    agenda.runUntil(5);
    assert.throws(() => agenda.at(4, () => {}), RangeError);
  });
});
