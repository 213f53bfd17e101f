/** The replicas that a gateway's configuration names. */
import { readSecretFile } from "#shared/config.ts";
import type { Store } from "#shared/store.ts";
import { addressOf } from "../engine-config.ts";
import type { GatewayConfig } from "./config.ts";
import type { GatewayKeys } from "./gateway-keys.ts";
import { createReplicas, type WatchedReplicas } from "./replicas.ts";
import type { GatewayOptions } from "./start-gateway.ts";

/** @throws {OperationalError} GTM_CONFIG_UNREADABLE for a key that cannot be read */
export const regionReplicas = (
  config: GatewayConfig,
  {
    store,
    keys,
    ...by
  }: Omit<GatewayOptions, "replicasOf"> & {
    readonly store: Store;
    readonly keys: Pick<GatewayKeys, "labels" | "reportKey">;
  },
): WatchedReplicas =>
  createReplicas({
    region: config.region,
    gateway: config.gateway,
    engines: config.engines.map(({ url, api_key_file, engine, slots, router }) => ({
      origin: new URL(url).origin,
      address: addressOf(url) ?? url,
      apiKey: api_key_file === null ? null : readSecretFile(api_key_file),
      engine,
      slots,
      isRouter: router,
    })),
    models: new Map(
      config.models.map((model) => [
        model.id,
        {
          weightBytes: model.weight_bytes,
          coldStartMs: model.cold_start,
          prefillTokensPerSecond: model.prefill_tokens_per_second,
          kvCapacityTokens: model.kv_capacity_tokens,
        },
      ]),
    ),
    queue: { factor: config.queue.factor, floorMs: config.queue.floor },
    ...{ store, labels: keys.labels, reportKey: keys.reportKey, ...by },
    random: Math.random,
  });
