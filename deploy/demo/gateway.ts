/** A region's gateway, beside the demo's other programs in one process. */
import type { GatewayConfig } from "#edge-agent/gateway/config.ts";
import { regionGateway } from "#edge-agent/gateway/region-gateway.ts";
import { systemClock } from "#shared/clock.ts";
import type { Logger } from "#shared/logger.ts";
import { createMetrics } from "#shared/metrics.ts";
import type { DemoStores } from "./stores.ts";

/** @returns what stops it @throws {OperationalError} when it does not start; nothing of it is left then */
export const startRegionGateway = async (
  config: GatewayConfig,
  stores: DemoStores,
  log: Logger,
): Promise<() => Promise<void>> => {
  const store = stores.open(`gateway/${config.region}/${config.gateway}`);
  const parts = regionGateway(config, store, { clock: systemClock, log, metrics: createMetrics() });
  const stop = async (): Promise<void> => {
    for (const part of parts.toReversed()) await part.stop();
    await store.close();
  };
  try {
    for (const part of parts) await part.start();
  } catch (fault) {
    await stop();
    throw fault;
  }
  return stop;
};
