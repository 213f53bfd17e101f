import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createGenerations } from "#gtm/wire/dns/generations.ts";

describe("maps that forget together", () => {
  it("keep their keys apart", () => {
    const maps = createGenerations<string>(100);
    maps.add(0, 7, "a");
    maps.add(3, 7, "b");
    assert.deepEqual(
      [maps.get(0, 7), maps.get(3, 7), maps.get(1, 7), maps.get(0, 8)],
      ["a", "b", undefined, undefined],
    );
  });

  it("keep what is asked for again and again, whatever else comes", () => {
    const maps = createGenerations<number>(10);
    maps.add(0, -1, 1);
    for (let key = 0; key < 100; key++) {
      maps.add(key % 3, key, key);
      assert.equal(maps.get(0, -1), 1, `after ${key + 1} others`);
    }
  });

  it("never keep more than the most, in all of them", () => {
    const maps = createGenerations<number>(10);
    for (let key = 0; key < 1_000; key++) maps.add(key % 7, key, key);
    // From the newest on, since asking for one makes it young again.
    const kept = Array.from({ length: 1_000 }, (_, i) => 999 - i).filter((key) => maps.get(key % 7, key) !== undefined);
    assert.ok(kept.length <= 10 && kept.length >= 4, `${kept.length} kept`);
    assert.equal(kept[0], 999);
  });

  it("keep fewer of what weighs more", () => {
    const heavy = createGenerations<number>(100, (value) => value);
    for (let key = 0; key < 100; key++) heavy.add(0, key, 10);
    const kept = Array.from({ length: 100 }, (_, key) => key).filter((key) => heavy.get(0, key) !== undefined);
    assert.deepEqual(kept, [95, 96, 97, 98, 99]);
  });
});
