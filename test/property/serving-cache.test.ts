/** The prefix cache against a slow one that is easy to believe. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { createPrefixCache, type PrefixCache } from "#gtm/simulation/serving/prefix-cache.ts";

const TOTAL = 12;

/** Blocks as a list, the free ones in the order in which they will be taken. */
const createSlowCache = () => {
  const blocks = Array.from({ length: TOTAL }, (_, id) => ({ id, hash: 0, pins: 0 }));
  let free = blocks.slice();
  const held = (hash: number) => blocks.find((block) => block.hash === hash);
  const matched = (hashes: readonly number[]): number => {
    const at = hashes.findIndex((hash) => held(hash) === undefined);
    return at === -1 ? hashes.length : at;
  };
  const settle = (own: (typeof blocks)[number], hash: number) => {
    const other = held(hash);
    if (other === undefined) {
      own.hash = hash;
      return own;
    }
    free = free.filter((block) => block !== other);
    other.pins += 1;
    own.pins -= 1;
    if (own.pins === 0) free.push(own);
    return other;
  };
  return {
    matched,
    used: () => TOTAL - free.length,
    pin: (hashes: readonly number[], match: number, needed: number) => {
      const old = hashes.slice(0, match).flatMap((hash) => held(hash) ?? []);
      const rest = free.filter((block) => !old.includes(block));
      if (needed - match > rest.length) return null;
      const fresh = rest.slice(0, needed - match);
      free = rest.slice(needed - match);
      for (const block of fresh) block.hash = 0;
      for (const block of [...old, ...fresh]) block.pins += 1;
      return [...old, ...fresh];
    },
    name: (list: ReturnType<typeof blocks.slice>, hashes: readonly number[], from: number) => {
      for (const [i, own] of list.entries()) {
        const hash = hashes[i];
        if (i >= from && hash !== undefined) list[i] = settle(own, hash);
      }
    },
    release: (list: ReturnType<typeof blocks.slice>) => {
      for (const block of list.toReversed()) {
        block.pins -= 1;
        if (block.pins === 0) free.push(block);
      }
    },
  };
};

/** Few families with long shared beginnings, so that sequences meet; hashes that collide in a small table. */
const sequence = fc
  .record({ family: fc.integer({ min: 1, max: 3 }), branch: fc.integer({ min: 1, max: 3 }), length: fc.nat(8) })
  .map(({ family, branch, length }) =>
    Array.from({ length }, (_, i) => (i < 4 ? family * 64 : family * 64 + branch * 1_024) + i * 4_096 + 1),
  );
const steps = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ act: fc.constant("serve" as const), hashes: sequence, extra: fc.nat(4) }) },
    { weight: 2, arbitrary: fc.record({ act: fc.constant("end" as const), which: fc.nat() }) },
    { weight: 1, arbitrary: fc.record({ act: fc.constant("fork" as const) }) },
  ),
  { maxLength: 60 },
);

/** Both caches, asked the same and compared after each step. */
const createPair = () => {
  let fast = createPrefixCache(TOTAL);
  let spare: PrefixCache | null = null;
  const slow = createSlowCache();
  const open: {
    readonly fast: Int32Array;
    readonly slow: NonNullable<ReturnType<typeof slow.pin>>;
    readonly hashes: readonly number[];
    readonly from: number;
  }[] = [];
  return {
    serve: (hashes: readonly number[], extra: number): void => {
      const matched = fast.matchedBlocks(hashes, hashes.length);
      assert.equal(matched, slow.matched(hashes));
      const pinned = fast.pin(hashes, matched, hashes.length + extra);
      const expected = slow.pin(hashes, matched, hashes.length + extra);
      assert.equal(pinned === null, expected === null);
      if (pinned === null || expected === null) return;
      // The first half is computed now, the rest when the request ends: two may then have the same content.
      const half = Math.max(matched, hashes.length >> 1);
      const blocks = fast.name(pinned, hashes, matched, half);
      slow.name(expected, hashes.slice(0, half), matched);
      open.push({ fast: blocks, slow: expected, hashes, from: half });
    },
    end: (which: number): void => {
      const [one] = open.splice(which % Math.max(1, open.length), 1);
      if (one === undefined) return;
      slow.name(one.slow, one.hashes, one.from);
      fast.release(fast.name(one.fast, one.hashes, one.from, one.hashes.length));
      slow.release(one.slow);
    },
    /** What happens in the old one afterwards must not be seen in the copy. */
    fork: (): void => {
      const left = fast;
      fast = fast.fork(spare);
      assert.ok(left.pin([], 0, TOTAL - left.usedBlocks()) !== null);
      // The next copy is written over it.
      spare = left;
    },
    check: (): void => {
      assert.equal(fast.usedBlocks(), slow.used());
      assert.ok(fast.usedBlocks() <= TOTAL);
    },
  };
};

describe("the prefix cache", () => {
  it("holds, refuses and evicts as a plain list would", () => {
    fc.assert(
      fc.property(steps, (list) => {
        const pair = createPair();
        for (const step of list) {
          if (step.act === "serve") pair.serve(step.hashes, step.extra);
          else if (step.act === "end") pair.end(step.which);
          else pair.fork();
          pair.check();
        }
      }),
      { numRuns: 500 },
    );
  });
});
