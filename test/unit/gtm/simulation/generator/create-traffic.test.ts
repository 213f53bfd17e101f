/** Generated traffic: seeded, in order, chained, and as much of it as asked for. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CITIES } from "#gtm/simulation/cities.ts";
import { createTraffic } from "#gtm/simulation/generator/create-traffic.ts";
import type { GeneratorOptions, TrafficKind } from "#gtm/simulation/generator/generator-options.ts";
import type { PlannedTurn } from "#gtm/simulation/traffic.ts";

const KINDS: readonly TrafficKind[] = ["chat", "agents", "retrieval"];
const OPEN: GeneratorOptions["arrivals"] = { kind: "open", turnsPerSecond: 5, demand: null };
const CLOSED: GeneratorOptions["arrivals"] = { kind: "closed", users: 40 };

type Seen = { readonly startsAtMs: number; readonly city: string; readonly turns: readonly PlannedTurn[] };

/** The first clients, and at most so many turns of each. */
const seen = (kind: TrafficKind, arrivals: GeneratorOptions["arrivals"], seed = 1, clients = 40): Seen[] => {
  const traffic = createTraffic(kind, { seed, cities: CITIES, arrivals, blockTokens: null, longestPromptTokens: null });
  const all = traffic.clients();
  const found: Seen[] = [];
  for (let next = all.next(); !next.done && found.length < clients; next = all.next()) {
    const { startsAtMs, city } = next.value;
    const turns: PlannedTurn[] = [];
    for (let turn = next.value.next(); turn !== null && turns.length < 30; turn = next.value.next()) {
      turns.push({ ...turn, blocks: [...(turn.blocks as number[])] });
    }
    found.push({ startsAtMs, city: city.name, turns });
  }
  return found;
};

for (const kind of KINDS) {
  for (const arrivals of [OPEN, CLOSED]) {
    describe(`${kind} with arrivals that are ${arrivals.kind}`, () => {
      const clients = seen(kind, arrivals);

      it("is the same for the same seed, and another for another", () => {
        assert.deepEqual(seen(kind, arrivals), clients);
        assert.notDeepEqual(seen(kind, arrivals, 2), clients);
      });

      it("lets clients start one after another", () => {
        assert.equal(clients.length, 40);
        clients.forEach(({ startsAtMs }, at) => {
          assert.ok(startsAtMs >= (clients[at - 1]?.startsAtMs ?? 0));
        });
      });

      it("counts the turns of each conversation from 1, and names every full block of prompt and answer", () => {
        for (const { turns } of clients) {
          const last = new Map<number, number>();
          for (const { conversation, turn, promptTokens, outputTokens, blocks } of turns) {
            assert.equal(turn, (last.get(conversation) ?? 0) + 1);
            last.set(conversation, turn);
            assert.ok(promptTokens > 0 && outputTokens > 0);
            assert.ok(blocks.length >= Math.floor((promptTokens + outputTokens) / 512));
          }
        }
      });

      it("never gives one conversation's number to two clients", () => {
        const owners = new Map<number, number>();
        clients.forEach(({ turns }, client) => {
          for (const { conversation } of turns) {
            assert.equal(owners.get(conversation) ?? client, client);
            owners.set(conversation, client);
          }
        });
      });
    });
  }
}

describe("generated chats", () => {
  it("begin with the same block for everybody and go on with their own", () => {
    const clients = seen("chat", OPEN);
    const firsts = clients.map(({ turns }) => turns[0]?.blocks as number[]);
    assert.equal(new Set(firsts.map((blocks) => blocks[0])).size, 1);
    assert.ok(new Set(firsts.map((blocks) => blocks[1])).size > 20);
  });

  it("keep all blocks of a turn in the next", () => {
    for (const { turns } of seen("chat", OPEN, 3, 200)) {
      turns.forEach(({ blocks, promptTokens }, at) => {
        const next = turns[at + 1];
        if (next === undefined) return;
        const full = Math.floor(promptTokens / 512);
        assert.deepEqual((next.blocks as number[]).slice(0, full), (blocks as number[]).slice(0, full));
      });
    }
  });

  it("ask by the clock in an open loop, after the answer in a closed one", () => {
    const kindsOf = (clients: readonly Seen[]) =>
      new Set(clients.flatMap(({ turns }) => turns.map(({ asks }) => asks.kind)));
    assert.deepEqual([...kindsOf(seen("chat", OPEN))], ["at"]);
    assert.deepEqual([...kindsOf(seen("chat", CLOSED))], ["after"]);
    assert.deepEqual([...kindsOf(seen("agents", OPEN))], ["after"]);
  });
});
