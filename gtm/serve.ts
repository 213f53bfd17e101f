/** `gtm serve`: runs the GTM that a configuration file describes until it is told to stop. */
import { systemClock } from "#shared/clock.ts";
import { runUntilSignal } from "#shared/lifecycle.ts";
import { createLogger } from "#shared/logger.ts";
import { createMetrics } from "#shared/metrics.ts";
import { openStore } from "#shared/store-open.ts";
import { loadGtmConfig } from "./config.ts";
import { createGtm } from "./start.ts";
import { VERSION } from "./version.ts";

/** @throws {OperationalError} when the configuration is faulty or a part does not start @returns the exit code */
export const serve = async (options: { readonly config: string; readonly watch: boolean }): Promise<number> => {
  const config = loadGtmConfig(options.config, process.env);
  const log = createLogger({ level: config.logLevel });
  log.info("gtm.starting", { version: VERSION, instance: config.instance, zone: config.dns.zone.name });
  const store = openStore(config.store, { clock: systemClock, log, name: `gtm/${config.instance}` });
  const gtm = createGtm(config, store, {
    ...{ clock: systemClock, log, metrics: createMetrics(), onLogLevel: log.setLevel },
    file: { path: options.config, env: process.env, isWatched: options.watch },
  });
  process.on("SIGHUP", () => gtm.reload("signal"));
  const exitCode = await runUntilSignal(gtm, { log, signals: process });
  await store.close();
  // After a fault or a second signal parts may still be open, and would keep the process.
  if (exitCode !== 0) process.exit(exitCode);
  return exitCode;
};
