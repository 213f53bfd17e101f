/** A trace played: copies, halves, cuts, users, and hashes that say what is shared. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CITIES } from "#gtm/simulation/cities.ts";
import { readClaudeCode } from "#gtm/simulation/traces/claude-code.ts";
import { readMooncake } from "#gtm/simulation/traces/mooncake.ts";
import type { RecordedTrace } from "#gtm/simulation/traces/recorded-trace.ts";
import { TRACE_OPTIONS, type TraceOptions } from "#gtm/simulation/traces/trace-options.ts";
import { traceTraffic } from "#gtm/simulation/traces/trace-traffic.ts";
import type { PlannedTurn } from "#gtm/simulation/traffic.ts";
import { VISIT, visitTurns } from "#gtm/simulation/traffic-in-order.ts";
import { trafficStatistics } from "#gtm/simulation/traffic-statistics.ts";

/** Twenty chats, 30 s apart, of two turns each: 1 100 tokens, then 1 700 that begin with them. */
const CHATS = readMooncake({
  name: "chats",
  lines: Array.from({ length: 20 }, (_, sid) => [
    { t: 30 * sid, in: 1_100, out: 100, sid, h: [0, 1, 100 * sid + 1, 2] },
    { t: 30 * sid + 15, in: 1_700, out: 400, sid, h: [0, 1, 100 * sid + 1, 1, 100 * sid + 50, 2] },
  ])
    .flat()
    .map((row) => JSON.stringify(row)),
});
const AGENTS = readClaudeCode({
  name: "agents",
  lines: [5, 9].map((first) =>
    JSON.stringify({
      ...{ tool: 64, sys: 64 },
      req: [
        { t: 0, in: 256, out: 64, think: 0, api: 1, h: [first, 4] },
        { t: 4, in: 400, out: 9, think: 3, api: 1, h: [first, 7] },
      ],
    }),
  ),
});

const turnsOf = (trace: RecordedTrace, options: Partial<TraceOptions> = {}, mostTurns = 1_000) => {
  const traffic = traceTraffic(trace, { ...TRACE_OPTIONS, seed: 1, cities: CITIES, ...options });
  const turns: (PlannedTurn & { readonly atMs: number })[] = [];
  visitTurns(traffic, { ...VISIT, mostTurns }, (turn, atMs) => turns.push({ ...turn, atMs }));
  return turns;
};
const blocksOf = (turn: PlannedTurn | undefined) => [...((turn?.blocks ?? []) as number[])];

describe("a trace of chats, played", () => {
  it("asks every turn once, spread over the 3 s that its time stands for, and the same for the same seed", () => {
    const turns = turnsOf(CHATS);
    assert.equal(turns.length, 40);
    turns.forEach(({ atMs }, at) => {
      const written = 15_000 * at;
      assert.ok(atMs >= written && atMs < written + 3_000, `${atMs} for ${written}`);
    });
    assert.equal(new Set(turns.map(({ atMs }) => atMs % 3_000)).size, 40);
    assert.deepEqual(turnsOf(CHATS), turns);
    assert.notDeepEqual(turnsOf(CHATS, { seed: 2 }), turns);
  });

  it("keeps the blocks of the prompt before, and names those of an answer as the next prompt does", () => {
    const [first, second] = turnsOf(CHATS);
    // 1 200 tokens of prompt and answer are two full blocks, 2 100 are four.
    assert.equal(blocksOf(first).length, 2);
    assert.deepEqual(blocksOf(second).slice(0, 2), blocksOf(first));
    assert.equal(blocksOf(second).length, 4);
  });

  it("lies over itself as often as asked for, sharing the system prompt alone, at the pace that it has", () => {
    const turns = turnsOf(CHATS, { copies: 3 });
    assert.equal(turns.length, 120);
    assert.equal(new Set(turns.map((turn) => blocksOf(turn)[0])).size, 1);
    assert.equal(new Set(turns.map((turn) => blocksOf(turn)[1])).size, 60);
    assert.equal(new Set(turns.map(({ conversation }) => conversation)).size, 60);
    for (const second of turns.filter(({ turn }) => turn === 2)) {
      const first = turns.find(({ conversation, turn }) => conversation === second.conversation && turn === 1);
      assert.ok(Math.abs(second.atMs - (first?.atMs ?? 0) - 15_000) <= 3_000);
    }
  });

  it("takes a part of a copy for what is left of a broken number", () => {
    const conversations = new Set(turnsOf(CHATS, { copies: 1.5 }).map(({ conversation }) => conversation));
    assert.ok(conversations.size > 22 && conversations.size < 38, `${conversations.size}`);
  });

  it("has halves without a session in common, both beginning at once", () => {
    const tuning = turnsOf(CHATS, { part: "tuning" });
    const reporting = turnsOf(CHATS, { part: "reporting" });
    assert.deepEqual([tuning.length, reporting.length], [20, 20]);
    assert.ok((reporting[0]?.atMs ?? 0) < 3_000);
    const private_ = (turns: readonly PlannedTurn[]) => new Set(turns.map((turn) => blocksOf(turn)[1]));
    assert.deepEqual(
      [...private_(tuning)].filter((block) => private_(reporting).has(block)),
      [],
    );
  });

  it("ends conversations before a prompt that is too long, and begins again when it is to be repeated", () => {
    assert.equal(turnsOf(CHATS, { mostPromptTokens: 1_500 }).length, 20);
    const repeated = turnsOf(CHATS, { isRepeated: true }, 100);
    assert.equal(repeated.length, 100);
    assert.equal(new Set(repeated.map(({ conversation }) => conversation)).size, 50);
  });

  it("has blocks of several of the trace's, shared as far as those are", () => {
    const [first, second] = turnsOf(CHATS, { blockTokens: 1_024 });
    assert.equal(blocksOf(first).length, 1);
    assert.deepEqual(blocksOf(second).slice(0, 1), blocksOf(first));
    assert.throws(() => turnsOf(CHATS, { blockTokens: 700 }), RangeError);
    assert.throws(() => turnsOf(CHATS, { mostPromptTokens: 10 }), RangeError);
  });

  it("is counted as what it is", () => {
    const statistics = trafficStatistics(traceTraffic(CHATS, { ...TRACE_OPTIONS, seed: 1, cities: CITIES }), VISIT);
    assert.deepEqual([statistics.turns, statistics.conversations, statistics.continuedFraction], [40, 20, 1]);
    assert.equal(statistics.growth.p50, 600);
    // First turns find the system prompt, but for the first; later ones two blocks.
    assert.equal(statistics.reusedFraction, (19 * 512 + 20 * 1_024) / (20 * 2_800));
    assert.equal(statistics.reusedByFirstFraction, (19 * 512) / (20 * 2_800));
  });
});

describe("a trace of agents, played", () => {
  it("plays each session once where nobody says how many users there are, after the answers", () => {
    const turns = turnsOf(AGENTS);
    assert.deepEqual(
      turns.map(({ asks }) => asks),
      [0, 0, 3_000, 3_000].map((thinkMs) => ({ kind: "after", thinkMs })),
    );
    // Two blocks of tools and system prompt are common, the ids of a session are not.
    const [one, other] = turns;
    assert.deepEqual(blocksOf(one).slice(0, 2), blocksOf(other).slice(0, 2));
    assert.notEqual(blocksOf(one)[2], blocksOf(other)[2]);
  });

  it("lets users take up one session after another, each with blocks of its own", () => {
    const turns = turnsOf(AGENTS, { users: 3 }, 200);
    assert.equal(turns.length, 200);
    const firsts = turns.filter(({ turn }) => turn === 1);
    assert.ok(firsts.length >= 90);
    assert.equal(new Set(firsts.map((turn) => blocksOf(turn)[2])).size, firsts.length);
  });
});
