/** What each user of Redis may do and may not: the transcript that is compared with a server under the shipped files. */

const REPORT = "gtm:v1:report:{eu-central}:a1";
const REPORT_THERE = "gtm:v1:report:{us-east}:a1";
const AGENTS = "gtm:v1:agents:{eu-central}";
const AGENTS_THERE = "gtm:v1:agents:{us-east}";
const CONVERSATION = "gtm:v1:conv:{0123456789abc}";
const REFUSED = "gtm:v1:refused:{0123456789abc}";
const HELD = "gtm:v1:held:{eu-central}";
const HELD_THERE = "gtm:v1:held:{us-east}";
const SENT = "gtm:v1:sent:{gtm-1}";
const INSTANCES = "gtm:v1:instances";
export const ORDERS = "gtm:v1:orders";
const ACME = "gtm:v1:acme:{_acme-challenge.llm.test}";
const ACME_NAMES = "gtm:v1:acme-names";
const RESPONSE = "gtm:v1:response:{0123456789abc}";
const TICKET = "gtm:v1:ticket:eu-central:{0123456789abcdef}";
const TICKET_THERE = "gtm:v1:ticket:us-east:{0123456789abcdef}";
const TURNS = "gtm:v1:turns";
const DECISIONS = "gtm:v1:decisions:{gtm-1}";
const AUDIT = "gtm:v1:audit";

const SET_INSIDE = "redis.call('SET',KEYS[1],'1') return redis.call('GET',KEYS[1])";
const DANGEROUS: readonly (readonly string[])[] = [
  ["FLUSHALL"],
  ["KEYS", "*"],
  ["CONFIG", "GET", "requirepass"],
  ["CONFIG", "SET", "maxmemory", "1"],
  ["ACL", "LIST"],
  ["CLIENT", "LIST"],
  ["MONITOR"],
  ["SCRIPT", "FLUSH"],
  ["SHUTDOWN", "NOSAVE"],
  ["REPLICAOF", "NO", "ONE"],
  ["MIGRATE", "127.0.0.1", "1", "a", "0", "1"],
];

export type Transcript = {
  readonly user: string;
  /** In this order, and after those of the users above: replies show what was written before. */
  readonly may: readonly (readonly [words: readonly string[], reply: string])[];
  readonly mayNot: readonly (readonly string[])[];
};

export const TRANSCRIPTS: readonly Transcript[] = [
  {
    user: "edge-agent-eu-central",
    may: [
      [["SET", REPORT, "report", "PX", "30000"], "OK"],
      [["ZADD", AGENTS, "1", "a1"], "1"],
      [["PUBLISH", "gtm:v1:reported", "eu-central/a1"], "0"],
      [["PING"], "PONG"],
    ],
    mayNot: [
      ["SET", REPORT_THERE, "forged", "PX", "30000"],
      ["ZADD", AGENTS_THERE, "1", "ghost"],
      ["GET", REPORT],
      ["SET", REPORT, "report", "GET"],
      ["DEL", REPORT],
      ["ZREM", AGENTS, "a1"],
      ["ZRANGEBYSCORE", AGENTS, "-inf", "+inf"],
      ["GET", CONVERSATION],
      ["SET", CONVERSATION, "forged"],
      ["GET", ORDERS],
      ["SET", ORDERS, "forged"],
      ["ZADD", HELD, "1", "x"],
      ["SET", ACME, "forged"],
      ["ZADD", ACME_NAMES, "1", "x"],
      ["SET", "gtm:v1:report:{eu-central", "x"],
      ["SET", "elsewhere", "x"],
      ["EVAL", SET_INSIDE, "1", REPORT],
      ["PUBLISH", "gtm:v1:changed", "{}"],
      ["PUBLISH", TURNS, "{}"],
      ["SUBSCRIBE", "gtm:v1:reported"],
      ["PSUBSCRIBE", "*"],
      ["SCAN", "0"],
      ...DANGEROUS,
    ],
  },
  {
    user: "gateway-eu-central",
    may: [
      [["EVAL", SET_INSIDE, "1", CONVERSATION], "1"],
      [["GET", CONVERSATION], "1"],
      [["PTTL", CONVERSATION], "-1"],
      [["SET", CONVERSATION, "1", "NX"], ""],
      [["SET", REFUSED, "{}", "PX", "10000"], "OK"],
      [["GET", REFUSED], "{}"],
      [["GET", ORDERS], ""],
      [["SET", RESPONSE, "{}", "PX", "86400000"], "OK"],
      [["SET", TICKET, "gw-1", "PX", "25000", "NX"], "OK"],
      [["SET", TICKET, "gw-2", "PX", "25000", "NX"], ""],
      [["PUBLISH", TURNS, "{}"], "0"],
      [["ZADD", HELD, "1", "0123456789abc"], "1"],
      [["ZREM", HELD, "0123456789abc"], "1"],
      [["SET", REPORT, "report", "PX", "30000"], "OK"],
      [["ZADD", AGENTS, "2", "a1"], "0"],
      [["PUBLISH", "gtm:v1:changed", "{}"], "0"],
      [["PUBLISH", "gtm:v1:reported", "eu-central/a1"], "0"],
    ],
    mayNot: [
      ["SET", REPORT_THERE, "forged"],
      ["ZADD", AGENTS_THERE, "1", "ghost"],
      ["ZADD", HELD_THERE, "1", "x"],
      ["ZRANGEBYSCORE", HELD, "-inf", "+inf"],
      ["DEL", CONVERSATION],
      ["GET", RESPONSE],
      ["GET", TICKET],
      ["SET", TICKET_THERE, "gw-1", "NX"],
      ["SUBSCRIBE", TURNS],
      ["EVAL", SET_INSIDE, "1", ORDERS],
      ["EVAL", "return redis.call('FLUSHALL')", "0"],
      ["SET", ORDERS, "forged"],
      ["SET", SENT, "{}"],
      ["GET", ACME],
      ["EVAL", SET_INSIDE, "1", ACME],
      ["XADD", DECISIONS, "*", "v", "1"],
      ["XADD", AUDIT, "*", "v", "forged"],
      ["SUBSCRIBE", "gtm:v1:reported"],
      ...DANGEROUS,
    ],
  },
  {
    user: "gtm",
    may: [
      [["GET", REPORT], "report"],
      [["ZREVRANGEBYSCORE", AGENTS, "+inf", "-inf", "LIMIT", "0", "9"], "a1"],
      [["ZREM", AGENTS_THERE, "a9"], "0"],
      [["EVAL", SET_INSIDE, "1", CONVERSATION], "1"],
      [["DEL", CONVERSATION], "1"],
      [["SET", ORDERS, "{}", "NX"], "OK"],
      [["EVAL", SET_INSIDE, "1", ORDERS], "1"],
      [["ZADD", HELD_THERE, "1", "0123456789abc"], "1"],
      [["ZREVRANGEBYSCORE", HELD_THERE, "+inf", "-inf", "LIMIT", "0", "1"], "0123456789abc"],
      [["ZREM", HELD_THERE, "0123456789abc"], "1"],
      [["SET", SENT, "{}", "PX", "5000"], "OK"],
      [["ZADD", INSTANCES, "1", "gtm-1"], "1"],
      [["GET", REFUSED], "{}"],
      [["GET", RESPONSE], "{}"],
      [["EVAL", SET_INSIDE, "1", ACME], "1"],
      [["SET", ACME, "{}", "NX"], ""],
      [["PTTL", ACME], "-1"],
      [["ZADD", ACME_NAMES, "1", "_acme-challenge.llm.test"], "1"],
      [["ZREVRANGEBYSCORE", ACME_NAMES, "+inf", "-inf", "LIMIT", "0", "1"], "_acme-challenge.llm.test"],
      [["ZREM", ACME_NAMES, "_acme-challenge.llm.test"], "1"],
      [["XREVRANGE", DECISIONS, "+", "-", "COUNT", "1"], ""],
      [["XREVRANGE", AUDIT, "+", "-", "COUNT", "1"], ""],
      [["PUBLISH", "gtm:v1:changed", "{}"], "0"],
      [["GET", "gtm:v1:orders"], "1"],
    ],
    mayNot: [
      ["SET", REPORT, "forged", "PX", "30000"],
      ["DEL", REPORT],
      ["ZADD", AGENTS, "1", "ghost"],
      ["DEL", ORDERS],
      ["DEL", ACME],
      ["DEL", AUDIT],
      ["XTRIM", AUDIT, "MAXLEN", "0"],
      ["SET", RESPONSE, "forged"],
      ["PUBLISH", TURNS, "{}"],
      ["PUBLISH", "gtm:v1:reported", "eu-central/a1"],
      ["EVAL", "return redis.call('SET','gtm:v1:report:{eu-central}:a1','forged')", "0"],
      ["EVAL", SET_INSIDE, "1", "elsewhere"],
      ["GET", "elsewhere"],
      ["SCAN", "0"],
      ...DANGEROUS,
    ],
  },
  {
    user: "read-only",
    may: [
      [["GET", ORDERS], "1"],
      [["TYPE", HELD], "none"],
      [["ZCARD", AGENTS], "1"],
      [["EXISTS", REPORT], "1"],
      [["MEMORY", "USAGE", "gtm:v1:nothing"], ""],
      [["XLEN", DECISIONS], "0"],
    ],
    mayNot: [
      ["SET", REPORT, "forged"],
      ["SET", ORDERS, "forged"],
      ["DEL", ORDERS],
      ["ZADD", AGENTS, "1", "ghost"],
      ["EVAL", "return redis.call('GET',KEYS[1])", "1", ORDERS],
      ["PUBLISH", "gtm:v1:changed", "{}"],
      ["GET", "elsewhere"],
      ...DANGEROUS,
    ],
  },
  {
    user: "replica",
    may: [[["PING"], "PONG"]],
    mayNot: [["GET", ORDERS], ["SET", ORDERS, "forged"], ["PUBLISH", "gtm:v1:changed", "{}"], ...DANGEROUS],
  },
  {
    user: "sentinel",
    may: [[["PING"], "PONG"]],
    mayNot: [
      ["GET", ORDERS],
      ["SET", ORDERS, "forged"],
      ["KEYS", "*"],
      ["FLUSHALL"],
      ["CONFIG", "GET", "requirepass"],
      ["CONFIG", "SET", "maxmemory", "1"],
      ["ACL", "LIST"],
    ],
  },
];
