/** Everything the demo runs: three engines as child processes, an agent beside each, and one or two GTMs, on the stores given. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Gtm, startGtm } from "#gtm/start.ts";
import { hashOfToken } from "#gtm/wire/admin/token.ts";
import { tokenLine } from "#gtm/wire/admin/tokens-file.ts";
import { systemClock } from "#shared/clock.ts";
import type { Logger } from "#shared/logger.ts";
import { createMetrics } from "#shared/metrics.ts";
import { type AdminApi, adminApi } from "./admin.ts";
import { writeKeys } from "./keys.ts";
import { enginePortAt, type GtmPorts, gtmPortsAt, PLACES, placeOf } from "./places.ts";
import { holdFillers, type RunningRegion, startRegion } from "./region.ts";
import { DEMO_ACTOR, gtmConfigAt } from "./settings.ts";
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
  readonly enginePort: number;
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
  const enginePort = enginePortAt(offset);
  const folder = mkdtempSync(join(tmpdir(), "llm-gtm-demo-"));
  const keys = writeKeys(
    folder,
    PLACES.map(({ region }) => region),
    systemClock.epochMs(),
  );
  const tokensFile = join(folder, "tokens.yaml");
  writeFileSync(tokensFile, `${tokenLine({ name: DEMO_ACTOR, role: "admin", sha256: hashOfToken(token) })}\n`);
  const regions = new Map<string, RunningRegion>();
  const gtms: { readonly stop: () => Promise<void> }[] = [];

  const begin = async (region: string): Promise<void> => {
    regions.set(region, await startRegion(placeOf(region), { enginePort, keys, stores, log }));
  };
  const stop = async (): Promise<void> => {
    await Promise.all(gtms.splice(0).map((gtm) => gtm.stop()));
    await Promise.all([...regions.values()].map((region) => region.stop()));
    regions.clear();
    rmSync(folder, { recursive: true, force: true });
  };
  const seatOf = (instance: string, at: number): GtmSeat & { readonly open: () => Promise<void> } => {
    const ports = gtmPortsAt(offset, at === 0 ? 0 : 1);
    const config = gtmConfigAt({ instance, ports, enginePort, tokensFile, keys: keys.gtm, storeUrl: stores.url });
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
    await allOf(PLACES.map(({ region }) => begin(region)));
    const [first, ...others] = options.instances;
    const seats = [seatOf(first, 0), ...others.map((instance, at) => seatOf(instance, at + 1))] as const;
    await allOf(seats.map(({ open }) => open()));
    return {
      ...{ gtms: seats, enginePort, stop, revive: begin },
      hold: (region, waiting) => holdFillers(placeOf(region), enginePort, waiting),
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
