/** The front door put together: what of it a configuration may change while it answers, and what it may not. */
import type { Ports } from "#gtm/steering/ports.ts";
import { createSteer } from "#gtm/steering/steer.ts";
import { DEFAULT_LIMITS } from "#gtm/wire/http/limits.ts";
import { type ChangingDoor, createFrontDoor, type FrontDoor } from "#gtm/wire/http/server.ts";
import type { DecisionId } from "#shared/ids.ts";
import type { GtmConfig } from "./config.ts";
import type { StandingKeys } from "./keys/standing-keys.ts";
import type { GtmData, GtmOptions } from "./start-data.ts";

export type HttpParts = GtmOptions & {
  readonly config: GtmConfig;
  readonly data: Pick<GtmData, "responses">;
  readonly keys: Pick<StandingKeys, "labels" | "ticketSealer">;
  readonly ports: Ports;
  readonly newId: () => DecisionId;
  /** How long the store may take to say where a stored response lies. */
  readonly findWithinMs: number;
};

export type GtmHttp = Omit<FrontDoor, "prepare"> & {
  /** @param ports what is decided through from then on @returns puts the configuration in place */
  readonly prepare: (config: GtmConfig, ports: Ports) => () => void;
};

/** Accepted requests may take so long to end; what is left of the deadline is for the other parts. */
const HTTP_STOP_MS = 8_000;

/** Nothing runs before it is started. */
export const createHttp = (parts: HttpParts): GtmHttp => {
  const { config, data, keys, ports, findWithinMs, ...rest } = parts;
  const { listen, tls, proxyProtocol, regionsCaFile } = config.http;
  const door = createFrontDoor({
    ...rest,
    ...changingOf(config, ports),
    ...{ listen, tls, proxyProtocol, regionsCaFile, zoneName: config.dns.zone.name },
    ...{ labels: keys.labels, ticketSealer: keys.ticketSealer },
    findResponse: (response) => data.responses.find(response, findWithinMs),
    limits: { ...DEFAULT_LIMITS, stopMs: HTTP_STOP_MS },
  });
  return { ...door, prepare: (to, through) => door.prepare(changingOf(to, through)) };
};

const changingOf = ({ http, pools, models, sites, policy }: GtmConfig, ports: Ports): ChangingDoor => ({
  ...{ pools, models },
  regions: sites.map(({ id }) => id),
  gateways: new Set(sites.filter(({ hasGateway }) => hasGateway).map(({ id }) => id)),
  defaultPool: http.defaultPool,
  offersLabels: http.offersLabels,
  identityOrder: http.identityOrder,
  trustedProxies: http.trustedProxies,
  ticketHeaders: http.ticketHeaders,
  tenantHeader: http.tenantHeader,
  steer: createSteer(ports, policy),
  world: ports.world,
});
