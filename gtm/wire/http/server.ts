/** The front door: the part of the GTM that answers HTTP. */
import type { IncomingMessage } from "node:http";
import type { IdentitySource } from "#gtm/domain/identity-source.ts";
import type { Model } from "#gtm/domain/model.ts";
import type { Pool } from "#gtm/domain/pool.ts";
import type { World } from "#gtm/domain/world.ts";
import type { Steer } from "#gtm/steering/steer.ts";
import type { Clock } from "#shared/clock.ts";
import type { DecisionId, RegionId } from "#shared/ids.ts";
import type { Part } from "#shared/lifecycle.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import type { Labels } from "#shared/pin-token.ts";
import type { TicketSealer } from "#shared/ticket.ts";
import { type TlsPaths, watchTlsFiles } from "#shared/tls-files.ts";
import { createRequestListener } from "./app.ts";
import { createConnections } from "./connections.ts";
import { createForward } from "./forward.ts";
import { createHandle, type Handle } from "./front-door.ts";
import { createHttpMetrics } from "./http-metrics.ts";
import type { Limits } from "./limits.ts";
import { type Address, type Listener, openListener, textOf } from "./listener.ts";
import { createPeers } from "./peers.ts";
import { regionAgent } from "./region-agent.ts";
import type { FindResponse } from "./state.ts";

/** How long a changed certificate may go unnoticed. */
const CERTIFICATE_LOOK_MS = 5_000;

export type FrontDoorOptions = {
  /** Port 0: any free one. */
  readonly listen: Address;
  /** In lower case, without final dot. */
  readonly zoneName: string;
  readonly pools: readonly Pool[];
  /** For hosts that are no pool's name; null: such hosts get 421. */
  readonly defaultPool: Pool | null;
  /** Their aliases. */
  readonly models: readonly Model[];
  /** Every configured region: pin tokens name them by tag. */
  readonly regions: readonly RegionId[];
  readonly steer: Steer;
  readonly world: () => World;
  readonly newId: () => DecisionId;
  readonly clock: Clock;
  readonly labels: Labels;
  /** Whether answers name `<label>.c.<zone>`, which shows in passive DNS. */
  readonly offersLabels: boolean;
  /** Where a request may say which conversation it belongs to, first come first. */
  readonly identityOrder: readonly IdentitySource[];
  /** Where a stored response lies. */
  readonly findResponse: FindResponse;
  /** Addresses and CIDRs whose X-Forwarded-For and tenant header count. */
  readonly trustedProxies: readonly string[];
  /** Whether they begin each connection with a PROXY header, version 2. */
  readonly proxyProtocol: boolean;
  /** Paths of certificate and key, read again when they change; null: plain HTTP. */
  readonly tls: TlsPaths | null;
  /** Path of a private authority of the regions' certificates; null: those that Node trusts. */
  readonly regionsCaFile: string | null;
  /** Regions whose gateway opens tickets. */
  readonly gateways: ReadonlySet<RegionId>;
  /** Of now; null: there are no keys of tickets, and no region has a gateway. */
  readonly ticketSealer: () => TicketSealer | null;
  /** Headers that tickets carry beside Authorization, Cookie, x-api-key and api-key; in lower case. */
  readonly ticketHeaders: readonly string[];
  /** null: tenants are told apart by their credentials. */
  readonly tenantHeader: string | null;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly limits: Limits;
};

/** What a configuration says of the front door that may change while it answers; who decides by it goes with it. */
export type ChangingDoor = Pick<
  FrontDoorOptions,
  | "pools"
  | "defaultPool"
  | "models"
  | "regions"
  | "steer"
  | "world"
  | "offersLabels"
  | "identityOrder"
  | "trustedProxies"
  | "gateways"
  | "ticketHeaders"
  | "tenantHeader"
>;

export type FrontDoor = Part & {
  /** Where it listens. @throws {Error} before it does */
  readonly address: () => Address;
  /**
   * Another configuration; requests that are here are answered by the one they came under.
   *
   * @returns puts it in place, in one step for every request that comes
   */
  readonly prepare: (changed: ChangingDoor) => () => void;
};

export const createFrontDoor = (options: FrontDoorOptions): FrontDoor => {
  const { log, limits } = options;
  const metrics = createHttpMetrics(options.metrics);
  const connections = createConnections(metrics);
  const peers = createPeers(options.trustedProxies);
  const tls =
    options.tls === null ? null : watchTlsFiles(options.tls, { ...options, lookEveryMs: CERTIFICATE_LOOK_MS });
  let isStopping = false;
  let listener: Listener | null = null;

  // An answer that ends its connection is the last on it: of pipelined requests, only the last one's.
  const isLast = (incoming: IncomingMessage): boolean => isStopping && connections.isNewest(incoming);
  const forward = createForward({
    agent: regionAgent(limits, options.regionsCaFile),
    ...{ limits, metrics, clock: options.clock, isLast },
  });
  const handleBy = (changed: ChangingDoor): Handle =>
    createHandle({
      ...options,
      ...changed,
      metrics,
      forward,
      peers,
      isLast,
      headerCount: limits.headerCount,
      pinHintMs: limits.pinHintMs,
      tenantHeader: changed.tenantHeader?.toLowerCase() ?? null,
    });
  let handle = handleBy(options);
  const listen = createRequestListener((incoming, outgoing) => handle(incoming, outgoing), { log, metrics });

  return {
    name: "http",
    start: async () => {
      listener = await openListener(
        (incoming, outgoing) => {
          connections.began(incoming, outgoing);
          listen(incoming, outgoing).catch((error: unknown) => log.error("http.bug", { stack: String(error) }));
        },
        { ...options, connections, metrics, tls, peers },
      );
      log.info("http.listening", { address: textOf(listener.address), tls: tls !== null });
    },
    stop: async () => {
      isStopping = true;
      await listener?.close();
      await forward.close();
      tls?.stop();
    },
    prepare: (changed) => {
      const next = handleBy(changed);
      return () => {
        handle = next;
        peers.trustOthers(changed.trustedProxies);
      };
    },
    address: () => {
      if (listener === null) throw new Error("http: not started");
      return listener.address;
    },
  };
};
