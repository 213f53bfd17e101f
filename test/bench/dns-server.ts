/** A process of the DNS benchmarks: the production server, or a bare echo. */
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createDnsServer } from "#gtm/wire/dns/server.ts";
import { dnsSubject } from "./dns-subject.ts";

/**
 * `dns-reports`: each region reports once a second; `dns-limited`: loopback is not exempt from the rate limit; `dns-single`:
 * datagrams come and go one at a time, without libc.
 */
export type ServerKind = "dns" | "dns-reports" | "dns-limited" | "dns-single" | "echo";
export type ServerReady = { readonly port: number };
/** Processor time that the process has used so far. */
export type ServerUsage = { readonly cpuUs: number };

const SNAPSHOT_MS = 100;
const REPORT_MS = 200;

const startEcho = async (): Promise<number> => {
  const socket = createSocket("udp4");
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  socket.on("message", (message, peer) => socket.send(message, peer.port, peer.address));
  return socket.address().port;
};

const startDns = async (wanted: ServerKind): Promise<number> => {
  const { options, renew, report } = dnsSubject();
  setInterval(renew, SNAPSHOT_MS);
  if (wanted === "dns-reports") setInterval(report, REPORT_MS);
  const { rateLimit } = options;
  const server = createDnsServer({
    ...options,
    isBatched: wanted !== "dns-single",
    rateLimit: wanted === "dns-limited" ? { ...rateLimit, exempt: [] } : rateLimit,
  });
  await server.start();
  return server.addresses()[0]?.port ?? 0;
};

const kind = process.argv[2] as ServerKind;
const port = await (kind === "echo" ? startEcho() : startDns(kind));
process.send?.({ port } satisfies ServerReady);
process.on("message", () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuUs: user + system } satisfies ServerUsage);
});
process.on("disconnect", () => process.exit());
