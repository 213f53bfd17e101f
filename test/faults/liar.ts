/** Somebody who reaches the store and says what is not true, in the place of a region's agent or beside it. */
import { join } from "node:path";
import { systemClock } from "#shared/clock.ts";
import { readSecretFile } from "#shared/config.ts";
import { AgentId, RegionId } from "#shared/ids.ts";
import { keyIn } from "#shared/key-text.ts";
import { agentsKey, KEYS, reportedChannel, reportKey } from "#shared/keys.ts";
import { silentLogger } from "#shared/logger.ts";
import { RegionReport } from "#shared/report.ts";
import { signReport } from "#shared/report-signature.ts";
import { openStore } from "#shared/store-open.ts";
import { StoreSettings } from "#shared/store-settings.ts";

export type Liar = AsyncDisposable & {
  /** What the region's own agent reports now. */
  readonly truth: (region: string) => Promise<RegionReport>;
  /** Signed with a region's key: `report` without a word about who made it. */
  readonly signed: (report: RegionReport, by: string) => RegionReport;
  /** Puts it under this agent's key, lists it, and announces it, as agents do. */
  readonly says: (region: string, agent: string, report: object) => Promise<void>;
  /** Lists agents that there are none of, as seen in the future, and announces them. */
  readonly invents: (region: string, count: number) => Promise<void>;
  readonly forgets: (region: string) => Promise<void>;
};

const A_DAY_MS = 86_400_000;

export const openLiar = (storeUrl: string, keysFolder: string): Liar => {
  const store = openStore(StoreSettings.parse({ url: storeUrl, deadline: "10s" }), {
    ...{ clock: systemClock, log: silentLogger, name: "liar" },
  });
  const list = async (region: string, agent: string, atMs: number): Promise<void> => {
    await store.indexAdd(agentsKey(RegionId.parse(region)), agent, atMs);
    await store.announce(reportedChannel(), `${region}/${agent}`);
  };
  return {
    truth: async (region) => {
      const stored = await store.get(reportKey(RegionId.parse(region), AgentId.parse(`agent-${region}`)));
      return RegionReport.parse(JSON.parse(stored?.value ?? "null"));
    },
    signed: (report, by) => {
      const key = keyIn(readSecretFile(join(keysFolder, `report-${by}.key`)));
      if (key === null) throw new Error(`${by} has no key`);
      return signReport(report, key);
    },
    says: async (region, agent, report) => {
      const key = reportKey(RegionId.parse(region), AgentId.parse(agent));
      await store.put(key, JSON.stringify(report), KEYS.report.ttlMs);
      await list(region, agent, systemClock.epochMs());
    },
    invents: async (region, count) => {
      const names = Array.from({ length: count }, (_, at) => `nobody-${at}`);
      await Promise.all(names.map((name) => list(region, name, systemClock.epochMs() + A_DAY_MS)));
    },
    forgets: (region) => store.remove(agentsKey(RegionId.parse(region))),
    [Symbol.asyncDispose]: store.close,
  };
};
