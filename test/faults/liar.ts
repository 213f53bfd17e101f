/** Somebody who reaches the store and says what is not true, in the place of a region's agent or beside it. */
import { join } from "node:path";
import { systemClock } from "#shared/clock.ts";
import { readSecretFile } from "#shared/config.ts";
import { AgentId, RegionId } from "#shared/ids.ts";
import { keyIn } from "#shared/key-text.ts";
import { agentsKey, KEYS, reportedChannel, reportKey } from "#shared/keys.ts";
import { silentLogger } from "#shared/logger.ts";
import { signedWith } from "#shared/region-signature.ts";
import { RegionReport } from "#shared/report.ts";
import { openStore } from "#shared/store-open.ts";
import { StoreSettings } from "#shared/store-settings.ts";
import type { RedisServer } from "#test/support/redis.ts";
import { redisCli } from "#test/support/redis-cli.ts";

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
const INVENT = `
for at = 1, ARGV[1] do
  local name = 'nobody-' .. at
  redis.call('ZADD', KEYS[1], ARGV[2], name)
  redis.call('PUBLISH', ARGV[3], ARGV[4] .. name)
end
return ARGV[1]`;

export const openLiar = (redis: Pick<RedisServer, "url" | "port">, keysFolder: string): Liar => {
  const store = openStore(StoreSettings.parse({ url: redis.url, deadline: "10s" }), {
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
      return signedWith(report, key);
    },
    says: async (region, agent, report) => {
      const key = reportKey(RegionId.parse(region), AgentId.parse(agent));
      await store.put(key, JSON.stringify(report), KEYS.report.ttlMs);
      await list(region, agent, systemClock.epochMs());
    },
    invents: async (region, count) => {
      // In one command: it is the GTMs that are to be flooded, not this process.
      const atMs = String(systemClock.epochMs() + A_DAY_MS);
      const words = [agentsKey(RegionId.parse(region)), String(count), atMs, reportedChannel(), `${region}/`];
      await redisCli({ port: redis.port, tls: null, login: null }, "eval", INVENT, "1", ...words);
    },
    forgets: (region) => store.remove(agentsKey(RegionId.parse(region))),
    [Symbol.asyncDispose]: store.close,
  };
};
