/** Pages of 100 000 conversations by the admin API, in memory and on Redis: the first, one from the middle, and under filters. */
import { performance } from "node:perf_hooks";
import { request } from "undici";
import { systemClock } from "#shared/clock.ts";
import { silentLogger } from "#shared/logger.ts";
import type { Store } from "#shared/store.ts";
import { createMemoryStore } from "#shared/store-memory.ts";
import { openStore } from "#shared/store-open.ts";
import { StoreSettings } from "#shared/store-settings.ts";
import { startRedis } from "#test/support/redis.ts";
import { fill, startAdminSubject } from "./admin-subject.ts";
import type { Bench, BenchRow } from "./bench.ts";
import { contents, LOADED_MODELS } from "./redis-memory-load.ts";
import { load } from "./redis-pipe.ts";

const CONVERSATIONS = 100_000;
const ASKED = 60;
/** Of 100 000 in five regions, far from both ends. */
const PAGES_IN = 40;

const model = encodeURIComponent(LOADED_MODELS[0] ?? "");
/** What is asked for; every bound is of the 99th percentile. */
const LISTS: readonly (readonly [what: string, query: string])[] = [
  ["50, latest turn first", "limit=50"],
  ["50, largest first", "limit=50&sort=tokens"],
  ["50, longest idle first", "limit=50&sort=idle"],
  ["50, by region", "limit=50&sort=region"],
  ["500, largest first", "limit=500&sort=tokens"],
  ["50 of one model, at least 30 000 tokens, idle for 5 min", `limit=50&model=${model}&min_tokens=30000&idle=5m`],
  ["50 of a tenant that has none: 500 records are read", "limit=50&tenant=nobody"],
];

type Page = { readonly items: readonly unknown[]; readonly next_cursor: string | null };

const timesOf = async (url: string, query: string): Promise<{ readonly p50: number; readonly p99: number }> => {
  const get = async (cursor: string | null): Promise<Page> => {
    const more = cursor === null ? "" : `&cursor=${cursor}`;
    return (await (await request(`${url}/conversations?${query}${more}`)).body.json()) as Page;
  };
  const times: number[] = [];
  let cursor: string | null = null;
  for (let nth = 0; nth < PAGES_IN; nth++) cursor = (await get(cursor)).next_cursor;
  for (let nth = 0; nth < ASKED; nth++) {
    const from = performance.now();
    await get(nth % 2 === 0 ? null : cursor);
    times.push(performance.now() - from);
  }
  times.sort((a, b) => a - b);
  const at = (fraction: number): number => times[Math.min(times.length - 1, Math.floor(times.length * fraction))] ?? 0;
  return { p50: at(0.5), p99: at(0.99) };
};

const rowsFor = async (where: string, store: Store): Promise<readonly BenchRow[]> => {
  const gtm = await startAdminSubject(store);
  const { address, port } = gtm.addresses().admin;
  const rows: BenchRow[] = [];
  for (const [what, query] of LISTS) {
    const { p50, p99 } = await timesOf(`http://${address}:${port}/api/v1`, query);
    const row = { unit: "ms", against: null, ratio: null };
    rows.push({ ...row, what: `${where}: ${what}, p50`, value: p50, bound: null });
    rows.push({ ...row, what: `${where}: … p99`, value: p99, bound: "≤ 50" });
  }
  await gtm.stop();
  return rows;
};

export const bench: Bench = {
  name: "admin-conversations",
  run: async () => {
    const memory = createMemoryStore(systemClock);
    await fill(memory, CONVERSATIONS);
    const inMemory = await rowsFor("memory", memory);
    await memory.close();
    await using redis = await startRedis();
    await load(
      redis.port,
      (function* () {
        for (const { values, index } of contents(CONVERSATIONS, systemClock)) yield values + index;
      })(),
    );
    const settings = StoreSettings.parse({ url: redis.url });
    const store = openStore(settings, { clock: systemClock, log: silentLogger, name: "bench" });
    const inRedis = await rowsFor("Redis", store);
    await store.close();
    return [...inMemory, ...inRedis];
  },
};
