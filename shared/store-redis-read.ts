/** Values with their times to live out of Redis: one, or many by one script where one server has them all. */
import { Cluster } from "ioredis";
import type { Stored } from "./store.ts";
import type { RedisClients } from "./store-redis-clients.ts";
import { isReplyError } from "./store-redis-errors.ts";
import { READ_MANY, runScript } from "./store-redis-script.ts";

type Commands = RedisClients["commands"];

/** From so many on a script is cheaper. */
const LEAST_TOGETHER = 32;
/** So many Redis reads without serving anybody else: well under a millisecond. */
const MOST_TOGETHER = 64;

export const readOne = (commands: Commands, key: string): Promise<Stored | null> =>
  // Two commands in one pipeline; a key that ended in between is gone.
  Promise.all([commands.get(key), commands.pttl(key)]).then(([value, remainingMs]) => storedOf(value, remainingMs));

/** @param onRefused a user that may run no script on these keys, or a proxy with several servers behind it: they are read singly */
export const readMany = async (
  commands: Commands,
  keys: readonly string[],
  onRefused: (fault: Error) => void,
): Promise<readonly (Stored | null)[]> => {
  const singly = (): Promise<readonly (Stored | null)[]> => Promise.all(keys.map((key) => readOne(commands, key)));
  // In a Cluster each key may be on another server.
  if (commands instanceof Cluster || keys.length < LEAST_TOGETHER) return singly();
  try {
    const batches = Array.from({ length: Math.ceil(keys.length / MOST_TOGETHER) }, (_, nth) =>
      readBatch(commands, keys.slice(nth * MOST_TOGETHER, (nth + 1) * MOST_TOGETHER)),
    );
    return (await Promise.all(batches)).flat();
  } catch (fault) {
    if (!isReplyError(fault)) throw fault;
    onRefused(fault);
    return singly();
  }
};

const readBatch = async (commands: Commands, keys: readonly string[]): Promise<readonly (Stored | null)[]> => {
  const reply = (await runScript(commands, READ_MANY, keys)) as readonly (string | number | null)[];
  return keys.map((_, at) => {
    const value = reply[2 * at];
    return storedOf(typeof value === "string" ? value : null, Number(reply[2 * at + 1]));
  });
};

/** PTTL replies −1 for a key that never expires, −2 for one that is gone. */
const storedOf = (value: string | null, remainingMs: number): Stored | null =>
  value === null || remainingMs === -2 ? null : { value, remainingMs: remainingMs === -1 ? null : remainingMs };
