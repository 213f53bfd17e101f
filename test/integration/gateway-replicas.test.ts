/** A gateway before two data-parallel replicas whose own router knows nothing of contexts: real sockets, label to ledger. */
import assert from "node:assert/strict";
import { request } from "node:http";
import { after, before, describe, it } from "node:test";
import { createReplicas, type WatchedReplicas } from "#edge-agent/gateway/replicas.ts";
import { systemClock } from "#shared/clock.ts";
import type { RegionId } from "#shared/ids.ts";
import { conversationKey, turnsChannel } from "#shared/keys.ts";
import { silentLogger } from "#shared/logger.ts";
import { type MeasuredTurn, TurnBatch } from "#shared/measured-turn.ts";
import { createMetrics } from "#shared/metrics.ts";
import { ConversationRecord } from "#shared/packed-conversation.ts";
import { createLabels, ephemeralLabelKeys } from "#shared/pin-token.ts";
import { createMemoryStore } from "#shared/store-memory.ts";
import { type RunningSimulator, SIMULATED_MODEL, startSimulator } from "#test/support/engine-simulators.ts";
import { openGateway, REGION, type TestGateway, ZONE } from "#test/support/gateway.ts";
import { createManualClock } from "#test/support/manual-clock.ts";
import { until } from "#test/support/until.ts";

const LABELS = ["alice", "bob", "carol", "dave"];
const TURNS = 6;
/** Stands still, so that a busy machine does not make a replica look slow. */
const clock = createManualClock();
const store = createMemoryStore(systemClock);
const turns: MeasuredTurn[] = [];
let engine: RunningSimulator;
let replicas: WatchedReplicas;
let gateway: TestGateway;

before(async () => {
  engine = await startSimulator({ replicas: 2, routing: "round-robin" });
  replicas = createReplicas({
    ...{ region: REGION as RegionId, gateway: "gateway-1", models: new Map(), queue: { factor: 3, floorMs: 60_000 } },
    engines: [
      {
        origin: engine.origin,
        address: `127.0.0.1:${engine.port}`,
        apiKey: null,
        engine: "auto",
        slots: null,
        isRouter: false,
      },
    ],
    ...{ store, clock, log: silentLogger, metrics: createMetrics(), random: Math.random },
    labels: createLabels(ephemeralLabelKeys()),
    reportKey: () => null,
  });
  gateway = await openGateway({ replicas, store, clock });
  await store.subscribe(turnsChannel(), (message) => turns.push(...TurnBatch.parse(JSON.parse(message)).turns));
});
after(async () => {
  await gateway[Symbol.asyncDispose]();
  await engine[Symbol.asyncDispose]();
});

/** @returns which replica answered, once the whole stream was read */
const ask = (label: string, messages: readonly object[]): Promise<string> =>
  new Promise((resolve, reject) => {
    const body = JSON.stringify({
      ...{ model: SIMULATED_MODEL, messages, stream: true, max_tokens: 8 },
      stream_options: { include_usage: true },
    });
    const headers = { host: `${label}.c.${ZONE}`, "content-type": "application/json" };
    const asked = request({ port: gateway.port, method: "POST", path: "/v1/chat/completions", headers }, (answer) => {
      answer.on("data", () => undefined);
      answer.on("end", () => resolve(`${answer.statusCode} ${answer.headers["x-gtm-replica"]}`));
      answer.on("error", reject);
    });
    asked.on("error", reject);
    asked.end(body);
  });

describe("four labels, six turns each, interleaved", () => {
  const answered = new Map<string, Set<string>>();
  before(async () => {
    const chats = new Map(LABELS.map((label) => [label, [] as { role: string; content: string }[]]));
    for (let turn = 0; turn < TURNS; turn++) {
      for (const [label, messages] of chats) {
        messages.push({ role: "user", content: `${label} ${turn} ${"words of a question ".repeat(60)}` });
        answered.set(label, (answered.get(label) ?? new Set()).add(await ask(label, messages)));
        messages.push({ role: "assistant", content: "an answer" });
      }
    }
    await until(() => turns.length === LABELS.length * TURNS, "all turns to be announced");
  });

  it("each stay on one replica, and both replicas have some of them", () => {
    for (const [label, one] of answered) assert.equal(one.size, 1, `${label}: ${[...one].join(", ")}`);
    const all = new Set([...answered.values()].flatMap((one) => [...one]));
    assert.deepEqual(
      [...all].sort(),
      [0, 1].map((rank) => `200 127.0.0.1:${engine.port}/${rank}`),
    );
  });
  it("are measured: the engine finds from turn to turn more of the prompt in its cache, as was promised", () => {
    const byConversation = Map.groupBy(turns, ({ conversation }) => conversation);
    assert.equal(byConversation.size, LABELS.length);
    for (const one of byConversation.values()) {
      const cached = one.map(({ cachedTokens }) => cachedTokens ?? Number.NaN);
      for (let at = 1; at < cached.length; at++) assert.ok((cached[at] ?? 0) > (cached[at - 1] ?? 0), `${cached}`);
      const later = one.slice(1);
      const kept = later.filter((turn) => (turn.cachedTokens ?? 0) >= 0.8 * (turn.predictedCachedTokens ?? Infinity));
      assert.equal(kept.length, later.length);
      for (const turn of one) assert.ok(turn.ttftMs !== null && turn.outcome === "served");
    }
  });
  it("make the ledger's entries: home, replica, and the tokens that are really there", async () => {
    for (const [id, one] of Map.groupBy(turns, ({ conversation }) => conversation)) {
      assert.ok(id !== null);
      const last = one.at(-1);
      const read = async (): Promise<ConversationRecord | null> => {
        const stored = await store.get(conversationKey(id));
        return stored === null ? null : ConversationRecord.parse(JSON.parse(stored.value));
      };
      await until(async () => (await read())?.n === TURNS, "every turn to be counted");
      const [home] = (await read())?.h ?? [];
      const tokens = (last?.promptTokens ?? 0) + (last?.completionTokens ?? 0);
      assert.deepEqual(home?.slice(0, 3), [REGION, last?.replica, tokens]);
    }
  });
  it("leave a page of both replicas with nothing in flight", () => {
    const page = replicas.page();
    assert.equal(page.replicas.length, 2);
    for (const row of page.replicas) assert.deepEqual([row.backlogMs, row.inFlight], [0, 0]);
  });
});
