/** What http.bench.ts measures, each in a process of its own: bare redirects of Hono and of its adapter, and the front door. */
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener, serve } from "@hono/node-server";
import { createDecisionIds } from "#gtm/decision-id.ts";
import { IDENTITY_SOURCES } from "#gtm/domain/identity-source.ts";
import { DEFAULT_POLICY } from "#gtm/steering/policy.ts";
import { createSteer } from "#gtm/steering/steer.ts";
import { DEFAULT_LIMITS } from "#gtm/wire/http/limits.ts";
import { createFrontDoor } from "#gtm/wire/http/server.ts";
import { systemClock } from "#shared/clock.ts";
import { silentLogger } from "#shared/logger.ts";
import { createMetrics } from "#shared/metrics.ts";
import { createLabels, ephemeralLabelKeys } from "#shared/pin-token.ts";
import { aClient, aConversation, aPool, aRegion, aWorld } from "#test/support/builders.ts";
import { startBareHono } from "./bare-hono.ts";
import { processReport } from "./process-report.ts";

export type ServerUnderTest = "bare" | "draining" | "hono" | "front-door";

const bare = (): Promise<number> =>
  new Promise((resolve) => {
    const fetch = ({ url }: Request): Response => {
      const path = url.slice(url.indexOf("/", "http://".length));
      return new Response("", { status: 307, headers: { Location: `https://frankfurt.r.llm.example.org${path}` } });
    };
    serve({ fetch, port: 0, hostname: "127.0.0.1" }, ({ port }: AddressInfo) => resolve(port));
  });

/** Of the adapter alone, without Hono: it reads the body to its end by Node's own request. */
const draining = (): Promise<number> =>
  new Promise((resolve) => {
    const fetch = async ({ url }: Request, { incoming }: { incoming: IncomingMessage }): Promise<Response> => {
      const path = url.slice(url.indexOf("/", "http://".length));
      incoming.resume();
      if (!incoming.readableEnded) await once(incoming, "end");
      return new Response("", { status: 307, headers: { Location: `https://frankfurt.r.llm.example.org${path}` } });
    };
    const listener = getRequestListener(fetch as Parameters<typeof getRequestListener>[0], {
      autoCleanupIncoming: false,
    });
    const server = createServer((incoming, outgoing) => void listener(incoming, outgoing));
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });

/** 3 regions of 4 replicas, and a conversation at home in one of them. */
const frontDoor = async (): Promise<number> => {
  const regions = (["frankfurt", "virginia", "singapore"] as const).map((name) =>
    aRegion(name, { placement: { replicaCount: 4, backlogMs: 10, newTokensPerSecond: 1_000 } }),
  );
  const takenAtMs = systemClock.monotonicMs();
  const world = aWorld(regions, { takenAtMs });
  const pool = aPool(regions);
  const client = aClient();
  const conversation = { ...aConversation({ home: "frankfurt", contextTokens: 20_000 }), lastTurnAtMs: takenAtMs };
  const kept: unknown[] = [null];
  const ports = {
    world: () => world,
    locate: () => client,
    findConversation: (id: unknown) => (id === null ? null : conversation),
    record: (entry: unknown) => {
      kept[0] = entry;
    },
  };
  const front = createFrontDoor({
    listen: { address: "127.0.0.1", port: 0 },
    zoneName: "llm.example.org",
    pools: [pool],
    defaultPool: pool,
    models: [],
    regions: regions.map(({ id }) => id),
    steer: createSteer(ports, DEFAULT_POLICY),
    world: ports.world,
    newId: createDecisionIds(systemClock),
    clock: systemClock,
    labels: createLabels(ephemeralLabelKeys()),
    offersLabels: true,
    identityOrder: IDENTITY_SOURCES,
    findResponse: async () => null,
    trustedProxies: [],
    proxyProtocol: false,
    regionsCaFile: null,
    tls: null,
    tenantHeader: null,
    gateways: new Set(),
    ticketSealer: () => null,
    ticketHeaders: [],
    log: silentLogger,
    metrics: createMetrics(),
    limits: DEFAULT_LIMITS,
  });
  await front.start();
  return front.address().port;
};

if (process.send !== undefined) {
  process.once("SIGINT", () => process.exit(0));
  const START: Readonly<Record<ServerUnderTest, () => Promise<number>>> = {
    ...{ bare, draining, hono: startBareHono },
    "front-door": frontDoor,
  };
  const port = await START[process.argv[2] as ServerUnderTest]();
  process.on("message", () => process.send?.(processReport()));
  process.send({ port });
}
