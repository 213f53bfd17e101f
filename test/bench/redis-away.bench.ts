/** A GTM whose Redis is stopped against the same GTM with Redis: DNS answers and redirects a second. */
import { setTimeout as pause } from "node:timers/promises";
import { alternate, type Bench, type BenchRow } from "./bench.ts";
import { ask, forked } from "./children.ts";
import type { LoadOrder as DnsOrder, LoadDone } from "./dns-load.ts";
import type { LoadOrder as HttpOrder, LoadResult } from "./http-load.ts";
import { type GtmProcess, metricOf, type RedisHouse, startRedisHouse } from "./redis-house.ts";
import { CHAT_OF_A_NUMBERED_CONVERSATION, settled } from "./redis-lookups.bench.ts";

const PAIRS = 6;
const REQUESTS = 8_000;
const QUERIES = 30_000;
const CONNECTIONS = 32;
/** Known to the GTM, so that both sides do the same work: what a miss costs is the other benchmark's subject. */
const CONVERSATIONS = 1_000;

type Measure = (gtm: GtmProcess) => Promise<number>;

/** With the store, or without it, as the GTM itself sees it. */
const measured = async (house: RedisHouse, gtm: GtmProcess, isStopped: boolean, measure: Measure): Promise<number> => {
  if (isStopped) house.redis.kill("SIGKILL");
  else await house.redis.restart();
  while ((await metricOf(gtm, "gtm_store_up")) !== (isStopped ? 0 : 1)) await pause(20);
  if (!isStopped) await settled(gtm);
  return measure(gtm);
};

const row = async (
  what: string,
  unit: string,
  house: RedisHouse,
  gtm: GtmProcess,
  measure: Measure,
): Promise<BenchRow> => {
  const { a, b, ratio } = await alternate(
    PAIRS,
    () => measured(house, gtm, true, measure),
    () => measured(house, gtm, false, measure),
  );
  const against = `with Redis, ${Math.round(b)} ${unit}`;
  return { what, value: a, unit, against, ratio, bound: "≥ 0.95" };
};

export const bench: Bench = {
  name: "redis-away",
  run: async () => {
    await using house = await startRedisHouse();
    await using gtm = await house.startGtm("measured");
    using http = forked("http-load.ts");
    using dns = forked("dns-load.ts");
    const redirects: Measure = async ({ http: port }) => {
      const request = CHAT_OF_A_NUMBERED_CONVERSATION;
      const numbers = { from: 0, count: CONVERSATIONS };
      const order: HttpOrder = { port, request, numbers, connections: CONNECTIONS, requests: REQUESTS };
      return (await ask<LoadResult>(http, order)).perSecond;
    };
    const answers: Measure = async ({ dns: port }) => {
      const order: DnsOrder = { port, queries: QUERIES };
      const { elapsedMs, answered, other } = await ask<LoadDone>(dns, order);
      if (other > 0) throw new Error(`${other} of ${answered + other} queries were not answered with an address`);
      return (answered * 1_000) / elapsedMs;
    };
    await redirects(gtm);
    return [
      await row("307 with Redis stopped", "requests/s", house, gtm, redirects),
      await row("DNS with Redis stopped", "answers/s", house, gtm, answers),
    ];
  },
};
