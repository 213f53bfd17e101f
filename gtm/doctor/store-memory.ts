/** What Redis does when its memory is full: pins must be refused aloud and never dropped in silence. Pure. */
import { bytes, count } from "#gtm/cli/quantity.ts";
import type { MemoryFacts } from "#shared/store-redis-facts-info.ts";
import type { ServerFacts } from "#shared/store-redis-facts-server.ts";
import type { OutputLimit } from "#shared/store-redis-facts-settings.ts";
import { type Finding, ok, problem, unknown, warning } from "./finding.ts";
import type { RedisFacts } from "./store-reach.ts";

/** Of memory, index included, at most: test/bench/redis-memory. */
const BYTES_PER_CONVERSATION = 400;
const NEARLY_FULL_FRACTION = 0.9;

export const memoryFindings = ({ servers }: RedisFacts): readonly Finding[] =>
  servers.filter(({ away }) => away === null).flatMap((server) => [...ofServer(server), ...bufferFindings(server)]);

const ofServer = ({ place, memory, why }: ServerFacts): readonly Finding[] =>
  memory === null
    ? [unknown("store-memory", `How much memory ${place} may use is not known: ${why["info"] ?? "INFO does not say"}.`)]
    : [policyFinding(place, memory), ...fullFindings(place, memory), ...evictedFindings(place, memory)];

const policyFinding = (place: string, memory: MemoryFacts): Finding => {
  const { maxBytes, policy, usedBytes, machineBytes } = memory;
  if (maxBytes === 0) {
    const machine = machineBytes === null ? "the memory of its machine" : `the ${bytes(machineBytes)} of its machine`;
    return warning(
      "store-memory-unlimited",
      `${place} has no maxmemory: it grows into ${machine} until the kernel kills it (used: ${bytes(usedBytes)}).`,
      "`redis-cli config set maxmemory 1gb`, and the same line in redis.conf.",
    );
  }
  const left = `${bytes(Math.max(0, maxBytes - usedBytes))} of ${bytes(maxBytes)} are left`;
  if (policy === "noeviction") {
    const room = count(Math.max(0, maxBytes - usedBytes) / BYTES_PER_CONVERSATION);
    return ok(
      "store-eviction",
      `${place} drops nothing when full (noeviction); ${left}, room for ${room} conversations.`,
    );
  }
  // Pins have a time to live, so every policy drops them; orders have none, so that volatile-* leaves them.
  const drops = policy.startsWith("volatile-") ? "pins and reports" : "pins, reports and operators' orders";
  return problem(
    "store-evicts-pins",
    `${place} drops ${drops} in silence when full (maxmemory-policy ${policy}): ${left}, ${count(memory.evictedKeys)} keys evicted so far.`,
    "`redis-cli config set maxmemory-policy noeviction`, and the same line in redis.conf.",
  );
};

const fullFindings = (place: string, { maxBytes, usedBytes, policy }: MemoryFacts): readonly Finding[] => {
  if (maxBytes === 0 || policy !== "noeviction" || usedBytes < NEARLY_FULL_FRACTION * maxBytes) return [];
  const remedy = "Raise it: `redis-cli config set maxmemory 2gb`, and the same line in redis.conf.";
  const what = `${place} uses ${bytes(usedBytes)} of its maxmemory of ${bytes(maxBytes)}`;
  return usedBytes >= maxBytes
    ? [problem("store-full", `${what} and refuses writes.`, remedy)]
    : [warning("store-nearly-full", `${what}; then it refuses writes.`, remedy)];
};

const evictedFindings = (place: string, { policy, evictedKeys }: MemoryFacts): readonly Finding[] =>
  policy !== "noeviction" || evictedKeys === null || evictedKeys === 0
    ? []
    : [
        warning(
          "store-evicted-keys",
          `${place} has evicted ${count(evictedKeys)} keys since it started, under another policy than now.`,
          "Write `maxmemory-policy noeviction` into redis.conf as well, or a restart brings the other policy back.",
        ),
      ];

const bufferFindings = ({ place, channelLimit, isExpected }: ServerFacts): readonly Finding[] =>
  !isExpected || channelLimit === null || isLimited(channelLimit)
    ? []
    : [
        warning(
          "store-buffers-unlimited",
          `${place} keeps messages without limit for a GTM that does not read them: one that hangs fills its memory.`,
          "`redis-cli config set client-output-buffer-limit 'pubsub 8mb 2mb 10'`, and the same line in redis.conf.",
        ),
      ];

const isLimited = ({ hardBytes, softBytes }: OutputLimit): boolean => hardBytes > 0 || softBytes > 0;
