/** What http-forward.bench.ts measures, each in a process of its own: an engine that streams, a bare undici proxy, the front door. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Agent, request } from "undici";
import { systemClock } from "#shared/clock.ts";
import { silentLogger } from "#shared/logger.ts";
import { aPool, aRegion, aWorld } from "#test/support/builders.ts";
import { startFrontDoor } from "#test/support/front-door.ts";
import { processReport } from "./process-report.ts";

export type ForwardSubject = "engine" | "bare" | "front-door";

const EVENTS = 32;
const EVENT = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: "x".repeat(120) } }] })}\n\n`;
const IDLE_HEADER = "x-idle";

/** Writes an event a turn of the event loop, as tokens come: never two in one piece. With `x-idle` one event, and then nothing. */
const stream = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
  incoming.resume().on("end", () => {
    outgoing.writeHead(200, { "Content-Type": "text/event-stream" });
    outgoing.write(EVENT);
    if (incoming.headers[IDLE_HEADER] !== undefined) return;
    let left = EVENTS - 1;
    const next = (): void => {
      left -= 1;
      if (left === 0) outgoing.end(EVENT);
      else {
        outgoing.write(EVENT);
        setImmediate(next);
      }
    };
    setImmediate(next);
  });
};

const listening = (listener: (incoming: IncomingMessage, outgoing: ServerResponse) => void): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer(listener).listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });

/** As short as one is written that streams both ways and passes aborts on. */
const bareProxy = (origin: string): Promise<number> => {
  const dispatcher = new Agent({ connections: 10_000 });
  return listening((incoming, outgoing) => {
    const over = new AbortController();
    outgoing.on("close", () => over.abort());
    const { connection: _, host: __, ...headers } = incoming.headers;
    const method = incoming.method ?? "GET";
    request(`${origin}${incoming.url}`, { method, headers, body: incoming, dispatcher, signal: over.signal }).then(
      (reply) => {
        const { connection: ___, "transfer-encoding": ____, ...kept } = reply.headers;
        outgoing.writeHead(reply.statusCode, kept);
        reply.body.on("error", () => outgoing.destroy()).pipe(outgoing);
      },
      () => outgoing.destroy(),
    );
  });
};

const frontDoor = async (url: string): Promise<number> => {
  const regions = [aRegion("frankfurt", { endpoint: { url, ipv4: ["192.0.2.10"], ipv6: [] } }), aRegion("virginia")];
  const pool = aPool(regions, { mode: "forward" });
  const world = aWorld(regions, { takenAtMs: systemClock.monotonicMs() });
  const front = await startFrontDoor({
    world: () => world,
    ...{ worldRegions: regions, pools: [pool], defaultPool: pool, clock: systemClock, log: silentLogger },
    ports: { record: () => {} },
  });
  return front.port;
};

if (process.send !== undefined) {
  process.once("SIGINT", () => process.exit(0));
  const [what, origin = ""] = process.argv.slice(2);
  const port = await (what === "engine" ? listening(stream) : (what === "bare" ? bareProxy : frontDoor)(origin));
  process.on("message", () => process.send?.(processReport()));
  process.send({ port });
}
