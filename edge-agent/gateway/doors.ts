/** All listening addresses of the gateway: who may come in, whose connection it is, how far away it comes from. */
import { createProxyTrust } from "#shared/client-address.ts";
import type { Logger } from "#shared/logger.ts";
import { takeProxyHeader } from "#shared/proxy-header.ts";
import type { TlsFiles } from "#shared/tls-files.ts";
import type { Clients } from "./clients.ts";
import type { GatewayConfig } from "./config.ts";
import type { Origins } from "./connection-origin.ts";
import type { Handle } from "./gateway.ts";
import type { GatewayMetrics } from "./gateway-metrics.ts";
import { type Listener, type ListenerRules, openListener } from "./listener.ts";
import type { RoundTrips } from "./round-trips.ts";

export type DoorRules = {
  /** null: no address speaks TLS. */
  readonly files: TlsFiles | null;
  readonly handle: Handle;
  readonly clients: Clients;
  readonly origins: Origins;
  readonly roundTrips: Pick<RoundTrips, "add">;
  readonly metrics: GatewayMetrics;
  readonly log: Logger;
};

export type Doors = {
  /** In the order of the configuration. */
  readonly addresses: readonly Listener["address"][];
  readonly refuseMore: () => void;
  readonly close: () => void;
};

const PROXY_HEADER_MS = 5_000;

/** @throws {OperationalError} GTM_LISTEN_FAILED: then none is open */
export const openDoors = async (config: GatewayConfig, rules: DoorRules): Promise<Doors> => {
  const { files, clients, log } = rules;
  const shared = listenerRules(config, rules);
  const open: Listener[] = [];
  const closeAll = (): void => {
    for (const listener of open) listener.close();
  };
  try {
    for (const { address, tls } of config.listen) {
      const listener = await openListener({ ...shared, listen: address, tls: tls ? files : null });
      open.push(listener);
      log.info("gateway.listening", { ...listener.address, tls });
    }
  } catch (fault) {
    closeAll();
    throw fault;
  }
  files?.onTaken(() => {
    for (const listener of open) listener.renewCertificate();
  });
  return {
    addresses: open.map(({ address }) => address),
    refuseMore: () => {
      for (const listener of open) listener.refuseMore();
    },
    close: () => {
      clients.closeAll();
      closeAll();
    },
  };
};

const listenerRules = (config: GatewayConfig, rules: DoorRules): Omit<ListenerRules, "listen" | "tls"> => {
  const { handle, clients, origins, roundTrips, metrics, log } = rules;
  const balancers = createProxyTrust(config.proxy_protocol);
  return {
    mostConnections: config.limits.connections,
    onConnection: (socket, go) => {
      clients.opened(socket);
      if (!balancers.isTrusted(socket.remoteAddress ?? "")) return go();
      takeProxyHeader(socket, {
        deadlineMs: PROXY_HEADER_MS,
        onRead: (_, client) => {
          origins.announced(socket, client);
          go();
        },
        onRefused: (reason) => metrics.proxyRefused.inc({ reason }),
      });
    },
    onHandshake: (socket, tookMs) => {
      const origin = origins.of(socket);
      if (!origin.isBalancer) roundTrips.add(origin.networkOf(null), tookMs);
    },
    onRequest: (incoming, outgoing, expectsContinue) => {
      clients.began(incoming, outgoing);
      // Of a connection that breaks: the answer's own `close` says it.
      incoming.on("error", () => {});
      outgoing.on("error", () => {});
      handle(incoming, outgoing, expectsContinue).catch((bug: unknown) => {
        log.error("gateway.bug", { stack: (bug instanceof Error && bug.stack) || String(bug) });
        outgoing.destroy();
      });
    },
    isAnswering: clients.isAnswering,
    metrics,
    log,
  };
};
