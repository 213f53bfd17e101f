/** What http-ticket.bench.ts measures, each in a process of its own: a bare redirect that reads the body first, and the front door with gateways. */
import { systemClock } from "#shared/clock.ts";
import { silentLogger } from "#shared/logger.ts";
import { createTicketSealer } from "#shared/ticket.ts";
import { aClient, aConversation, aRegion, aWorld } from "#test/support/builders.ts";
import { startFrontDoor } from "#test/support/front-door.ts";
import { TICKET_RING } from "#test/support/tickets.ts";
import { startBareHono } from "./bare-hono.ts";
import { processReport } from "./process-report.ts";

/** 3 regions with gateways, and a conversation at home in one of them. */
const frontDoor = async (): Promise<number> => {
  const regions = (["frankfurt", "virginia", "singapore"] as const).map((name) =>
    aRegion(name, { hasGateway: true, placement: { replicaCount: 4, backlogMs: 10, newTokensPerSecond: 1_000 } }),
  );
  const takenAtMs = systemClock.monotonicMs();
  const world = aWorld(regions, { takenAtMs });
  const client = aClient();
  const conversation = { ...aConversation({ home: "frankfurt", contextTokens: 20_000 }), lastTurnAtMs: takenAtMs };
  const sealer = createTicketSealer(TICKET_RING);
  const front = await startFrontDoor({
    ...{ worldRegions: regions, world: () => world, clock: systemClock, log: silentLogger },
    gateways: new Set(regions.map(({ id }) => id)),
    ticketSealer: () => sealer,
    ports: {
      locate: () => client,
      findConversation: (id) => (id === null ? null : conversation),
      record: () => {},
    },
  });
  return front.port;
};

if (process.send !== undefined) {
  process.once("SIGINT", () => process.exit(0));
  const port = await (process.argv[2] === "hono" ? startBareHono() : frontDoor());
  process.on("message", () => process.send?.(processReport()));
  process.send({ port });
}
