/** Stopping: nothing that was accepted is dropped, and nothing new is taken. */
import assert from "node:assert/strict";
import { connect } from "node:net";
import { describe, it } from "node:test";
import type { Conversation } from "#gtm/domain/conversation.ts";
import { type FrontDoorWish, startFrontDoor } from "#test/support/front-door.ts";
import { type RawConnection, rawConnect, requestText } from "#test/support/http-by-hand.ts";
import { metricValue } from "#test/support/metric-value.ts";
import { until } from "#test/support/until.ts";

const GET = requestText("GET /v1/models");
const NAMED = requestText("GET /v1/models", ["X-Session-Id: s"]);

/** Answers wait until they are let go. */
const held = (): {
  readonly ports: NonNullable<FrontDoorWish["ports"]>;
  readonly asked: () => number;
  go: () => void;
} => {
  const gate = Promise.withResolvers<Conversation | null>();
  let asked = 0;
  const findConversation = (): Promise<Conversation | null> => {
    asked += 1;
    return gate.promise;
  };
  return { ports: { findConversation }, asked: () => asked, go: () => gate.resolve(null) };
};

const isRefused = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" });
    socket.on("connect", () => {
      socket.destroy();
      resolve(false);
    });
    socket.on("error", () => resolve(true));
  });

/** Sends requests one after the other for as long as the connection is kept open. */
const keepAsking = async (connection: RawConnection, tally: { sent: number; answered: number }): Promise<void> => {
  for (;;) {
    connection.send(GET);
    tally.sent += 1;
    const answer = await connection.answer();
    assert.equal(answer.status, 307);
    tally.answered += 1;
    if (answer.headers.get("connection") === "close") return;
  }
};

describe("stopping under load", () => {
  it("answers every request that was sent on an open connection, and then closes it", async () => {
    await using front = await startFrontDoor({ limits: { stopIdleMs: 5_000 } });
    const tally = { sent: 0, answered: 0 };
    const connections = await Promise.all(Array.from({ length: 16 }, () => rawConnect(front.port)));
    const clients = connections.map((connection) => keepAsking(connection, tally));
    await until(() => tally.answered > 200);
    await front.stop();
    await Promise.all(clients);
    assert.equal(tally.answered, tally.sent);
    for (const connection of connections) assert.equal(await connection.ended, "end");
    assert.equal(await isRefused(front.port), true);
    assert.equal(await metricValue(front.metrics, "gtm_http_connections_cut_total"), 0);
  });
});

describe("stopping while a request is under way", () => {
  it("waits for a decision that is slow, and closes the connection with its answer", async () => {
    const { ports, asked, go } = held();
    await using front = await startFrontDoor({ ports });
    await using connection = await rawConnect(front.port);
    connection.send(NAMED);
    await until(() => asked() === 1);
    const stopped = front.stop();
    await until(() => isRefused(front.port));
    go();
    const answer = await connection.answer();
    assert.deepEqual([answer.status, answer.headers.get("connection")], [307, "close"]);
    await stopped;
  });

  it("waits for a body that is still coming", async () => {
    await using front = await startFrontDoor();
    await using connection = await rawConnect(front.port);
    const request = requestText("POST /v1/chat/completions", [], '{"model":"llama"}');
    connection.send(request.slice(0, -5));
    await until(async () => (await metricValue(front.metrics, "gtm_http_connections")) === 1);
    const stopped = front.stop();
    await until(() => isRefused(front.port));
    connection.send(request.slice(-5));
    assert.equal((await connection.answer()).status, 307);
    await stopped;
  });

  it("answers all requests that a client has pipelined", async () => {
    const { ports, asked, go } = held();
    await using front = await startFrontDoor({ ports });
    await using connection = await rawConnect(front.port);
    connection.send(NAMED.repeat(5));
    await until(() => asked() === 5);
    const stopped = front.stop();
    await until(() => isRefused(front.port));
    go();
    const closes: (string | undefined)[] = [];
    for (let at = 0; at < 5; at++) closes.push((await connection.answer()).headers.get("connection"));
    assert.deepEqual(closes, ["keep-alive", "keep-alive", "keep-alive", "keep-alive", "close"]);
    await stopped;
  });

  it("cuts what is still busy at the deadline, counts and says it", async () => {
    const { ports, asked, go } = held();
    await using front = await startFrontDoor({ ports, limits: { stopMs: 100 } });
    await using connection = await rawConnect(front.port);
    connection.send(NAMED);
    await until(() => asked() === 1);
    await front.stop();
    assert.equal(await metricValue(front.metrics, "gtm_http_connections_cut_total"), 1);
    const warning = front.lines.find(({ event }) => event === "http.stop.cut");
    assert.deepEqual([warning?.level, warning?.fields], ["warn", { connections: 1, stopMs: 100 }]);
    go();
    await until(async () => (await metricValue(front.metrics, "gtm_http_aborts_total")) === 1);
  });
});

describe("stopping while connections are idle", () => {
  it("closes one between two requests, and one that never sent any", async () => {
    await using front = await startFrontDoor({ limits: { headersMs: 60_000, stopMs: 2_000 } });
    await using used = await rawConnect(front.port);
    await using silent = await rawConnect(front.port);
    used.send(GET);
    await used.answer();
    await until(async () => (await metricValue(front.metrics, "gtm_http_connections")) === 2);
    await front.stop();
    assert.equal(await used.ended, "end");
    await silent.ended;
    assert.equal(await metricValue(front.metrics, "gtm_http_connections"), 0);
    assert.equal(await metricValue(front.metrics, "gtm_http_connections_cut_total"), 0);
  });

  it("still answers a request that such a connection sends at that moment", async () => {
    await using front = await startFrontDoor({ limits: { stopIdleMs: 5_000 } });
    await using connection = await rawConnect(front.port);
    connection.send(GET);
    assert.equal((await connection.answer()).headers.get("connection"), "keep-alive");
    const stopped = front.stop();
    await until(() => isRefused(front.port));
    connection.send(GET);
    const answer = await connection.answer();
    assert.deepEqual([answer.status, answer.headers.get("connection")], [307, "close"]);
    await stopped;
  });

  it("is done at once where nobody is connected, and twice is once", async () => {
    await using front = await startFrontDoor({ limits: { stopIdleMs: 60_000, stopMs: 60_000 } });
    await Promise.all([front.stop(), front.stop()]);
    await front.stop();
  });
});
