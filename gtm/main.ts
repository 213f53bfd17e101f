/** The program `gtm`: serves, or talks to one that does. */
import { availableParallelism } from "node:os";
import { createCommand, runCommand } from "./cli/command.ts";
import { processIo } from "./cli/io.ts";
import { dnsWorkersWarnings } from "./config/dns-listen-settings.ts";
import { httpsWarnings } from "./config/https-warnings.ts";
import { ticketWarnings } from "./config/ticket-warnings.ts";
import { loadGtmConfig } from "./config.ts";
import { readKeys } from "./keys/key-files.ts";
import { keyWarnings } from "./keys/key-warnings.ts";
import { VERSION } from "./version.ts";

const io = processIo(process);
const program = createCommand(io, {
  version: VERSION,
  // Only who serves waits for all of the GTM to be read.
  serve: async (options) => (await import("./serve.ts")).serve(options),
  configSchema: async () => (await import("./config/config-schema.ts")).configJsonSchema(),
  checkConfig: (path, env) => {
    const { dns, sites, pools, keys } = loadGtmConfig(path, env);
    const regions = sites.map(({ id }) => id);
    return {
      warnings: [
        ...keyWarnings(keys, readKeys(keys), regions),
        ...httpsWarnings(pools, sites),
        ...dnsWorkersWarnings(dns.workers, availableParallelism()),
        ...ticketWarnings(pools, sites),
      ],
      summary: `${dns.zone.name}: ${sites.length} regions, ${pools.length} ${pools.length === 1 ? "pool" : "pools"}`,
    };
  },
});
process.exitCode = await runCommand(program, process.argv.slice(2), io);
// A name that is still being resolved, or a peer that hangs, does not keep a command that has ended.
setTimeout(() => process.exit(), 1_000).unref();
