import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { describe, it } from "node:test";
import {
  QUICK_ENGINE,
  type RunningSimulator,
  SIMULATED_MODEL,
  startSimulator,
} from "#test/support/engine-simulators.ts";

const SLOW_ANSWERS = { ...QUICK_ENGINE, itlMs: 50 };
const chat = (wish: object = {}) => ({
  model: SIMULATED_MODEL,
  messages: [{ role: "user", content: "Hi" }],
  max_tokens: 2,
  ...wish,
});
const send = (simulator: RunningSimulator, body: string, init: RequestInit = {}) =>
  fetch(`${simulator.origin}/v1/chat/completions`, { method: "POST", body, ...init });

describe("an engine simulator's answers", () => {
  it("name the region and echo the request's id", async () => {
    await using simulator = await startSimulator();
    const response = await send(simulator, JSON.stringify(chat()), { headers: { "x-request-id": "turn-7" } });
    assert.equal(response.headers.get("x-sim-region"), "eu-central");
    assert.equal(response.headers.get("x-request-id"), "turn-7");
    assert.equal(response.status, 200);
    await response.arrayBuffer();
  });

  const refusals: readonly { when: string; body: string; status: number; says: RegExp }[] = [
    { when: "the body is no JSON", body: '{"model":', status: 400, says: /not valid JSON/ },
    { when: "there are no messages", body: JSON.stringify(chat({ messages: [] })), status: 400, says: /messages/ },
    { when: "max_tokens is 0", body: JSON.stringify(chat({ max_tokens: 0 })), status: 400, says: /max_tokens/ },
    { when: "two answers are wanted", body: JSON.stringify(chat({ n: 2 })), status: 400, says: /at n/ },
    {
      when: "the model is not served",
      body: JSON.stringify(chat({ model: "x" })),
      status: 404,
      says: /does not exist/,
    },
    { when: "the body has over 64 MiB", body: "x".repeat(64 * 1_048_576 + 1), status: 413, says: /at most 67108864/ },
  ];
  for (const { when, body, status, says } of refusals) {
    it(`are ${status} in OpenAI's form when ${when}`, async () => {
      await using simulator = await startSimulator();
      const response = await send(simulator, body);
      const { error } = (await response.json()) as { error: { message: string; type: string; code: number } };
      assert.equal(response.status, status);
      assert.match(error.message, says);
      assert.equal(error.code, status);
      assert.match(error.type, /Error$/);
    });
  }

  it("are 404 for an unknown path and 405 for an unknown method, as JSON", async () => {
    await using simulator = await startSimulator();
    const lost = await fetch(`${simulator.origin}/v1/nothing?x=1`, { method: "POST", body: "anything" });
    assert.equal(lost.status, 404);
    assert.equal(((await lost.json()) as { error: { code: number } }).error.code, 404);
    const wrong = await fetch(`${simulator.origin}/v1/chat/completions`);
    assert.equal(wrong.status, 405);
    assert.equal(wrong.headers.get("allow"), "POST");
    await wrong.arrayBuffer();
  });

  it("take a prompt of 20 MB, where the context allows it", async () => {
    const engine = { ...QUICK_ENGINE, speed: { linMs: 1e-6, attnMs: 0 }, kvTokens: 8_000_000 };
    await using simulator = await startSimulator({ contextLimitTokens: 8_000_000, engine });
    const response = await send(
      simulator,
      JSON.stringify(chat({ messages: [{ role: "user", content: "x".repeat(20_000_000) }] })),
    );
    const { usage } = (await response.json()) as { usage: { prompt_tokens: number } };
    assert.ok(usage.prompt_tokens > 5_000_000);
  });
});

describe("a client that goes away", () => {
  it("frees its slot while its answer is streamed", async () => {
    await using simulator = await startSimulator({ replicas: 1, engine: { ...SLOW_ANSWERS, maxRunning: 1 } });
    const gone = new AbortController();
    const response = await send(simulator, JSON.stringify(chat({ max_tokens: 500, ignore_eos: true, stream: true })), {
      signal: gone.signal,
    });
    await response.body?.getReader().read();
    const [before] = (await simulator.until(({ replicas }) => replicas[0]?.running === 1)).replicas;
    assert.ok((before?.kvUsedFraction ?? 0) > 0);
    gone.abort();
    const state = await simulator.until(({ replicas }) => replicas[0]?.running === 0);
    assert.equal(state.replicas[0]?.counters.finished.abort, 1);
    assert.equal(state.replicas[0]?.kvUsedFraction, 0);
  });

  it("leaves the queue when it had not been served yet", async () => {
    await using simulator = await startSimulator({ replicas: 1, engine: { ...SLOW_ANSWERS, maxRunning: 1 } });
    const gone = new AbortController();
    const bodies = [1, 2].map((id) =>
      JSON.stringify(chat({ max_tokens: 500, ignore_eos: true, messages: [{ role: "user", content: `${id}` }] })),
    );
    const answers = bodies.map((body) => send(simulator, body, { signal: gone.signal }).catch(() => "gone"));
    await simulator.until(({ replicas }) => replicas[0]?.waiting === 1 && replicas[0].running === 1);
    gone.abort();
    const state = await simulator.until(({ replicas }) => replicas[0]?.waiting === 0 && replicas[0].running === 0);
    assert.equal(state.replicas[0]?.counters.finished.abort, 2);
    assert.deepEqual(await Promise.all(answers), ["gone", "gone"]);
  });

  it("in the middle of its body leaves nothing behind", async () => {
    await using simulator = await startSimulator();
    const socket = connect(simulator.port, "127.0.0.1");
    await once(socket, "connect");
    socket.write("POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{");
    await simulator.json("/sim/state");
    socket.destroy();
    const answer = (await simulator.json("/v1/chat/completions", chat())) as { object: string };
    assert.equal(answer.object, "chat.completion");
  });
});

describe("a client that drips its body", () => {
  it("does not hold up others, and is served when its last byte has come", async () => {
    await using simulator = await startSimulator();
    const body = JSON.stringify(chat());
    const socket = connect(simulator.port, "127.0.0.1");
    await once(socket, "connect");
    socket.setNoDelay(true);
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n`,
    );
    for (const byte of body.slice(0, -1)) {
      socket.write(byte);
      if (byte === ",") {
        const other = (await simulator.json("/v1/chat/completions", chat())) as { object: string };
        assert.equal(other.object, "chat.completion");
      }
    }
    socket.write(body.slice(-1));
    let text = "";
    for await (const chunk of socket) text += String(chunk);
    assert.match(text, /^HTTP\/1\.1 200 OK[\s\S]*chat\.completion/);
  });
});

describe("five hundred requests at once", () => {
  it("are all answered, each once, by both replicas", async () => {
    await using simulator = await startSimulator();
    const ids = await Promise.all(
      Array.from({ length: 500 }, async (_, at) => {
        const asked = chat({ messages: [{ role: "user", content: `${at} ${"word ".repeat(100)}` }] });
        return ((await simulator.json("/v1/chat/completions", asked)) as { id: string }).id;
      }),
    );
    assert.equal(new Set(ids).size, 500);
    const { replicas } = await simulator.until(() => true);
    const finished = replicas.map(({ counters }) => counters.finished.length);
    assert.equal(
      finished.reduce((a, b) => a + b, 0),
      500,
    );
    assert.ok(
      finished.every((count) => count > 100),
      `${finished}`,
    );
  });
});

describe("POST /sim/hold", () => {
  const AT_8_000_TOKENS_A_SECOND = { ...QUICK_ENGINE, speed: { linMs: 0.125, attnMs: 0 } };

  it("keeps 3 fillers waiting in one replica's queue, each replaced when it starts, until 0 ends it", async () => {
    await using simulator = await startSimulator({ engine: AT_8_000_TOKENS_A_SECOND });
    assert.deepEqual(await simulator.json("/sim/hold", { waiting: 3, replica: 1 }), { waiting: [0, 3] });
    const [idle, held] = (await simulator.until(() => true)).replicas;
    assert.deepEqual([idle?.waiting, idle?.backlogMs], [0, 0]);
    assert.deepEqual([held?.running, held?.waiting], [1, 3]);
    // Three of 500 ms, and what is left of the one being computed.
    assert.ok((held?.backlogMs ?? 0) > 1_500 && (held?.backlogMs ?? 0) <= 2_000, `${held?.backlogMs}`);
    const later = await simulator.until(({ replicas }) => (replicas[1]?.counters.finished.length ?? 0) >= 1);
    assert.equal(later.replicas[1]?.waiting, 3);
    await simulator.json("/sim/hold", { waiting: 0 });
    const after = await simulator.until(({ replicas }) => replicas[1]?.waiting === 0);
    assert.equal(after.replicas[1]?.held, 0);
  });

  it("holds every replica where none is named, and refuses one that there is not", async () => {
    await using simulator = await startSimulator({ engine: AT_8_000_TOKENS_A_SECOND });
    assert.deepEqual(await simulator.json("/sim/hold", { waiting: 2 }), { waiting: [2, 2] });
    assert.deepEqual(await simulator.json("/sim/hold", { waiting: 0, replica: "all" }), { waiting: [0, 0] });
    const refused = (await simulator.json("/sim/hold", { waiting: 1, replica: 2 })) as { error: { message: string } };
    assert.match(refused.error.message, /there are 2 replicas/);
    const wrong = (await simulator.json("/sim/hold", { waiting: -1 })) as { error: { code: number } };
    assert.equal(wrong.error.code, 400);
  });

  it("makes a request wait: behind 2 fillers its first token takes over a second", async () => {
    await using simulator = await startSimulator({ replicas: 1, engine: AT_8_000_TOKENS_A_SECOND });
    await simulator.json("/sim/hold", { waiting: 2 });
    const fromMs = performance.now();
    await simulator.json("/v1/chat/completions", chat());
    const tookMs = performance.now() - fromMs;
    assert.ok(tookMs > 1_000, `${tookMs}`);
  });
});
