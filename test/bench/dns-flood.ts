/** A process of the DNS benchmark: sends what no client should, from two hundred networks, and reads nothing. */
import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { subnetQueries } from "./dns-subject.ts";

export type FloodOrder = { readonly port: number; readonly perSecond: number };

const NETWORKS = 200;
const EVERY_MS = 5;

/** Of four packets one is sound, one is cut, one has an octet changed, one points to itself for a name. */
const packets = subnetQueries().map((query, i) => {
  switch (i % 4) {
    case 0:
      return query;
    case 1:
      return query.subarray(0, 1 + ((i * 7_919) % query.length));
    case 2: {
      const changed = Buffer.from(query);
      changed[(i * 31) % changed.length] = (i * 131) & 0xff;
      return changed;
    }
    default:
      return Buffer.concat([query.subarray(0, 12), Buffer.from([0xc0, 12, 0, 1, 0, 1])]);
  }
});

const socketFrom = async (network: number): Promise<Socket> => {
  const socket = createSocket({ type: "udp4", lookup: (host, _options, done) => done(null, host, 4) });
  socket.bind(0, `127.1.${network}.1`);
  await once(socket, "listening");
  return socket;
};

const flood = async ({ port, perSecond }: FloodOrder): Promise<void> => {
  const sockets = await Promise.all(Array.from({ length: NETWORKS }, (_, network) => socketFrom(network)));
  let sent = 0;
  const startedAtMs = performance.now();
  setInterval(() => {
    const due = ((performance.now() - startedAtMs) / 1_000) * perSecond;
    for (; sent < due; sent++) {
      sockets[sent % sockets.length]?.send(packets[sent % packets.length] ?? Buffer.alloc(0), port, "127.0.0.1");
    }
  }, EVERY_MS);
};

process.on("message", (order: FloodOrder) => void flood(order));
process.on("disconnect", () => process.exit());
