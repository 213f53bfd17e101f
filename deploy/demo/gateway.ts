/** A region's gateway, with the loopback page that the agent beside it reads. */
import type { GatewayConfig } from "#edge-agent/gateway/config.ts";
import { regionReplicas } from "#edge-agent/gateway/region-replicas.ts";
import type { WatchedReplicas } from "#edge-agent/gateway/replicas.ts";
import { startGateway } from "#edge-agent/gateway/start-gateway.ts";
import { createListener } from "#edge-agent/listener.ts";
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
  const options = { clock: systemClock, log, metrics: createMetrics() };
  let replicas: WatchedReplicas | null = null;
  const page = () => ({ contentType: "application/json", body: JSON.stringify(replicas?.page() ?? null) });
  const listener = createListener({
    ...{ listen: config.metrics.listen, metrics: options.metrics },
    whyNotReady: () => null,
    pages: new Map([["/replicas", page]]),
  });
  try {
    await listener.start();
    const gateway = await startGateway(config, store, {
      ...options,
      replicasOf: (labels) => {
        replicas = regionReplicas(config, { ...options, store, labels });
        return replicas;
      },
    });
    return async () => {
      await gateway.stop();
      await listener.stop();
      await store.close();
    };
  } catch (fault) {
    await Promise.allSettled([listener.stop(), store.close()]);
    throw fault;
  }
};
