/** A process of the benchmark of DNS threads: the production server with so many of them; 1 is the main thread alone. */
import { createDnsServer, type DnsServer } from "#gtm/wire/dns/server.ts";
import { startDnsThreads } from "#test/support/dns-threads.ts";
import { aDnsSetting } from "#test/support/dns-zone.ts";
import type { ServerUsage } from "./dns-server.ts";
import { dnsSubject } from "./dns-subject.ts";

export type ThreadsReady = { readonly port: number };

const SNAPSHOT_MS = 100;

const startAlone = async (): Promise<DnsServer> => {
  const { options, renew } = dnsSubject();
  setInterval(renew, SNAPSHOT_MS);
  // Loopback is exempt from the limit, as for the threads.
  const server = createDnsServer({ ...options, rateLimit: aDnsSetting().options.rateLimit });
  await server.start();
  return server;
};

const workers = Number(process.argv[2]);
const server = workers === 1 ? await startAlone() : (await startDnsThreads({ workers })).server;
process.on("message", () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpuUs: user + system } satisfies ServerUsage);
});
process.on("disconnect", () => process.exit());
process.send?.({ port: server.addresses()[0]?.port ?? 0 } satisfies ThreadsReady);
