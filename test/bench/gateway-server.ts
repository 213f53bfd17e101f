/** The whole gateway before one engine, in a process of its own, for gateway.bench.ts. */
import { GatewayConfig } from "#edge-agent/gateway/config.ts";
import { regionReplicas } from "#edge-agent/gateway/region-replicas.ts";
import { startGateway } from "#edge-agent/gateway/start-gateway.ts";
import { systemClock } from "#shared/clock.ts";
import { silentLogger } from "#shared/logger.ts";
import { createMetrics } from "#shared/metrics.ts";
import { createMemoryStore } from "#shared/store-memory.ts";
import { processReport } from "./process-report.ts";

if (process.send !== undefined) {
  process.once("SIGINT", () => process.exit(0));
  const [origin = ""] = process.argv.slice(2);
  const config = GatewayConfig.parse({
    ...{ version: 1, region: "paris", gateway: "g1", zone: "llm.example.org", pools: ["chat"] },
    hosts: ["front.llm.example.org"],
    store: { url: "memory:" },
    listen: [{ address: "127.0.0.1:0", tls: false }],
    engines: [{ url: origin }],
    limits: { connections_per_engine: 10_000 },
  });
  const by = { clock: systemClock, log: silentLogger, metrics: createMetrics() };
  const store = createMemoryStore(systemClock);
  const gateway = await startGateway(config, store, {
    ...by,
    replicasOf: (keys) => regionReplicas(config, { store, keys, ...by }),
  });
  process.on("message", () => process.send?.(processReport()));
  process.send({ port: gateway.addresses[0]?.port });
}
