/** What a GTM does in the store, as commands that ask for permission and change nothing (shared/store-redis-facts-user.ts). */
import { type AgentId, type ConversationId, InstanceId, type RegionId } from "#shared/ids.ts";
import {
  acmeKey,
  acmeNamesKey,
  agentsKey,
  changedChannel,
  conversationKey,
  decisionsKey,
  heldKey,
  instancesKey,
  ordersKey,
  refusedKey,
  reportedChannel,
  reportKey,
  responseKey,
  sentKey,
} from "#shared/keys.ts";
import type { ServerProbe } from "#shared/store-redis-facts-user.ts";

/** Names that nothing real has. */
const NOBODY = InstanceId.parse("doctor");
const NO_CONVERSATION = "doctor" as ConversationId;
const NO_AGENT = "doctor" as AgentId;
const NO_CHALLENGE = "doctor";
const NO_SCRIPT = "0".repeat(40);

/** @param region any of those that are configured */
export const gtmProbes = (region: RegionId): readonly ServerProbe[] => {
  const conversation = conversationKey(NO_CONVERSATION);
  const readable = [
    reportKey(region, NO_AGENT),
    conversation,
    ordersKey(),
    sentKey(NOBODY),
    refusedKey(NO_CONVERSATION),
    responseKey(NO_CONVERSATION),
    acmeKey(NO_CHALLENGE),
  ];
  const settable = [conversation, ordersKey(), sentKey(NOBODY), refusedKey(NO_CONVERSATION), acmeKey(NO_CHALLENGE)];
  const scripted = [conversation, ordersKey(), acmeKey(NO_CHALLENGE)];
  const indexes = [heldKey(region), instancesKey(), acmeNamesKey()];
  return [
    ...readable.flatMap((key) => [probe("GET", key), probe("PTTL", key)]),
    // Refused as syntax after the permission was looked at.
    ...settable.map((key) => probe("SET", key, "", "NX", "XX")),
    ...scripted.flatMap((key) => [
      { name: `EVAL ${key}`, words: ["EVAL", "return 1", "1", key] },
      { name: `EVALSHA ${key}`, words: ["EVALSHA", NO_SCRIPT, "1", key] },
    ]),
    probe("DEL", conversation),
    probe("ZREVRANGEBYSCORE", agentsKey(region), "-inf", "-inf", "LIMIT", "0", "1"),
    probe("ZREM", agentsKey(region), NO_AGENT),
    ...indexes.flatMap((key) => [
      probe("ZADD", key, "no-number", NOBODY),
      probe("ZREM", key, NOBODY),
      probe("ZRANGEBYSCORE", key, "-inf", "-inf"),
    ]),
    ...[heldKey(region), acmeNamesKey()].map((key) =>
      probe("ZREVRANGEBYSCORE", key, "-inf", "-inf", "LIMIT", "0", "1"),
    ),
    probe("XADD", decisionsKey(NOBODY), "no-id", "v", ""),
    probe("XREVRANGE", decisionsKey(NOBODY), "+", "-", "COUNT", "1"),
    // A change of nothing that anybody has.
    probe("PUBLISH", changedChannel(), JSON.stringify({ key: conversation, rev: 0 })),
    probe("SUBSCRIBE", changedChannel()),
    probe("SUBSCRIBE", reportedChannel()),
  ];
};

const probe = (command: string, key: string, ...args: readonly string[]): ServerProbe => ({
  name: `${command} ${key}`,
  words: [command, key, ...args],
});
