/** Probes against real sockets: good, bad, slow, silent, endless and gone. */
import assert from "node:assert/strict";
import { createServer, type RequestListener, type Server } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { after, describe, it } from "node:test";
import { createProbes, type ProbeTarget } from "#gtm/datalayer/probe.ts";
import { createProbeRequest } from "#gtm/datalayer/probe-request.ts";
import { systemClock } from "#shared/clock.ts";
import { silentLogger } from "#shared/logger.ts";
import { createMetrics } from "#shared/metrics.ts";
import { regionId } from "#test/support/builders.ts";
import { until } from "#test/support/until.ts";

const servers: Server[] = [];
const listen = async (listener: RequestListener): Promise<string> => {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};
const target = (url: string, wish: Partial<ProbeTarget> = {}): ProbeTarget => ({
  ...{ region: regionId("frankfurt"), url, host: null, intervalMs: 20, timeoutMs: 30_000, fall: 3, rise: 2 },
  ...wish,
});
const requests = createProbeRequest();
after(async () => {
  await requests.close();
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});
const outcomeOf = async (listener: RequestListener, wish: Partial<ProbeTarget> = {}) =>
  requests.request(target(await listen(listener), wish));

describe("one probe", () => {
  it("is good when the status is 2xx", async () => {
    assert.deepEqual(await outcomeOf((_, response) => response.writeHead(204).end()), { kind: "good" });
  });
  it("is bad when the status is 503", async () => {
    assert.deepEqual(await outcomeOf((_, response) => response.writeHead(503).end()), {
      kind: "status",
      detail: "503",
    });
  });
  it("is bad when it is redirected, and asks nobody else", async () => {
    let asked = 0;
    const elsewhere = await listen((_, response) => {
      asked += 1;
      response.end();
    });
    const outcome = await outcomeOf((_, response) => response.writeHead(302, { location: elsewhere }).end());
    assert.deepEqual([outcome, asked], [{ kind: "status", detail: "302" }, 0]);
  });
  it("times out when no answer comes", async () => {
    assert.deepEqual(await outcomeOf(() => {}, { timeoutMs: 400 }), {
      kind: "timeout",
      detail: "timed out after 400 ms",
    });
  });
  it("is good when the head is, though the body never ends", async () => {
    assert.equal((await outcomeOf((_, response) => void response.writeHead(200).write("x"))).kind, "good");
  });
  it("reads no more than it must of a body without end", async () => {
    let isOpen = true;
    let written = 0;
    const outcome = await outcomeOf((request, response) => {
      request.socket.on("close", () => {
        isOpen = false;
      });
      const pump = (): void => {
        while (isOpen && response.write(Buffer.alloc(65_536))) written += 65_536;
        if (isOpen) response.once("drain", pump);
      };
      pump();
    });
    assert.equal(outcome.kind, "good");
    await until(() => !isOpen, "the connection's end");
    assert.ok(written < 16_000_000, `${written} octets`);
  });
  it("is an error when nobody listens", async () => {
    const server = createTcpServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const outcome = await requests.request(target(`http://127.0.0.1:${port}/healthz`));
    assert.equal(outcome.kind, "error");
    assert.match(outcome.kind === "error" ? outcome.detail : "", /ECONNREFUSED/);
  });
  it("names the region's own host where the address is an IP address, and asks for path and query", async () => {
    const seen: unknown[] = [];
    const url = await listen((request, response) => {
      seen.push([request.headers.host, request.url]);
      response.end();
    });
    await requests.request(target(`${url}/healthz?deep=1`, { host: "frankfurt.r.llm.example.org" }));
    assert.deepEqual(seen, [["frankfurt.r.llm.example.org", "/healthz?deep=1"]]);
  });
});

describe("a region that breaks and heals", () => {
  it("is down after three failed probes and back after two good ones", async () => {
    let status = 200;
    const url = await listen((_, response) => response.writeHead(status).end());
    const probes = createProbes({
      targets: [target(url)],
      clock: systemClock,
      log: silentLogger,
      metrics: createMetrics(),
      onChanged: () => {},
    });
    await probes.start();
    const fact = () => probes.facts().get(regionId("frankfurt"));
    await until(() => (fact()?.goodInARow ?? 0) > 0);
    status = 500;
    await until(() => fact()?.isDown === true);
    status = 200;
    await until(() => fact()?.isDown === false);
    await probes.stop();
  });
});
