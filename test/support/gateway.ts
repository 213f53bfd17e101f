/** A gateway on loopback, with engines and a store of the test's own; it is ended when the test is. */
import { GatewayConfig } from "#edge-agent/gateway/config.ts";
import type { Replicas } from "#edge-agent/gateway/ports.ts";
import { type RunningGateway, startGateway } from "#edge-agent/gateway/start-gateway.ts";
import { type Clock, systemClock } from "#shared/clock.ts";
import { createMetrics, type Metrics } from "#shared/metrics.ts";
import type { Store } from "#shared/store.ts";
import { createMemoryStore } from "#shared/store-memory.ts";
import { recordingLog } from "./recording-log.ts";

export const ZONE = "llm.example.org";
export const REGION = "paris";
/** What redirects lead to. */
export const REGION_HOST = `${REGION}.r.${ZONE}`;

export type TestGateway = AsyncDisposable & {
  readonly running: RunningGateway;
  readonly ports: readonly number[];
  readonly port: number;
  readonly log: ReturnType<typeof recordingLog>;
  readonly metrics: Metrics;
  readonly store: Store;
  readonly metricsText: () => Promise<string>;
};

type Asked = {
  readonly replicas: Replicas;
  /** Over the plain settings of a test, as the file would have them. */
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly store?: Store;
  readonly clock?: Clock;
};

export const gatewayConfig = (settings: Readonly<Record<string, unknown>> = {}): GatewayConfig =>
  GatewayConfig.parse({
    version: 1,
    region: REGION,
    gateway: "gateway-1",
    zone: ZONE,
    pools: ["chat"],
    hosts: ["127.0.0.1", "localhost"],
    store: { url: "memory:" },
    listen: [{ address: "127.0.0.1:0", tls: false }],
    engines: [{ url: "http://127.0.0.1:9" }],
    drain: { linger: "0s", deadline: "5s" },
    ...settings,
  });

export const openGateway = async ({
  replicas,
  settings,
  clock = systemClock,
  ...given
}: Asked): Promise<TestGateway> => {
  const log = recordingLog();
  const metrics = createMetrics();
  const store = given.store ?? createMemoryStore(clock);
  const running = await startGateway(gatewayConfig(settings), store, {
    clock,
    log,
    metrics,
    replicasOf: () => replicas,
  });
  const ports = running.addresses.map(({ port }) => port);
  return {
    ...{ running, ports, log, metrics, store },
    port: ports[0] ?? 0,
    metricsText: () => metrics.text(),
    [Symbol.asyncDispose]: async () => {
      await running.stop();
      await store.close();
    },
  };
};
