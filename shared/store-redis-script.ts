/** What Redis is told as a script: compare-and-set on one key, and many values with their times to live in one reply. */
import { hash } from "node:crypto";
import type { RedisClients } from "./store-redis-clients.ts";
import { isReplyError } from "./store-redis-errors.ts";

export type Script = {
  readonly text: string;
  /** As Redis names it for EVALSHA. */
  readonly sha1: string;
};

const scriptOf = (text: string): Script => ({ text, sha1: hash("sha1", text) });

/** Atomic in Redis and Redis Cluster, since it touches one key. KEYS[1]; ARGV: expected rev (0: the key must be free), new value, time to live in whole ms or empty. Replies {1}, or {0, what stands there}. */
export const COMPARE_AND_SET = scriptOf(`
local standing = redis.call('GET', KEYS[1])
local rev = 0
if standing then
  rev = -1
  local isJson, record = pcall(cjson.decode, standing)
  if isJson and type(record) == 'table' then
    local found = record['rev']
    if type(found) == 'number' and found > 0 and found == math.floor(found) then rev = found end
  end
end
if rev ~= tonumber(ARGV[1]) then return {0, standing} end
if ARGV[3] == '' then
  redis.call('SET', KEYS[1], ARGV[2])
else
  redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
end
return {1}
`);

/** KEYS: any on one server. Replies value and PTTL of each in turn. One command and one reply cost a sixth of two hundred. */
export const READ_MANY = scriptOf(`
local found = {}
for at, key in ipairs(KEYS) do
  found[2 * at - 1] = redis.call('GET', key)
  found[2 * at] = redis.call('PTTL', key)
end
return found
`);

/** @throws whatever Redis says against it */
export const runScript = (
  commands: RedisClients["commands"],
  { text, sha1 }: Script,
  keys: readonly string[],
  args: readonly (string | number)[] = [],
): Promise<unknown> =>
  commands.evalsha(sha1, keys.length, ...keys, ...args).catch((cause) => {
    // A server that was restarted has forgotten the script.
    if (isReplyError(cause) && cause.message.startsWith("NOSCRIPT"))
      return commands.eval(text, keys.length, ...keys, ...args);
    throw cause;
  });
