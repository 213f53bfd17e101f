import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CHAT, CODING_AGENT, createUsers, type PlannedTurn } from "#gtm/simulation/workload.ts";

const turnsOf = (workload: Parameters<typeof createUsers>[0], each: number): readonly PlannedTurn[][] =>
  createUsers(workload).map((user) => Array.from({ length: each }, user.nextTurn));
const medianOf = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
const near = (value: number, expected: number, within: number): void =>
  assert.ok(Math.abs(value / expected - 1) < within, `${value}, not ${expected}`);

describe("simulated clients", () => {
  it("say the same in the same order from the same seed, however their turns interleave", () => {
    const workload = { chats: 3, agents: 2, seed: 7 };
    const [first, second] = [createUsers(workload), createUsers(workload)];
    const inTurn = Array.from({ length: 5 }, () => first.map((user) => user.nextTurn()));
    const oneByOne = second.map((user) => Array.from({ length: 5 }, user.nextTurn));
    for (const [user, turns] of oneByOne.entries()) {
      assert.deepEqual(
        turns.map(({ promptTokens, outputTokens, thinkMs }) => [promptTokens, outputTokens, thinkMs]),
        inTurn.map((round) => round[user]).map((turn) => [turn?.promptTokens, turn?.outputTokens, turn?.thinkMs]),
      );
    }
  });

  it("think as long as measured: chats 126 s, coding agents 10 s in the median", () => {
    const think = (kind: { chats: number; agents: number }) =>
      medianOf(
        turnsOf({ ...kind, seed: 1 }, 20)
          .flat()
          .map(({ thinkMs }) => thinkMs),
      );
    near(think({ chats: 200, agents: 0 }), CHAT.thinkMs.p50, 0.1);
    near(think({ chats: 0, agents: 200 }), CODING_AGENT.thinkMs.p50, 0.1);
  });

  it("grow by 480 tokens a turn in the median of chats, and end one turn in four", () => {
    const turns = turnsOf({ chats: 300, agents: 0, seed: 2 }, 20);
    const growths = turns.flatMap((list) =>
      list.flatMap((turn, at) => {
        const before = list[at - 1];
        return before?.conversation === turn.conversation ? [turn.promptTokens - before.promptTokens] : [];
      }),
    );
    near(medianOf(growths), 480, 0.1);
    // Everybody's very first turn begins a conversation without another having ended.
    const later = turns.flatMap((list) => list.slice(1));
    near(later.filter(({ turn }) => turn === 1).length / later.length, 1 - CHAT.nextTurnFraction, 0.1);
    for (const { promptTokens } of turns.flat()) assert.ok(promptTokens <= CHAT.longestPromptTokens);
  });

  it("share the blocks of their system prompt, and nothing else", () => {
    const [one, two] = turnsOf({ chats: 2, agents: 0, seed: 3 }, 1).map(([turn]) => turn?.conversation.blocks ?? []);
    const shared = CHAT.systemTokens / 16;
    assert.deepEqual(one?.slice(0, shared), two?.slice(0, shared));
    assert.equal(
      new Set([...(one ?? []).slice(shared), ...(two ?? []).slice(shared)]).size,
      (one?.length ?? 0) + (two?.length ?? 0) - 2 * shared,
    );
  });

  it("keep the blocks of earlier turns as their conversation grows", () => {
    const [user] = createUsers({ chats: 0, agents: 1, seed: 4 });
    const first = user?.nextTurn();
    const before = first?.conversation.blocks.slice() ?? [];
    const second = user?.nextTurn();
    assert.equal(second?.conversation, first?.conversation);
    assert.ok((second?.conversation.blocks.length ?? 0) > before.length);
    assert.deepEqual(second?.conversation.blocks.slice(0, before.length), before);
  });

  it("live unevenly over the three areas: half of them in Europe and Africa", () => {
    const users = createUsers({ chats: 2_000, agents: 0, seed: 5 });
    const longitudes = users.map(({ city }) => city.location.longitude);
    near(longitudes.filter((degrees) => degrees > -20 && degrees < 40).length / 2_000, 0.5, 0.1);
    near(longitudes.filter((degrees) => degrees <= -20).length / 2_000, 0.3, 0.1);
  });
});
