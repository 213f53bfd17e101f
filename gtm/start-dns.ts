/** DNS put together: answered by the main thread, or by several threads that it tells of the world. */
import { clientOfArea } from "#gtm/steering/area-client.ts";
import { createCellSteer } from "#gtm/steering/cell.ts";
import type { Entry, Ports } from "#gtm/steering/ports.ts";
import { createSteer } from "#gtm/steering/steer.ts";
import type { ChangingOptions } from "#gtm/wire/dns/changing-steps.ts";
import { createLabelConfirm } from "#gtm/wire/dns/label-confirm.ts";
import { createLabelFinder } from "#gtm/wire/dns/label-finder.ts";
import { DEFAULT_LIMITS } from "#gtm/wire/dns/limit.ts";
import { createDnsServer, type DnsServer } from "#gtm/wire/dns/server.ts";
import { createTally } from "#gtm/wire/dns/tally.ts";
import type { Clock } from "#shared/clock.ts";
import type { DecisionId } from "#shared/ids.ts";
import type { GtmConfig } from "./config.ts";
import type { DnsSetup } from "./dns-workers/messages.ts";
import { createDnsWorkers } from "./dns-workers/server.ts";
import type { StandingKeys } from "./keys/standing-keys.ts";
import type { GtmData, GtmOptions } from "./start-data.ts";

export type DnsParts = GtmOptions & {
  readonly config: GtmConfig;
  readonly data: GtmData;
  readonly keys: StandingKeys;
  readonly ports: Ports;
  /** @param clock what durations are measured by */
  readonly recorderAt: (clock: Pick<Clock, "monotonicMs">) => (entry: Entry) => void;
  readonly newId: () => DecisionId;
};

export type GtmDns = Omit<DnsServer, "prepare"> & {
  /** @param ports what is decided through from then on @returns puts the configuration in place */
  readonly prepare: (config: GtmConfig, ports: Ports) => () => void;
};

/** The 10 ms that the store gets, and the way to the main thread and back. */
const LABEL_WITHIN_MS = 15;

/** Nothing runs before it is started. */
export const createDns = (parts: DnsParts): GtmDns => (parts.config.dns.workers > 1 ? inThreads(parts) : here(parts));

const here = (parts: DnsParts): GtmDns => {
  const { config, data, keys, newId, clock, log, metrics } = parts;
  const { source, cells, challenges, degradations } = data;
  const decidedBy = (by: GtmConfig, ports: Ports): DnsSetup & ChangingOptions => {
    const decideCell = createCellSteer(ports, by.policy);
    return {
      ...setupOf(by),
      ...{ ports, steer: createSteer(ports, by.policy), findLabel: null },
      // A cell that this instance has not decided yet keeps the region that another one gave it.
      decideCell: (query, client, cell, previous) =>
        decideCell(query, clientOfArea(client), cell, previous ?? cells.regionOf(cell.key)),
    };
  };
  const server = createDnsServer({
    ...decidedBy(config, parts.ports),
    ...{ listen: config.dns.listen, isShared: false, rateTable: null },
    ...{ newId, clock, log, metrics, labels: keys.labels, cookieKeys: keys.cookieKeys },
    degraded: () => ({
      degradations: degradations.current().map(({ what, sinceMs }) => ({ what, ageMs: clock.epochMs() - sinceMs })),
      worldAgeMs: source.savedAgeMs() ?? clock.monotonicMs() - source.world().takenAtMs,
      isWorldSaved: source.savedAgeMs() !== null,
    }),
    challengeTexts: challenges.texts,
  });
  return { ...server, prepare: (to, ports) => server.prepare(decidedBy(to, ports)) };
};

const inThreads = (parts: DnsParts): GtmDns => {
  const { config, data, keys, recorderAt, newId, clock, log, metrics } = parts;
  const { source, cells, challenges, degradations } = data;
  const onRead = createTally(metrics).labelRead;
  const decidedBy = (by: GtmConfig, ports: Ports) => {
    const setup = setupOf(by);
    const steer = createSteer(ports, by.policy);
    return {
      setup,
      findLabel: createLabelFinder({ ...setup, ports, steer, labels: keys.labels, newId, clock, onRead }),
      confirmLabel: createLabelConfirm(ports),
    };
  };
  const workers = createDnsWorkers({
    ...decidedBy(config, parts.ports),
    ...{ workers: config.dns.workers, listen: config.dns.listen, ports: { world: source.world } },
    ...{ source, cells, challenges, degradations, recorderAt, clock, log, metrics },
    labelWithinMs: LABEL_WITHIN_MS,
    facts: () => {
      const savedAgeMs = source.savedAgeMs();
      return {
        degradations: degradations.current().map(({ what, sinceMs }) => ({ what, sinceMs })),
        savedAtMs: savedAgeMs === null ? null : Math.round(clock.monotonicMs() - savedAgeMs),
        cookieKeys: keys.cookieKeys(),
        labelKeys: keys.labelKeys(),
      };
    },
  });
  return { ...workers, prepare: (to, ports) => workers.prepare(decidedBy(to, ports)) };
};

const setupOf = ({ dns, http, sites, pools, models, policy, geo }: GtmConfig): DnsSetup => ({
  zone: dns.zone,
  limits: { ...DEFAULT_LIMITS, ...dns.tcp },
  rateLimit: dns.rateLimit,
  isBatched: dns.isBatched,
  whyAllow: dns.whyAllow,
  defaultPool: dns.defaultPool,
  regions: sites,
  ...{ pools, models, policy, geo },
  nsid: dns.nsid,
  frontAddresses: http.addresses,
  ownSubnets: geo.static.map(({ cidr }) => cidr),
});
