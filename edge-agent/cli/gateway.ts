/** `edge-agent gateway`: the regional front door, until it is told to stop. */
import type { Clock } from "#shared/clock.ts";
import { createLifecycle, type Part, runUntilSignal } from "#shared/lifecycle.ts";
import type { Logger } from "#shared/logger.ts";
import { createMetrics } from "#shared/metrics.ts";
import { openStore } from "#shared/store-open.ts";
import type { GatewayConfig } from "../gateway/config.ts";
import { regionReplicas } from "../gateway/region-replicas.ts";
import type { WatchedReplicas } from "../gateway/replicas.ts";
import { type RunningGateway, startGateway } from "../gateway/start-gateway.ts";
import { createListener } from "../listener.ts";

/** Beside the drain's own deadline: for the store's last words. */
const STOP_SPARE_MS = 10_000;

/** @returns the exit code */
export const runGateway = async (config: GatewayConfig, clock: Clock, log: Logger): Promise<number> => {
  const metrics = createMetrics();
  const store = openStore(config.store, { clock, log, name: `gateway/${config.region}/${config.gateway}` });
  let gateway: RunningGateway | null = null;
  let replicas: WatchedReplicas | null = null;
  const whyNotReady = (): string | null => {
    if (gateway === null) return "the gateway has not started";
    const reasons = gateway.reasonsAgainst();
    return reasons.length === 0 ? null : reasons.join(", ");
  };
  const page = () => ({ contentType: "application/json", body: JSON.stringify(replicas?.page() ?? null) });
  const pages = new Map([["/replicas", page]]);
  const listener = createListener({ listen: config.metrics.listen, metrics, whyNotReady, pages });
  const parts: readonly Part[] = [
    { name: "store", start: async () => {}, stop: () => store.close() },
    {
      ...listener,
      start: async () => {
        await listener.start();
        log.info("metrics.listening", listener.address());
      },
    },
    {
      name: "gateway",
      start: async () => {
        gateway = await startGateway(config, store, {
          ...{ clock, log, metrics },
          replicasOf: (labels) => {
            replicas = regionReplicas(config, { store, labels, clock, log, metrics });
            return replicas;
          },
        });
      },
      stop: async () => gateway?.stop(),
    },
  ];
  const lifecycle = createLifecycle(parts, { log, stopDeadlineMs: config.drain.deadline + STOP_SPARE_MS });
  return runUntilSignal(lifecycle, { log, signals: process });
};
