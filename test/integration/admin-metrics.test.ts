/** The listener for metrics and health, and what every listener of the admin API does with a taken port and slow clients. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { describe, it } from "node:test";
import { createListener } from "#gtm/wire/admin/listener.ts";
import { createMetricsServer } from "#gtm/wire/admin/metrics-server.ts";
import type { Health } from "#gtm/wire/admin/ports.ts";
import { createMetrics } from "#shared/metrics.ts";
import { recordingLog } from "#test/support/recording-log.ts";
import { EPOCH_MS, READY } from "#test/unit/gtm/wire/admin/fake-ports.ts";

const running = async (health: Health = READY) => {
  const metrics = createMetrics();
  const server = createMetricsServer({
    listen: { address: "127.0.0.1", port: 0 },
    metrics,
    health: () => health,
    log: recordingLog(),
  });
  await server.start();
  const url = `http://127.0.0.1:${server.address().port}`;
  return { metrics, url, server, [Symbol.asyncDispose]: () => server.stop() };
};

describe("/metrics", () => {
  it("is the registry's text under its content type", async () => {
    await using server = await running();
    server.metrics.counter({ name: "gtm_things_total", help: "Things." }).inc({}, 3);
    const response = await fetch(`${server.url}/metrics`);
    assert.equal(response.status, 200);
    assert.match(response.headers.get("content-type") ?? "", /^text\/plain; version=0\.0\.4/);
    assert.match(await response.text(), /^gtm_things_total 3$/m);
  });
});

describe("/livez", () => {
  it("is 200 while the process answers, ready or not", async () => {
    await using server = await running({ ...READY, isReady: false });
    const response = await fetch(`${server.url}/livez`);
    assert.deepEqual([response.status, await response.text()], [200, "alive\n"]);
  });
});

describe("/readyz", () => {
  const cases: readonly { health: Health; status: number; state: string; since: string | null }[] = [
    { health: READY, status: 200, state: "ready", since: null },
    {
      health: {
        ...READY,
        degradedSinceMs: EPOCH_MS,
        reasons: ["the store does not answer"],
        degradations: [{ what: "store", reason: "the store does not answer", sinceMs: EPOCH_MS }],
        savedWorldAgeMs: 61_000.4,
      },
      status: 200,
      state: "degraded",
      since: "2026-11-30T04:00:00.000Z",
    },
    {
      health: { ...READY, isReady: false, reasons: ["geography is being loaded"] },
      status: 503,
      state: "not-ready",
      since: null,
    },
  ];
  for (const { health, status, state, since } of cases) {
    it(`is ${status} while ${state}, and says why where it is asked`, async () => {
      await using server = await running(health);
      const plain = await fetch(`${server.url}/readyz`);
      assert.deepEqual([plain.status, await plain.text()], [status, `${state}\n`]);
      const verbose = await fetch(`${server.url}/readyz?verbose`);
      assert.equal(verbose.status, status);
      assert.deepEqual(await verbose.json(), {
        ...{ state, degradedSince: since, reasons: health.reasons },
        degradations: health.degradations.map(({ what, reason }) => ({ what, reason, since })),
        savedWorldAgeMs: health.savedWorldAgeMs === null ? null : 61_000,
      });
    });
  }
});

describe("the metrics listener", () => {
  it("has no powers", async () => {
    await using server = await running();
    for (const path of ["/api/v1/status", "/", "/metrics/", "/readyz/verbose", "/%2e%2e/etc/passwd"]) {
      assert.equal((await fetch(`${server.url}${path}`)).status, 404, path);
    }
    const posted = await fetch(`${server.url}/metrics`, { method: "POST", body: "x" });
    assert.deepEqual([posted.status, posted.headers.get("allow")], [405, "GET, HEAD"]);
    const head = await fetch(`${server.url}/metrics`, { method: "HEAD" });
    assert.deepEqual([head.status, await head.text()], [200, ""]);
  });
});

describe("a listener", () => {
  it("on a port that is taken says which, and what failed", async () => {
    await using first = await running();
    const listen = { address: "127.0.0.1", port: first.server.address().port };
    const second = createMetricsServer({ listen, metrics: createMetrics(), health: () => READY, log: recordingLog() });
    await assert.rejects(second.start(), {
      code: "GTM_LISTEN_FAILED",
      message: `metrics on 127.0.0.1:${listen.port}: listen EADDRINUSE: address already in use 127.0.0.1:${listen.port}`,
    });
    await second.stop();
  });

  for (const { what, text } of [
    { what: "headers", text: "GET / HTTP/1.1\r\nHost: x\r\n" },
    { what: "a body", text: "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nx" },
  ]) {
    it(`lets a client go that does not finish ${what}`, { timeout: 10_000 }, async () => {
      const listener = createListener({
        name: "test",
        listen: { address: "127.0.0.1", port: 0 },
        onRequest: (request, response) => {
          request.on("error", () => {});
          request.resume().on("end", () => response.end("done"));
        },
        patience: { headersMs: 50, requestMs: 50, checkMs: 10 },
      });
      await listener.open();
      const socket = connect(listener.address().port, "127.0.0.1");
      let heard = "";
      socket.on("data", (chunk) => {
        heard += chunk.toString();
      });
      socket.write(text);
      await once(socket, "close");
      assert.match(heard, /^HTTP\/1\.1 408/);
      await listener.close();
    });
  }
});
