/** Turns that this region refuses, and a gateway on its way out: the turn goes to another region, or its client is told to come again. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { request } from "undici";
import { systemClock } from "#shared/clock.ts";
import { ConversationId, RegionId } from "#shared/ids.ts";
import { RefusedRecord } from "#shared/records.ts";
import { createMemoryStore } from "#shared/store-memory.ts";
import { createTicketSealer, TicketClaims } from "#shared/ticket.ts";
import { regionTicketKeysText, ticketRingOf } from "#shared/ticket-keys.ts";
import { createFallibleStore } from "#test/support/fallible-store.ts";
import { openGateway, REGION_HOST } from "#test/support/gateway.ts";
import { rawConnect } from "#test/support/http-by-hand.ts";
import { keyFolder, ringKey } from "#test/support/key-folder.ts";
import { createManualClock } from "#test/support/manual-clock.ts";
import { plainReplicas } from "#test/support/plain-replicas.ts";
import { chunkOf, saying, startTalkingEngine } from "#test/support/talking-engine.ts";
import { until } from "#test/support/until.ts";

const PARIS = RegionId.parse("paris");
const CONVERSATION = ConversationId.parse("0123456789abc");
const PATH = "/v1/chat/completions?a=1";
const BODY = JSON.stringify({ model: "m", messages: [] });
const PIN = `p1${"a".repeat(40)}`;
const QUEUE = { kind: "refused", reason: "queue", retryAfterMs: 2_500 } as const;

const keyed = () => {
  const folder = keyFolder();
  const ticketFile = join(folder.path, "ticket.keys");
  writeFileSync(ticketFile, regionTicketKeysText(ticketRingOf([ringKey(7)], PARIS), PARIS));
  const keys = { identity_file: folder.files.identity, signing_file: folder.files.signing, ticket_file: ticketFile };
  return { folder, settings: { keys } };
};

const ticketed = async (
  port: number,
  alternates: readonly { region: string; origin: string }[],
  body: string | Buffer = BODY,
) => {
  const claims = TicketClaims.parse({
    ...{ v: 1, method: "POST", host: REGION_HOST, path: PATH, pool: "chat", model: "llama-70b", alternates },
    ...{ conversation: CONVERSATION, pin: PIN, decision: "01JDXV3Z000000000000000001", predictedTtftMs: 180 },
    ...{
      clientPrefix: "192.0.2.0/24",
      headers: [["authorization", "Bearer demo-key"]],
      outputTokens: 256,
      promptTokens: 20_000,
    },
  });
  const ticket = await createTicketSealer([ringKey(7)]).seal(PARIS, claims, Date.now());
  const headers = { host: REGION_HOST, "x-forwarded-for": "203.0.113.9", "x-input-tokens": "7" };
  return request(`http://127.0.0.1:${port}${PATH}&gtm_ticket=${ticket}`, { method: "POST", body, headers });
};

const refusedOf = async (store: { get: (key: string) => Promise<{ value: string } | null> }) => {
  const stored = await store.get(`gtm:v1:refused:{${CONVERSATION}}`);
  return stored === null ? null : RefusedRecord.parse(JSON.parse(stored.value));
};

describe("a turn that this region refuses", () => {
  it("is sent on with its key to the first region that takes it, and the GTMs hear of the refusal", async () => {
    const { folder, settings } = keyed();
    using _ = folder;
    await using full = await startTalkingEngine(saying({ code: "queue" }, 503));
    await using berlin = await startTalkingEngine((_asked, response) => {
      response.writeHead(200, { "content-type": "text/event-stream", "x-gtm-region": "berlin" });
      response.end(chunkOf("from berlin"));
    });
    const replicas = plainReplicas([]);
    replicas.refusal = QUEUE;
    await using gateway = await openGateway({ replicas, settings });
    const changes: string[] = [];
    await gateway.store.subscribe("gtm:v1:changed", (message) => void changes.push(message));
    const answer = await ticketed(gateway.port, [
      { region: "madrid", origin: full.origin },
      { region: "berlin", origin: berlin.origin },
    ]);
    assert.equal(answer.statusCode, 200);
    assert.equal(answer.headers["x-gtm-region"], "berlin");
    assert.equal(await answer.body.text(), chunkOf("from berlin"));
    const [first, second] = [full.heard[0], berlin.heard[0]];
    assert.deepEqual([first?.headers["x-gtm-hop"], second?.headers["x-gtm-hop"]], ["1", "2"]);
    assert.equal(second?.url, `${PATH}&gtm_c=${PIN}`);
    assert.equal(second?.body, BODY);
    assert.equal(second?.headers.authorization, "Bearer demo-key");
    assert.equal(second?.headers["x-gtm-model"], "llama-70b");
    assert.equal(second?.headers["x-input-tokens"], "20000");
    assert.equal(second?.headers["x-forwarded-for"], "192.0.2.0");
    await until(async () => (await refusedOf(gateway.store))?.reason === "queue");
    assert.deepEqual(await refusedOf(gateway.store), { v: 1, region: "paris", reason: "queue" });
    await until(() => changes.length === 1);
    assert.match(await gateway.metricsText(), /gtm_gateway_hops_total\{to="berlin",outcome="served"\} 1/);
  });

  it("is 503 and worth trying again where no region takes it", async () => {
    const { folder, settings } = keyed();
    using _ = folder;
    await using full = await startTalkingEngine(saying({ code: "queue" }, 503));
    const replicas = plainReplicas([]);
    replicas.refusal = QUEUE;
    await using gateway = await openGateway({ replicas, settings });
    const answer = await ticketed(gateway.port, [
      { region: "madrid", origin: full.origin },
      { region: "berlin", origin: "http://127.0.0.1:9" },
    ]);
    assert.equal(answer.statusCode, 503);
    assert.equal(answer.headers["x-should-retry"], "true");
    assert.equal(answer.headers["retry-after"], "3");
    assert.equal(((await answer.body.json()) as { code: string }).code, "queue");
  });

  it("goes no further where another gateway sent it on, and where no ticket names a region", async () => {
    const replicas = plainReplicas([]);
    replicas.refusal = { kind: "refused", reason: "model-gone", retryAfterMs: 200 };
    await using gateway = await openGateway({ replicas });
    for (const hop of ["1", "2", "77", "x"]) {
      const headers = { "x-gtm-hop": hop, "x-forwarded-for": "192.0.2.1" };
      const answer = await request(`http://127.0.0.1:${gateway.port}/v1/x`, { method: "POST", body: BODY, headers });
      assert.equal(answer.statusCode, 503);
      assert.equal(answer.headers["retry-after"], "1");
      await answer.body.dump();
    }
    // The connection is the other gateway's, and not the client's.
    assert.deepEqual(
      replicas.turns.map(({ clientPrefix }) => clientPrefix),
      [null, null, null, null],
    );
  });

  it("is sent on also with a body that is not kept, since nothing of it was sent", async () => {
    const { folder, settings } = keyed();
    using _ = folder;
    await using berlin = await startTalkingEngine((_asked, response, body) => void response.end(`${body.length}`));
    const replicas = plainReplicas([]);
    replicas.refusal = QUEUE;
    await using gateway = await openGateway({ replicas, settings });
    const answer = await ticketed(
      gateway.port,
      [{ region: "berlin", origin: berlin.origin }],
      Buffer.alloc(2_500_000, "x"),
    );
    assert.equal(await answer.body.text(), "2500000");
  });

  it("is refused alike while the store is away, and that the GTMs do not hear of it is counted", async () => {
    const { folder, settings } = keyed();
    using _ = folder;
    const store = createFallibleStore(createMemoryStore(systemClock));
    const replicas = plainReplicas([]);
    replicas.refusal = QUEUE;
    await using gateway = await openGateway({ replicas, settings, store });
    store.isAway = true;
    assert.equal((await ticketed(gateway.port, [])).statusCode, 503);
    await until(async () =>
      (await gateway.metricsText()).includes('gtm_gateway_refusals_untold_total{reason="store"} 1'),
    );
    assert.equal(gateway.log.lines.filter(({ event }) => event === "refusal.untold").length, 1);
  });
});

describe("a region that operators drain", () => {
  const order = (admin: string, expiresAtMs: number | null = null): string =>
    JSON.stringify({
      ...{ v: 1, rev: 1, overrides: [] },
      regions: [{ region: "paris", admin, comment: "c", actor: "a", orderedAtMs: Date.now(), expiresAtMs }],
    });
  const cases: readonly { admin: string; status: number; connection: string }[] = [
    { admin: "drain-new", status: 200, connection: "keep-alive" },
    { admin: "drain-all", status: 200, connection: "close" },
    { admin: "down", status: 503, connection: "close" },
    { admin: "active", status: 200, connection: "keep-alive" },
  ];
  it("ends connections after their turn when all are to go, refuses turns when it is down, and looks alive to probes", async () => {
    await using engine = await startTalkingEngine(saying({ ok: true }));
    await using gateway = await openGateway({ replicas: plainReplicas([engine.origin]) });
    for (const { admin, status, connection } of cases) {
      await gateway.store.put("gtm:v1:orders", order(admin), null);
      await gateway.store.announce("gtm:v1:changed", JSON.stringify({ key: "gtm:v1:orders", rev: 1 }));
      const ask = async () => {
        const answer = await request(`http://127.0.0.1:${gateway.port}/v1/x`, { method: "POST", body: BODY });
        await answer.body.dump();
        return [answer.statusCode, answer.headers["connection"]];
      };
      await until(async () => String(await ask()) === String([status, connection]), admin);
      const probe = await request(`http://127.0.0.1:${gateway.port}/healthz`);
      assert.deepEqual([probe.statusCode, await probe.body.text()], [200, "ok\n"], admin);
    }
  });

  it("serves again when the order has expired, and keeps the last order while the store is away", async () => {
    const clock = createManualClock();
    const store = createFallibleStore(createMemoryStore(clock));
    await store.put("gtm:v1:orders", order("down", clock.epochMs() + 60_000), null);
    await using engine = await startTalkingEngine(saying({ ok: true }));
    await using gateway = await openGateway({ replicas: plainReplicas([engine.origin]), store, clock });
    store.isAway = true;
    const status = async (): Promise<number> => {
      const answer = await request(`http://127.0.0.1:${gateway.port}/v1/x`, { method: "POST", body: BODY });
      await answer.body.dump();
      return answer.statusCode;
    };
    clock.advance(59_999);
    assert.equal(await status(), 503);
    clock.advance(1);
    assert.equal(await status(), 200);
  });
});

describe("the probe of the GTM", () => {
  it("hears 503 with the reason where no engine answers, whatever name it asks by", async () => {
    const replicas = plainReplicas(["http://127.0.0.1:9"]);
    await using gateway = await openGateway({ replicas });
    const ask = () => request(`http://127.0.0.1:${gateway.port}/healthz`, { headers: { host: "any.example" } });
    assert.equal((await ask()).statusCode, 200);
    replicas.answers = 0;
    const answer = await ask();
    assert.equal(answer.statusCode, 503);
    assert.equal(await answer.body.text(), "no engine answers\n");
  });
});

describe("a gateway that is told to stop", () => {
  it("lets the turn under way end, says so on its connection, and takes no other", async () => {
    const rest = Promise.withResolvers<void>();
    await using engine = await startTalkingEngine(async (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(chunkOf("one"));
      await rest.promise;
      response.end(chunkOf("two"));
    });
    await using gateway = await openGateway({ replicas: plainReplicas([engine.origin]) });
    await using idle = await rawConnect(gateway.port);
    const answer = await request(`http://127.0.0.1:${gateway.port}/v1/x`, { method: "POST", body: BODY });
    const chunks = answer.body[Symbol.asyncIterator]();
    assert.equal(String((await chunks.next()).value), chunkOf("one"));
    const stopped = gateway.running.stop();
    await until(() => gateway.running.reasonsAgainst().includes("this gateway is stopping"));
    // A connection that stands may still ask; it is told to go elsewhere.
    idle.send("POST /v1/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}");
    await until(() => /HTTP\/1\.1 (?:503|200)[\s\S]*Connection: close/i.test(idle.rest()));
    rest.resolve();
    assert.equal(String((await chunks.next()).value), chunkOf("two"));
    await stopped;
    await assert.rejects(request(`http://127.0.0.1:${gateway.port}/healthz`));
  });

  it("still serves, and ends connections, while it lingers", async () => {
    await using engine = await startTalkingEngine(saying({ ok: true }));
    await using gateway = await openGateway({
      replicas: plainReplicas([engine.origin]),
      settings: { drain: { linger: "4s", deadline: "5s" } },
    });
    const stopped = gateway.running.stop();
    const answer = await request(`http://127.0.0.1:${gateway.port}/v1/x`, { method: "POST", body: BODY });
    assert.deepEqual([answer.statusCode, answer.headers["connection"]], [200, "close"]);
    await answer.body.dump();
    assert.equal((await request(`http://127.0.0.1:${gateway.port}/healthz`)).statusCode, 503);
    await stopped;
  });

  it("cuts what is left at its deadline, counts it and says so", async () => {
    await using engine = await startTalkingEngine((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(chunkOf("one"));
    });
    await using gateway = await openGateway({
      replicas: plainReplicas([engine.origin]),
      settings: { drain: { linger: "0s", deadline: "200ms" } },
    });
    const answer = await request(`http://127.0.0.1:${gateway.port}/v1/x`, { method: "POST", body: BODY });
    const read = answer.body.text();
    await gateway.running.stop();
    assert.match(await read, /"error":.*The engine ended in the middle/);
    assert.match(await gateway.metricsText(), /gtm_gateway_turns_cut_total 1/);
    assert.ok(gateway.log.lines.some(({ event }) => event === "gateway.stop.cut"));
  });
});
