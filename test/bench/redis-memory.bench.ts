/** What conversations cost: Redis's memory for each of a million, and a GTM's for 100 000 in its cache. */
import { MOST_SIZES } from "#gtm/datalayer/conversation-sweep.ts";
import { systemClock } from "#shared/clock.ts";
import { sizesKey } from "#shared/keys.ts";
import { type RedisServer, startRedis } from "#test/support/redis.ts";
import type { Bench, BenchRow } from "./bench.ts";
import { measureGtm } from "./redis-memory-gtm.ts";
import { contents, conversationAt, LOADED_REGIONS } from "./redis-memory-load.ts";
import { load } from "./redis-pipe.ts";

const CONVERSATIONS = 1_000_000;
const CACHED = 100_000;
const ASKED = 200;

const usedMemory = async ({ cli }: RedisServer): Promise<number> =>
  Number(/^used_memory:(\d+)/m.exec(await cli("info", "memory"))?.[1]);

const row = (what: string, value: number, unit: string, bound: string | null = null): BenchRow => ({
  ...{ what, value, unit, bound },
  against: null,
  ratio: null,
});

const inRedis = async (): Promise<readonly BenchRow[]> => {
  await using redis = await startRedis();
  const empty = await usedMemory(redis);
  const index: string[] = [];
  const values = function* (): Generator<string> {
    for (const piece of contents(CONVERSATIONS, systemClock)) {
      index.push(piece.index);
      yield piece.values;
    }
  };
  await load(redis.port, values());
  const withoutIndex = await usedMemory(redis);
  await load(redis.port, index);
  // As GTMs sweep.
  for (const region of LOADED_REGIONS) {
    await redis.cli("zremrangebyrank", sizesKey(region), "0", String(-MOST_SIZES - 1));
  }
  const whole = await usedMemory(redis);
  let usage = 0;
  for (let at = 0; at < ASKED; at++) {
    const { key } = conversationAt(at * (CONVERSATIONS / ASKED), systemClock);
    usage += Number(await redis.cli("memory", "usage", key));
  }
  const each = (bytes: number): number => Math.round(bytes / CONVERSATIONS);
  return [
    row("Redis memory a conversation, used_memory, both indexes included", each(whole - empty), "bytes", "≤ 400"),
    row("… without the indexes", each(withoutIndex - empty), "bytes"),
    row("MEMORY USAGE of a conversation's key, mean", Math.round(usage / ASKED), "bytes"),
  ];
};

const inGtm = async (): Promise<readonly BenchRow[]> => {
  await using redis = await startRedis();
  const { startedMegabytes, cachedMegabytes } = await measureGtm(redis.url, CACHED);
  return [
    row("RSS of a GTM on Redis, no conversation cached", startedMegabytes, "MB"),
    row("RSS of a GTM on Redis, 100 000 conversations cached, just served", cachedMegabytes, "MB"),
  ];
};

export const bench: Bench = {
  name: "redis-memory",
  run: async () => [...(await inRedis()), ...(await inGtm())],
};
