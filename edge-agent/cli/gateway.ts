/** `edge-agent gateway`: the regional front door, until it is told to stop. */
import type { Clock } from "#shared/clock.ts";
import { createLifecycle, type Part, runUntilSignal } from "#shared/lifecycle.ts";
import type { Logger } from "#shared/logger.ts";
import { createMetrics } from "#shared/metrics.ts";
import { openStore } from "#shared/store-open.ts";
import type { GatewayConfig } from "../gateway/config.ts";
import { regionGateway } from "../gateway/region-gateway.ts";

/** Beside the drain's own deadline: for the store's last words. */
const STOP_SPARE_MS = 10_000;

/** @returns the exit code */
export const runGateway = async (config: GatewayConfig, clock: Clock, log: Logger): Promise<number> => {
  const store = openStore(config.store, { clock, log, name: `gateway/${config.region}/${config.gateway}` });
  const parts: readonly Part[] = [
    { name: "store", start: async () => {}, stop: () => store.close() },
    ...regionGateway(config, store, { clock, log, metrics: createMetrics() }),
  ];
  const lifecycle = createLifecycle(parts, { log, stopDeadlineMs: config.drain.deadline + STOP_SPARE_MS });
  return runUntilSignal(lifecycle, { log, signals: process });
};
