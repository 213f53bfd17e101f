/** A gateway whose one engine is a router of the region's own: two engines behind one address, of which it is told nothing. */
import assert from "node:assert/strict";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { after, before, describe, it } from "node:test";
import { regionReplicas } from "#edge-agent/gateway/region-replicas.ts";
import type { WatchedReplicas } from "#edge-agent/gateway/replicas.ts";
import { systemClock } from "#shared/clock.ts";
import { turnsChannel } from "#shared/keys.ts";
import { silentLogger } from "#shared/logger.ts";
import { type MeasuredTurn, TurnBatch } from "#shared/measured-turn.ts";
import { createMetrics } from "#shared/metrics.ts";
import { createLabels, ephemeralLabelKeys } from "#shared/pin-token.ts";
import { createMemoryStore } from "#shared/store-memory.ts";
import { type RunningSimulator, SIMULATED_MODEL, startSimulator } from "#test/support/engine-simulators.ts";
import { gatewayConfig, openGateway, type TestGateway, ZONE } from "#test/support/gateway.ts";
import { until } from "#test/support/until.ts";

const CHATS = ["alice", "bob", "carol", "dave"];
const TURNS = 3;
const store = createMemoryStore(systemClock);
const turns: MeasuredTurn[] = [];
let engines: readonly RunningSimulator[] = [];
let routerPort = 0;
let replicas: WatchedReplicas;
let gateway: TestGateway;

/** By the first words of a chat, as routers with prefix affinity do; it shows models, and no metrics of engines. */
const route = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
  if (incoming.url === "/metrics") return void outgoing.writeHead(404).end();
  const body = await text(incoming);
  const opening = /"content":"(\w+)/.exec(body)?.[1] ?? "";
  const { port } = engines[CHATS.indexOf(opening) % 2 === 1 ? 1 : 0] ?? assert.fail("no engine");
  const { method, url, headers } = incoming;
  const onward = request({ port, method, path: url, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(outgoing);
  });
  onward.on("error", () => outgoing.destroy());
  onward.end(body);
};
const router = createServer((incoming, outgoing) => void route(incoming, outgoing));

before(async () => {
  engines = [await startSimulator({ replicas: 1 }), await startSimulator({ replicas: 1 })];
  await new Promise<void>((resolve) => router.listen(0, "127.0.0.1", resolve));
  routerPort = (router.address() as AddressInfo).port;
  const config = gatewayConfig({ engines: [{ url: `http://127.0.0.1:${routerPort}`, router: true }] });
  const keys = { labels: createLabels(ephemeralLabelKeys()), reportKey: () => null };
  const by = { store, keys, clock: systemClock, log: silentLogger, metrics: createMetrics() };
  replicas = regionReplicas(config, by);
  gateway = await openGateway({ replicas, store });
  await store.subscribe(turnsChannel(), (message) => turns.push(...TurnBatch.parse(JSON.parse(message)).turns));
});
after(async () => {
  await gateway[Symbol.asyncDispose]();
  router.closeAllConnections();
  router.close();
  for (const engine of engines) await engine[Symbol.asyncDispose]();
});

/** @returns the status and which replica the gateway says it was */
const ask = (chat: string, messages: readonly object[]): Promise<string> =>
  new Promise((resolve, reject) => {
    const headers = { host: `${chat}.c.${ZONE}`, "content-type": "application/json" };
    const asked = request({ port: gateway.port, method: "POST", path: "/v1/chat/completions", headers }, (answer) => {
      answer.resume().on("end", () => resolve(`${answer.statusCode} ${answer.headers["x-gtm-replica"]}`));
      answer.on("error", reject);
    });
    asked.on("error", reject);
    const options = { stream: true, max_tokens: 8, stream_options: { include_usage: true } };
    asked.end(JSON.stringify({ model: SIMULATED_MODEL, messages, ...options }));
  });

describe("chats through a router that keeps each on its own engine", () => {
  const answers: string[] = [];
  before(async () => {
    const chat = async (name: string): Promise<void> => {
      const messages: object[] = [];
      for (let turn = 0; turn < TURNS; turn++) {
        messages.push({ role: "user", content: `${name} ${turn} ${"words of a question ".repeat(60)}` });
        answers.push(await ask(name, messages));
        messages.push({ role: "assistant", content: "an answer" });
      }
    };
    // All at once: the router's engines prefill side by side.
    await Promise.all(CHATS.map(chat));
    await until(() => turns.length === CHATS.length * TURNS, "all turns to be announced");
  });

  it("are all served, by what the gateway takes for one replica", () => {
    assert.deepEqual(new Set(answers), new Set([`200 127.0.0.1:${routerPort}/0`]));
  });
  it("are measured, but for what nobody sees: how long a turn waited behind which other", () => {
    for (const one of Map.groupBy(turns, ({ conversation }) => conversation).values()) {
      const cached = one.map(({ cachedTokens }) => cachedTokens ?? Number.NaN);
      for (let at = 1; at < cached.length; at++) assert.ok((cached[at] ?? 0) > (cached[at - 1] ?? 0), `${cached}`);
    }
    assert.ok(turns.every(({ ttftMs, outcome }) => (ttftMs ?? 0) > 0 && outcome === "served"));
    assert.deepEqual(new Set(turns.map(({ queuedMs }) => queuedMs)), new Set([null]));
  });
  it("leave the agent its own view: no backlog and no speed is told of the router", () => {
    const rows = replicas.page().replicas.map(({ isRouter, backlogMs, prefillLinMs, inFlight }) => {
      return { isRouter, backlogMs, prefillLinMs, inFlight };
    });
    // A router that does not say what it serves has no row at all.
    for (const row of rows) assert.deepEqual(row, { isRouter: true, backlogMs: null, prefillLinMs: null, inFlight: 0 });
    assert.equal(replicas.answering(), 1);
  });
});
