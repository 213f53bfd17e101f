/** Everything the demo runs: engines as child processes, a gateway and an agent for each, and one or two GTMs, on the stores given. */
import { type Gtm, startGtm } from "#gtm/start.ts";
import { systemClock } from "#shared/clock.ts";
import type { Logger } from "#shared/logger.ts";
import { createMetrics } from "#shared/metrics.ts";
import { type AdminApi, adminApi } from "./admin.ts";
import { makeFolder } from "./folder.ts";
import { type GtmPorts, gtmPortsAt, placeOf, type RegionPorts, regionPortsAt, SITES, type Site } from "./places.ts";
import { holdFillers, type RunningRegion, startRegion } from "./region.ts";
import { gtmConfigAt } from "./settings.ts";
import type { DemoStores } from "./stores.ts";

/** A GTM as its clients see it. */
export type GtmSeat = {
  readonly instance: string;
  readonly ports: GtmPorts;
  readonly frontUrl: string;
  /** As node:dns takes it. */
  readonly dnsServer: string;
  readonly admin: AdminApi;
};

export type Stack = {
  readonly gtms: readonly [GtmSeat, ...GtmSeat[]];
  readonly regionPorts: RegionPorts;
  /** PEM: what clients of the TLS pool must trust. */
  readonly authorityFile: string;
  /** Keeps so many fillers in the queue of each of the region's replicas. */
  readonly hold: (region: string, waiting: number) => Promise<void>;
  /** Ends the region's engine as a power cut would, and its agent with it. */
  readonly kill: (region: string) => Promise<void>;
  readonly revive: (region: string) => Promise<void>;
  readonly stop: () => Promise<void>;
};

export type StackOptions = {
  /** Of every port. */
  readonly offset: number;
  /** Who the GTMs are, one or two. */
  readonly instances: readonly [string, ...string[]];
  readonly token: string;
  readonly stores: DemoStores;
  readonly log: Logger;
};

/** @throws {OperationalError | Error} when a part does not start; what had started is stopped again */
export const startStack = async (options: StackOptions): Promise<Stack> => {
  const { offset, token, stores, log } = options;
  const regionPorts = regionPortsAt(offset);
  const folder = await makeFolder(token);
  const { keys, tokensFile, engineKeyFile, tls, authorityFile } = folder;
  const regions = new Map<string, RunningRegion>();
  const gtms: { readonly stop: () => Promise<void> }[] = [];

  const begin = async (site: Site): Promise<void> => {
    const wish = { ports: regionPorts, keys: keys.of(site.region), engineKeyFile, tls, storeUrl: stores.url };
    regions.set(site.region, await startRegion(site, { ...wish, stores, log }));
  };
  const stop = async (): Promise<void> => {
    await Promise.all(gtms.splice(0).map((gtm) => gtm.stop()));
    await Promise.all([...regions.values()].map((region) => region.stop()));
    regions.clear();
    folder.remove();
  };
  const seatOf = (instance: string, at: number): GtmSeat & { readonly open: () => Promise<void> } => {
    const ports = gtmPortsAt(offset, at === 0 ? 0 : 1);
    const config = gtmConfigAt({ instance, ports, regionPorts, tokensFile, keys: keys.gtm, storeUrl: stores.url });
    return {
      ...{ instance, ports },
      frontUrl: `http://127.0.0.1:${ports.http}`,
      dnsServer: `127.0.0.1:${ports.dns}`,
      admin: adminApi(`http://127.0.0.1:${ports.admin}`, token),
      open: async () => {
        const store = stores.open(`gtm/${instance}`);
        const gtm: Gtm = await startGtm(config, store, { clock: systemClock, log, metrics: createMetrics() }).catch(
          async (fault) => {
            await store.close();
            throw fault;
          },
        );
        gtms.push({ stop: () => gtm.stop().finally(() => store.close()) });
      },
    };
  };
  try {
    await allOf(SITES.map(begin));
    const [first, ...others] = options.instances;
    const seats = [seatOf(first, 0), ...others.map((instance, at) => seatOf(instance, at + 1))] as const;
    await allOf(seats.map(({ open }) => open()));
    return {
      ...{ gtms: seats, regionPorts, authorityFile, stop },
      hold: (region, waiting) => holdFillers(placeOf(region), regionPorts, waiting),
      revive: (region) => begin(placeOf(region)),
      kill: async (region) => {
        const running = regions.get(region);
        regions.delete(region);
        await running?.kill();
      },
    };
  } catch (fault) {
    await stop();
    throw fault;
  }
};

/** All of them settle before one that failed is told: nothing may start behind the back of `stop`. */
const allOf = async (running: readonly Promise<void>[]): Promise<void> => {
  for (const one of await Promise.allSettled(running)) if (one.status === "rejected") throw one.reason;
};
