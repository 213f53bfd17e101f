/** The Redis that the demo runs on: somebody's, left as it was found, or one of the demo's own; and how it is lost in the story. */
import { setTimeout as sleep } from "node:timers/promises";
import { OperationalError } from "#shared/errors.ts";
import { ordersKey } from "#shared/keys.ts";
import type { Logger } from "#shared/logger.ts";
import type { Store } from "#shared/store.ts";
import { shownStoreUrl } from "#shared/store-url.ts";
import type { RedisWish } from "./options.ts";
import { startPartition } from "./partition.ts";
import { listens, type SingleAddress, startRedisServer } from "./redis-server.ts";
import { type DemoStores, redisStores } from "./stores.ts";
import { moveIn, moveOut } from "./traces.ts";

/** How the story loses Redis, and gets it back. */
export type Outage = {
  /** `killed`: it comes back empty. `cut-off`: it keeps what it has. */
  readonly kind: "killed" | "cut-off";
  readonly begin: () => Promise<void>;
  readonly end: () => Promise<void>;
};

export type DemoRedis = {
  readonly stores: DemoStores;
  /** The demo's own connection, which no outage of the story concerns but a killed server. */
  readonly store: Store;
  /** null: the story cannot come between the programs and a Redis of this kind. */
  readonly outage: Outage | null;
  /** Once every program has ended: nothing of the demo is left there. */
  readonly stop: () => Promise<void>;
};

export type RedisOptions = {
  readonly wish: RedisWish;
  /** Whether it is to be lost in the middle. */
  readonly isLost: boolean;
  readonly log: Logger;
  /** What was found and done, a line each. */
  readonly say: (line: string) => void;
};

const REACHED_WITHIN_MS = 3_000;
/** Whoever started it again after the end of the story finds nothing of the demo in it. */
const LEFT_WITHIN_MS = 15_000;
const REMARKABLE_MS = 2_000;
const LOOK_EVERY_MS = 50;

/** @throws {OperationalError} DEMO_REDIS_UNUSABLE: why, and how to start one; GTM_STORE_REFUSED: the user may not do it */
export const openRedis = async (options: RedisOptions): Promise<DemoRedis> => {
  const { address } = options.wish;
  const isSingle = address.kind === "single" && !address.isTls;
  const isFree = isSingle && isLoopback(address.endpoint.host) && !(await listens(address));
  return isSingle && isFree && options.isLost ? ownRedis(address, options) : foreignRedis(options);
};

const ownRedis = async (address: SingleAddress, { wish, log, say }: RedisOptions): Promise<DemoRedis> => {
  const server = await startRedisServer(address);
  say(
    `Nothing listened at ${shownStoreUrl(wish.url)}: the demo started a redis-server of its own there, in memory only.`,
  );
  const stores = redisStores(wish.url, log);
  const store = stores.open("demo");
  return {
    ...{ stores, store },
    outage: { kind: "killed", begin: server.kill, end: server.start },
    stop: async () => {
      await store.close();
      await server.stop();
    },
  };
};

const foreignRedis = async ({ wish, isLost, log, say }: RedisOptions): Promise<DemoRedis> => {
  const { address, url } = wish;
  const shown = shownStoreUrl(url);
  const store = await reached(wish, log);
  const close = async (): Promise<void> => {
    await leave(store, say);
    await store.close();
  };
  try {
    const left = await moveIn(store);
    if (left.length > 0) say(`An earlier demo had left orders in ${shown}, which were removed: ${left.join(", ")}.`);
    if (!isLost || address.kind !== "single" || address.isTls) {
      if (isLost) say(`The story does not lose ${shown}: it comes between programs and a single redis:// server only.`);
      return { stores: redisStores(url, log), store, outage: null, stop: close };
    }
    const partition = await startPartition(address.endpoint);
    say(`A server answers at ${shown}, which is not the demo's to kill: the story cuts it off instead.`);
    return {
      stores: redisStores(urlBy(url, partition.endpoint.port), log),
      store,
      outage: { kind: "cut-off", begin: async () => partition.cut(), end: async () => partition.heal() },
      stop: async () => {
        await partition.stop();
        await close();
      },
    };
  } catch (fault) {
    await store.close();
    throw fault;
  }
};

/** @throws {OperationalError} where nobody lets the demo in */
const reached = async ({ url, address }: RedisWish, log: Logger): Promise<Store> => {
  let why = `no answer within ${REACHED_WITHIN_MS / 1_000} s`;
  const hear: Logger = {
    ...log,
    warn: (event, fields) => {
      if (event === "redis.fault") why = String(fields?.["cause"]);
      log.warn(event, fields);
    },
  };
  const store = redisStores(url, hear).open("demo");
  const deadlineMs = performance.now() + REACHED_WITHIN_MS;
  while (!store.isUp() && performance.now() < deadlineMs && !why.includes("ECONNREFUSED")) await sleep(LOOK_EVERY_MS);
  try {
    if (!store.isUp()) throw new Error(why);
    await store.get(ordersKey());
    return store;
  } catch (cause) {
    await store.close();
    const { host, port } = address.kind === "single" ? address.endpoint : { host: "", port: 0 };
    const remedy = isLoopback(host) ? `\nStart one: redis-server --port ${port} --save "" --appendonly no` : "";
    const said = cause instanceof Error ? cause.message : String(cause);
    throw new OperationalError(
      "DEMO_REDIS_UNUSABLE",
      `no Redis lets the demo in at ${shownStoreUrl(url)}: ${said}${remedy}`,
      {
        cause,
      },
    );
  }
};

/** Whoever took Redis away meanwhile took everything along, or finds it removed by the next demo. */
const leave = async (store: Store, say: (line: string) => void): Promise<void> => {
  const startedAtMs = performance.now();
  let isTold = false;
  for (;;) {
    try {
      return await moveOut(store);
    } catch (fault) {
      if (!(fault instanceof OperationalError)) throw fault;
      const waitedMs = performance.now() - startedAtMs;
      if (waitedMs > REMARKABLE_MS && !isTold) {
        say(`What the demo wrote is still to be removed: waiting for Redis, at most ${LEFT_WITHIN_MS / 1_000} s.`);
        isTold = true;
      }
      if (waitedMs > LEFT_WITHIN_MS) {
        say(`What the demo wrote could not be removed (${fault.message}); the next demo removes it.`);
        return;
      }
      await sleep(LOOK_EVERY_MS);
    }
  }
};

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host);

/** The same login and database at the proxy. */
const urlBy = (url: string, port: number): string =>
  url.replace(/^(redis:\/\/(?:[^@/]*@)?)[^/]+/, (_, beginning: string) => `${beginning}127.0.0.1:${port}`);
