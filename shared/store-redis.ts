/** The store in Redis 6.2 or newer: one server, a primary under Sentinels, or a Cluster. Every operation touches one key. */
import { Cluster, type Redis } from "ioredis";
import type { Logger } from "./logger.ts";
import type { CompareAndSet, IndexEntry, Store } from "./store.ts";
import { createAdmission } from "./store-redis-admission.ts";
import { createRedisChannels } from "./store-redis-channels.ts";
import { createRedisClients, type RedisClients } from "./store-redis-clients.ts";
import { createFaultLog } from "./store-redis-fault-log.ts";
import { createPulse } from "./store-redis-pulse.ts";
import { readMany, readOne } from "./store-redis-read.ts";
import { COMPARE_AND_SET, runScript } from "./store-redis-script.ts";
import type { StoreSettings } from "./store-settings.ts";
import { type RedisAddress, shownStoreUrl } from "./store-url.ts";

export type RedisStoreOptions = {
  readonly log: Logger;
  /** How `CLIENT LIST` shows the connections; without spaces. */
  readonly name: string;
  /** 0 to 1; spreads reconnects. */
  readonly random: () => number;
};

/** Connects in the background and again whenever it has to; never throws because Redis is away. */
export const createRedisStore = (address: RedisAddress, settings: StoreSettings, options: RedisStoreOptions): Store => {
  const { log } = options;
  const where = shownStoreUrl(settings.url);
  const faults = createFaultLog(log, where);
  const clients = createRedisClients(address, settings, { ...options, onFault: faults.tell });
  const { commands, subscriber } = clients;
  const pulse = createPulse({
    connections: clients.connections,
    subscriber,
    deadlineMs: settings.deadline,
    onChange: faults.changed,
  });
  let isOpen = true;
  const { admitted, within } = createAdmission({
    isUp: pulse.isBeating,
    settled: pulse.settled,
    isClosed: () => !isOpen,
    deadlineMs: settings.deadline,
  });
  const channels = createRedisChannels(subscriber, {
    onBug: (fault) =>
      log.error("store.subscriber-bug", { stack: fault instanceof Error ? String(fault.stack) : String(fault) }),
    onFault: faults.tell,
  });
  return {
    get: (key) => admitted(() => readOne(commands, key)),
    getMany: (keys) => admitted(() => readMany(commands, keys, faults.tell)),
    put: (key, value, ttlMs) =>
      admitted(async () => {
        await (ttlMs === null ? commands.set(key, value) : commands.set(key, value, "PX", wholeMs(ttlMs)));
      }),
    setIfAbsent: (key, value, ttlMs) =>
      admitted(async () => {
        const reply = await (ttlMs === null
          ? commands.set(key, value, "NX")
          : commands.set(key, value, "PX", wholeMs(ttlMs), "NX"));
        return reply === "OK";
      }),
    compareAndSet: (key, expectedRev, value, ttlMs) =>
      admitted(() => compareAndSet(commands, key, expectedRev, value, ttlMs)),
    remove: (key) => admitted(async () => void (await commands.del(key))),
    indexAdd: (key, member, score) => admitted(async () => void (await commands.zadd(key, score, member))),
    indexRemove: (key, member) => admitted(async () => void (await commands.zrem(key, member))),
    indexRange: (key, min, max, limit = Number.POSITIVE_INFINITY) =>
      admitted(async () =>
        entriesOf(
          await (Number.isFinite(limit)
            ? commands.zrangebyscore(key, bound(min), bound(max), "WITHSCORES", "LIMIT", 0, limit)
            : commands.zrangebyscore(key, bound(min), bound(max), "WITHSCORES")),
        ),
      ),
    indexTop: (key, max, limit) =>
      admitted(async () =>
        entriesOf(await commands.zrevrangebyscore(key, bound(max), "-inf", "WITHSCORES", "LIMIT", 0, limit)),
      ),
    indexTrim: (key, most) => admitted(async () => void (await commands.zremrangebyrank(key, 0, -(most + 1)))),
    append: (key, value, cap) =>
      admitted(async () => {
        const id = await commands.xadd(key, "MAXLEN", "~", cap, "*", FIELD, value);
        if (id === null) throw new Error("XADD without NOMKSTREAM always replies an id");
        return id;
      }),
    newest: (key, count) =>
      admitted(async () => {
        if (count <= 0) return [];
        const entries = await commands.xrevrange(key, "+", "-", "COUNT", count);
        return entries.map(([id, [, value = ""]]) => ({ id, value }));
      }),
    announce: (channel, message) => admitted(async () => void (await publisherIn(commands).publish(channel, message))),
    subscribe: (channel, onMessage) =>
      admitted(async () => {
        const subscription = channels.open(channel, onMessage);
        try {
          await within(subscription.taken);
        } catch (cause) {
          // Taken later after all, it would be heard by somebody who was told that it failed.
          subscription.end();
          throw cause;
        }
        return subscription.end;
      }),
    isUp: () => isOpen && pulse.isBeating(),
    close: async () => {
      if (!isOpen) return;
      isOpen = false;
      faults.mute();
      pulse.stop();
      channels.clear();
      clients.close();
    },
  };
};

/** Always the same node of a Cluster, as long as it lives: two nodes' messages overtake each other. */
const publisherIn = (commands: RedisClients["commands"]): Redis | Cluster => {
  if (!(commands instanceof Cluster)) return commands;
  const place = ({ options }: Redis): string => `${options.host}:${options.port}`;
  const ready = commands.nodes("master").filter(({ status }) => status === "ready");
  return ready.sort((a, b) => (place(a) < place(b) ? -1 : 1))[0] ?? commands;
};

/** Of the one field of a stream's entries. */
const FIELD = "v";

/** Redis knows no fractions of a millisecond. */
const wholeMs = (ttlMs: number): number => Math.ceil(ttlMs);

const bound = (score: number): number | string => {
  if (score === Number.POSITIVE_INFINITY) return "+inf";
  return score === Number.NEGATIVE_INFINITY ? "-inf" : score;
};

/** Members and scores in turn. */
const entriesOf = (reply: readonly string[]): readonly IndexEntry[] => {
  const entries: IndexEntry[] = [];
  for (let at = 0; at + 1 < reply.length; at += 2)
    entries.push({ member: reply[at] ?? "", score: Number(reply[at + 1]) });
  return entries;
};

const compareAndSet = async (
  commands: RedisClients["commands"],
  key: string,
  expectedRev: number,
  value: string,
  ttlMs: number | null,
): Promise<CompareAndSet> => {
  const args = [expectedRev, value, ttlMs === null ? "" : wholeMs(ttlMs)] as const;
  const reply = await runScript(commands, COMPARE_AND_SET, [key], args);
  const [isStored, standing = null] = reply as readonly [number, (string | null)?];
  return isStored === 1 ? { kind: "stored", rev: expectedRev + 1 } : { kind: "conflict", value: standing };
};
