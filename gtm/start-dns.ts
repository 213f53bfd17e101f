/** DNS put together: answered by the main thread, or by several threads that it tells of the world. */
import { clientOfArea } from "#gtm/steering/area-client.ts";
import { createCellSteer } from "#gtm/steering/cell.ts";
import type { Entry, Ports } from "#gtm/steering/ports.ts";
import { createSteer } from "#gtm/steering/steer.ts";
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

/** The 10 ms that the store gets, and the way to the main thread and back. */
const LABEL_WITHIN_MS = 15;

/** Nothing runs before it is started. */
export const createDns = (parts: DnsParts): DnsServer =>
  parts.config.dns.workers > 1 ? inThreads(parts) : here(parts);

const here = (parts: DnsParts): DnsServer => {
  const { config, data, keys, ports, newId, clock, log, metrics } = parts;
  const { source, cells, challenges, degradations } = data;
  const decideCell = createCellSteer(ports, config.policy);
  return createDnsServer({
    ...setupOf(config),
    ...{ listen: config.dns.listen, isShared: false, rateTable: null },
    ...{ ports, newId, clock, log, metrics, labels: keys.labels, cookieKeys: keys.cookieKeys },
    steer: createSteer(ports, config.policy),
    findLabel: null,
    // A cell that this instance has not decided yet keeps the region that another one gave it.
    decideCell: (query, client, cell, previous) =>
      decideCell(query, clientOfArea(client), cell, previous ?? cells.regionOf(cell.key)),
    degraded: () => ({
      degradations: degradations.current().map(({ what, sinceMs }) => ({ what, ageMs: clock.epochMs() - sinceMs })),
      worldAgeMs: source.savedAgeMs() ?? clock.monotonicMs() - source.world().takenAtMs,
      isWorldSaved: source.savedAgeMs() !== null,
    }),
    challengeTexts: challenges.texts,
  });
};

const inThreads = (parts: DnsParts): DnsServer => {
  const { config, data, keys, ports, recorderAt, newId, clock, log, metrics } = parts;
  const { source, cells, challenges, degradations } = data;
  const setup = setupOf(config);
  const steer = createSteer(ports, config.policy);
  const onRead = createTally(metrics).labelRead;
  return createDnsWorkers({
    ...{ workers: config.dns.workers, listen: config.dns.listen, setup },
    ...{ source, cells, challenges, degradations, ports, recorderAt, clock, log, metrics },
    findLabel: createLabelFinder({ ...setup, ports, steer, labels: keys.labels, newId, clock, onRead }),
    confirmLabel: createLabelConfirm(ports),
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
};

const setupOf = ({ dns, http, sites, pools, models, policy, geo }: GtmConfig): DnsSetup => ({
  zone: dns.zone,
  limits: { ...DEFAULT_LIMITS, ...dns.tcp },
  rateLimit: dns.rateLimit,
  whyAllow: dns.whyAllow,
  defaultPool: dns.defaultPool,
  regions: sites,
  ...{ pools, models, policy, geo },
  nsid: dns.nsid,
  frontAddresses: http.addresses,
  ownSubnets: geo.static.map(({ cidr }) => cidr),
});
