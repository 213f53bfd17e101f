/** What Sentinels know: whom each calls the primary, whether enough of them could choose another, and what those servers say. */
import type { Clock } from "./clock.ts";
import { type Away, isAway, type Link, type OpenLink, type Reply } from "./store-redis-facts-link.ts";
import { placeOf, readServerFacts, type ServerFacts } from "./store-redis-facts-server.ts";
import type { ServerProbe } from "./store-redis-facts-user.ts";
import type { Endpoint, RedisAddress } from "./store-url.ts";

export type SentinelFact = {
  /** host:port */
  readonly place: string;
  /** null: it answers. */
  readonly away: Away | null;
  /** host:port; null: it knows none of that name, or does not say. */
  readonly primary: string | null;
  readonly replicas: readonly Endpoint[];
  /** Whether enough Sentinels are there to agree on a failover; null: not known, and `quorumSays` says why. */
  readonly hasQuorum: boolean | null;
  readonly quorumSays: string;
};

export type SentinelFacts = { readonly name: string; readonly each: readonly SentinelFact[] };

export type SentinelReading = {
  readonly sentinels: SentinelFacts;
  /** The primary first. */
  readonly servers: readonly ServerFacts[];
  readonly away: Away | null;
};

type Options = { readonly clock: Clock; readonly probes: readonly ServerProbe[] };

/** Never rejects. */
export const readSentinelFacts = async (
  open: OpenLink,
  { sentinels, name, db }: Extract<RedisAddress, { readonly kind: "sentinel" }>,
  options: Options,
): Promise<SentinelReading> => {
  const each = await Promise.all(sentinels.map((endpoint) => factOf(open, endpoint, name)));
  const primary = mostNamed(each);
  const facts = { name, each };
  if (primary === null) {
    const away = each.find((one) => one.away !== null)?.away ?? null;
    const unnamed: Away = { cause: "no-primary", detail: `no Sentinel names a primary called ${name}` };
    // Where every Sentinel is away, that is the reason.
    return {
      sentinels: facts,
      servers: [],
      away: each.every((one) => one.away !== null) ? (away ?? unnamed) : unnamed,
    };
  }
  const replicas = new Map(each.flatMap((one) => one.replicas.map((at) => [placeOf(at), at] as const)));
  replicas.delete(primary);
  const servers = await Promise.all([
    readServerFacts(open, endpointIn(primary), { ...options, db, isExpected: true }),
    ...[...replicas.values()].map((at) => readServerFacts(open, at, { ...options, db, isExpected: false, probes: [] })),
  ]);
  return { sentinels: facts, servers, away: servers[0]?.away ?? null };
};

const factOf = async (open: OpenLink, endpoint: Endpoint, name: string): Promise<SentinelFact> => {
  const nothing = {
    place: placeOf(endpoint),
    away: null,
    primary: null,
    replicas: [],
    hasQuorum: null,
    quorumSays: "",
  };
  const link = await open(endpoint, "sentinel");
  if (isAway(link)) return { ...nothing, away: link };
  try {
    return { ...nothing, ...(await asked(link, name)) };
  } finally {
    link.close();
  }
};

const asked = async ({ ask }: Link, name: string): Promise<Partial<SentinelFact>> => {
  const named = await ask("SENTINEL", "get-master-addr-by-name", name);
  if (named.kind === "silent")
    return { away: { cause: "timeout", detail: "connected, and no answer within the deadline" } };
  if (named.kind === "error") return { quorumSays: named.message };
  const [host, port] = Array.isArray(named.value) ? named.value.map(String) : [];
  if (host === undefined || port === undefined) return { quorumSays: `knows no primary called ${name}` };
  const listed = await ask("SENTINEL", "replicas", name);
  const quorum = await ask("SENTINEL", "CKQUORUM", name);
  return {
    primary: placeOf({ host, port: Number(port) }),
    replicas: listed.kind === "value" ? endpointsIn(listed.value) : [],
    ...quorumOf(quorum),
  };
};

const quorumOf = (reply: Reply): Pick<SentinelFact, "hasQuorum" | "quorumSays"> => {
  if (reply.kind === "value") return { hasQuorum: true, quorumSays: String(reply.value) };
  if (reply.kind === "silent") return { hasQuorum: null, quorumSays: "no answer within the deadline" };
  return { hasQuorum: reply.message.startsWith("NOQUORUM") ? false : null, quorumSays: reply.message };
};

/** Whom most Sentinels name; of as many, the first. null: nobody names one. */
const mostNamed = (each: readonly SentinelFact[]): string | null => {
  const count = (place: string): number => each.filter(({ primary }) => primary === place).length;
  const named = each.map(({ primary }) => primary).filter((place) => place !== null);
  return named.toSorted((a, b) => count(b) - count(a))[0] ?? null;
};

const endpointIn = (place: string): Endpoint => {
  const at = place.lastIndexOf(":");
  return { host: place.slice(0, at).replace(/^\[|\]$/g, ""), port: Number(place.slice(at + 1)) };
};

/** Each a list of names and values in turn. */
const endpointsIn = (reply: unknown): readonly Endpoint[] => {
  if (!Array.isArray(reply)) return [];
  return reply.flatMap((fields) => {
    if (!Array.isArray(fields)) return [];
    const host = fields[fields.indexOf("ip") + 1];
    const port = Number(fields[fields.indexOf("port") + 1]);
    return typeof host === "string" && port > 0 ? [{ host, port }] : [];
  });
};
