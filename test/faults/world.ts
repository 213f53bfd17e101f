/** Everything that runs under a fault: two GTMs, four regions with an agent each, all of them processes on one store. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "#test/support/free-port.ts";
import { runNode } from "#test/support/program.ts";
import type { Said } from "./child.ts";
import { eventually } from "./eventually.ts";
import { createGtmProcess, type GtmProcess } from "./gtm-process.ts";
import type { GtmName } from "./history.ts";
import { type RegionProcess, startRegion } from "./region-process.ts";
import { type GtmPorts, PLACES } from "./settings.ts";

export type World = AsyncDisposable & {
  readonly gtms: readonly [GtmProcess, GtmProcess];
  readonly region: (id: string) => RegionProcess;
  /** Where `gtm keys init` put the keys. */
  readonly keysFolder: string;
  /** Of everything that the GTMs say from now on; one listener at a time. */
  readonly listen: (onSaid: (name: GtmName, said: Said) => void) => void;
};

export type WorldWish = {
  /** For the agents, and for each GTM that has no way of its own. */
  readonly storeUrl: string;
  /** The second GTM's way to the store. */
  readonly otherUrl?: string;
};

export const startWorld = async ({ storeUrl, otherUrl = storeUrl }: WorldWish): Promise<World> => {
  const folder = mkdtempSync(join(tmpdir(), "gtm-faults-"));
  const keysFolder = join(folder, "keys");
  const stoppable: { readonly stop: () => Promise<void> }[] = [];
  let onSaid: (name: GtmName, said: Said) => void = () => {};
  const stop = async (): Promise<void> => {
    await Promise.all(stoppable.map((one) => one.stop()));
    rmSync(folder, { recursive: true });
  };
  try {
    await makeKeys(keysFolder);
    const regions = await Promise.all(
      PLACES.map((place) =>
        startRegion(place, { folder, storeUrl, keyFile: join(keysFolder, `report-${place.id}.key`) }),
      ),
    );
    stoppable.push(...regions);
    const origins = new Map(regions.map(({ id, origin }) => [id, origin]));
    const gtmOf = async (name: GtmName, url: string): Promise<GtmProcess> => {
      const own = join(folder, name);
      mkdirSync(own);
      const wish = { name, ports: await freePorts(), storeUrl: url, folder: own, keysFolder, origins };
      const gtm = createGtmProcess(wish, (who, said) => onSaid(who, said));
      stoppable.push(gtm);
      return gtm;
    };
    const gtms = [await gtmOf("gtm-a", storeUrl), await gtmOf("gtm-b", otherUrl)] as const;
    await Promise.all([...regions.map((one) => one.startAgent()), ...gtms.map((one) => one.start())]);

    await eventually("two GTMs that find nothing wrong", () => isWell(gtms));
    return {
      gtms,
      keysFolder,
      region: (id) => {
        const found = regions.find((one) => one.id === id);
        if (found === undefined) throw new Error(`there is no region ${id}`);
        return found;
      },
      listen: (listener) => {
        onSaid = listener;
      },
      [Symbol.asyncDispose]: stop,
    };
  } catch (fault) {
    await stop();
    throw fault;
  }
};

/** Both reach the store, and every region is healthy for both. */
export const isWell = async (gtms: readonly GtmProcess[]): Promise<boolean> => {
  const all = await Promise.all(gtms.map((gtm) => gtm.status()));
  return all.every(
    (status) =>
      status?.isStoreUp === true &&
      status.degraded.length === 0 &&
      status.regions.every(({ health }) => health === "healthy"),
  );
};

/** Both reach the store, and nothing of it is degraded; regions may be what they like. */
export const isStoreWell = async (gtms: readonly GtmProcess[]): Promise<boolean> => {
  const all = await Promise.all(gtms.map((gtm) => gtm.status()));
  return all.every(
    (status) => status?.isStoreUp === true && status.degraded.every((what) => OF_REGIONS.includes(what)),
  );
};

const OF_REGIONS = ["regions", "ages"];

const makeKeys = async (folder: string): Promise<void> => {
  const regions = PLACES.flatMap(({ id }) => ["--region", id]);
  const { exitCode, stderr } = await runNode(["gtm/main.ts", "keys", "init", "--dir", folder, ...regions]);
  if (exitCode !== 0) throw new Error(`gtm keys init ended with ${exitCode}: ${stderr}`);
};

const freePorts = async (): Promise<GtmPorts> => ({
  dns: await freePort(),
  http: await freePort(),
  admin: await freePort(),
  metrics: await freePort(),
});
