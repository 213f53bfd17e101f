/** The region's gateway with the listener for those who look, in the order to start them: as a program, or beside others in one process. */
import type { Part } from "#shared/lifecycle.ts";
import type { Store } from "#shared/store.ts";
import { createListener, toldOf } from "../listener.ts";
import type { GatewayConfig } from "./config.ts";
import { regionReplicas } from "./region-replicas.ts";
import type { WatchedReplicas } from "./replicas.ts";
import { type GatewayOptions, type RunningGateway, startGateway } from "./start-gateway.ts";

export const regionGateway = (
  config: GatewayConfig,
  store: Store,
  options: Omit<GatewayOptions, "replicasOf">,
): readonly Part[] => {
  let gateway: RunningGateway | null = null;
  let replicas: WatchedReplicas | null = null;
  const whyNotReady = (): string | null => {
    if (gateway === null) return "the gateway has not started";
    const reasons = gateway.reasonsAgainst();
    return reasons.length === 0 ? null : reasons.join(", ");
  };
  const page = () => ({ contentType: "application/json", body: JSON.stringify(replicas?.page() ?? null) });
  const pages = new Map([["/replicas", page]]);
  const listener = createListener({ listen: config.metrics.listen, metrics: options.metrics, whyNotReady, pages });
  return [
    toldOf(listener, options.log),
    {
      name: "gateway",
      start: async () => {
        gateway = await startGateway(config, store, {
          ...options,
          replicasOf: (keys) => {
            replicas = regionReplicas(config, { ...options, store, keys });
            return replicas;
          },
        });
      },
      stop: async () => gateway?.stop(),
    },
  ];
};
