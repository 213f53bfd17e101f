/** How much of the caches conversations keep alive. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createLiveLedger } from "#gtm/domain/live-tokens.ts";
import { ConversationId } from "#shared/ids.ts";
import { MODEL, regionId } from "#test/support/builders.ts";

const id = (at: number) => ConversationId.parse(String(at).padStart(13, "0"));
const setUp = () => {
  const live = createLiveLedger({ pinMs: 900_000 });
  const commit = (at: number, region: string, tokens: number, atMs: number) =>
    live.commit({ id: id(at), region: regionId(region), model: MODEL, tokens, atMs, nextTurnFraction: 0.75, turns: 1 });
  const sums = (nowMs: number) => Object.fromEntries(live.sums(nowMs).map(({ region, tokens }) => [region, tokens]));
  return { live, commit, sums };
};

describe("live tokens, with a chance of 0.75 of another turn", () => {
  it("are the contexts of all conversations times that chance, by region", () => {
    const { commit, sums } = setUp();
    commit(1, "frankfurt", 1_000, 0);
    commit(2, "frankfurt", 3_000, 0);
    commit(3, "paris", 400, 0);
    assert.deepEqual(sums(0), { frankfurt: 3_000, paris: 300 });
  });
  it("count a conversation once, where its last turn was", () => {
    const { commit, sums, live } = setUp();
    commit(1, "frankfurt", 1_000, 0);
    commit(1, "frankfurt", 2_000, 1);
    assert.deepEqual(sums(1), { frankfurt: 1_500 });
    commit(1, "paris", 2_000, 2);
    assert.deepEqual(sums(2), { paris: 1_500 });
    assert.deepEqual([...live.conversations(2)], [["paris", 1]]);
  });
  it("end with the pin's time after the last turn", () => {
    const { commit, sums } = setUp();
    commit(1, "frankfurt", 1_000, 0);
    commit(2, "frankfurt", 1_000, 100);
    const both = sums(900_000)["frankfurt"] ?? 0;
    assert.ok(both > 0);
    const one = sums(900_001)["frankfurt"] ?? 0;
    assert.ok(one > 0 && one < both, `${one} of ${both}`);
    assert.deepEqual(sums(900_101), {});
  });
  it("are fewer the longer nobody came back, and as many as before once somebody does", () => {
    const { commit, sums } = setUp();
    commit(1, "frankfurt", 1_000, 0);
    const idle = [0, 100_000, 300_000, 800_000].map((nowMs) => sums(nowMs)["frankfurt"] ?? 0);
    assert.deepEqual(
      idle,
      idle.toSorted((a, b) => b - a),
    );
    assert.ok((idle[3] ?? 0) < 0.2 * (idle[0] ?? 0), String(idle));
    commit(1, "frankfurt", 1_000, 800_000);
    assert.equal(sums(800_000)["frankfurt"], 750);
  });
  it("learn from what other instances served: a turn that the store tells of is a return", () => {
    const quick = setUp();
    const slow = setUp();
    for (const { live, commit } of [quick, slow]) {
      for (let at = 0; at < 400; at++) {
        commit(at, "frankfurt", 1_000, 0);
        const lastTurnAtMs = live === quick.live ? 10_000 : 600_000;
        const home = { region: regionId("paris"), replica: null, tokens: 1_000, atMs: lastTurnAtMs };
        live.hear({ id: id(at), model: MODEL, holdings: [home], turns: 2, lastTurnAtMs, rev: 2, refusedBy: [] });
      }
      commit(1_000, "frankfurt", 1_000, 600_000);
    }
    const idleMs = 200_000;
    assert.ok((quick.sums(600_000 + idleMs)["frankfurt"] ?? 0) < 0.5 * (slow.sums(600_000 + idleMs)["frankfurt"] ?? 0));
  });
  it("are another GTM's once it served the conversation", () => {
    const { live, commit, sums } = setUp();
    commit(1, "frankfurt", 1_000, 0);
    live.forget(id(1));
    live.forget(id(1));
    assert.deepEqual(sums(0), {});
  });
  it("forget the oldest of more than 200 000 conversations", () => {
    const { commit, live } = setUp();
    for (let at = 0; at < 200_010; at++) commit(at, "frankfurt", 1, at / 1_000);
    assert.equal(live.conversations(201).get(regionId("frankfurt")), 200_000);
  });
});
