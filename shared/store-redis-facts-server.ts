/** One Redis server: whether it answers, how fast, and what it says of itself; what it may not be asked stays null, with why. */
import type { Clock } from "./clock.ts";
import { type Away, awayOfReply } from "./store-redis-facts-away.ts";
import { type InfoFacts, infoFactsIn } from "./store-redis-facts-info.ts";
import { isAway, type Link, type OpenLink, wordsOf } from "./store-redis-facts-link.ts";
import { type OutputLimit, readSettingFacts } from "./store-redis-facts-settings.ts";
import { readUserFacts, type ServerProbe, type UserFacts } from "./store-redis-facts-user.ts";
import type { Endpoint } from "./store-url.ts";

export type ClockFacts = {
  /** The server's clock minus ours; within `errorMs` either way. */
  readonly aheadMs: number;
  /** Half of the round trip that it was asked by. */
  readonly errorMs: number;
};

export type ServerFacts = InfoFacts & {
  /** host:port */
  readonly place: string;
  /** Whether a program would use it: not so a primary's replica. */
  readonly isExpected: boolean;
  /** null: it answers. */
  readonly away: Away | null;
  /** The shortest of some. */
  readonly roundTripMs: number | null;
  readonly clock: ClockFacts | null;
  /** Whether the `default` user may speak without a password. */
  readonly isOpenToAll: boolean | null;
  readonly user: UserFacts | null;
  /** Of clients that only listen; 0 is without a limit. */
  readonly channelLimit: OutputLimit | null;
  /** Of a Cluster's primary. */
  readonly slots: number | null;
  /** By the name of what is null: why. */
  readonly why: Readonly<Record<string, string>>;
};

export type ServerWish = {
  readonly clock: Clock;
  /** null: not selected, as in a Cluster. */
  readonly db: number | null;
  readonly isExpected: boolean;
  readonly probes: readonly ServerProbe[];
  readonly slots?: number;
};

const PINGS = 5;
const NO_INFO: InfoFacts = infoFactsIn("");

/** Never rejects. */
export const readServerFacts = async (open: OpenLink, endpoint: Endpoint, wish: ServerWish): Promise<ServerFacts> => {
  const nothing: ServerFacts = {
    ...NO_INFO,
    ...{ place: placeOf(endpoint), isExpected: wish.isExpected, slots: wish.slots ?? null },
    ...{ away: null, roundTripMs: null, clock: null, isOpenToAll: null, user: null, channelLimit: null, why: {} },
  };
  const link = await open(endpoint, "data");
  if (isAway(link)) return { ...nothing, away: link };
  try {
    return { ...nothing, isOpenToAll: link.isOpenToAll, ...(await asked(link, wish)) };
  } finally {
    link.close();
  }
};

export const placeOf = ({ host, port }: Endpoint): string => `${host.includes(":") ? `[${host}]` : host}:${port}`;

const asked = async (link: Link, wish: ServerWish): Promise<Partial<ServerFacts>> => {
  const why: Record<string, string> = {};
  const selected = wish.db === null || wish.db === 0 ? null : await link.ask("SELECT", String(wish.db));
  if (selected?.kind === "error") return { away: awayOfReply(selected.message) };
  const roundTripMs = await shortestRoundTrip(link, wish.clock);
  if (typeof roundTripMs !== "number") return { away: roundTripMs };
  const info = await link.ask("INFO");
  if (info.kind !== "value") why["info"] = wordsOf(info);
  const facts = info.kind === "value" ? infoFactsIn(String(info.value)) : NO_INFO;
  const clock = await clockFacts(link, wish.clock);
  if ("why" in clock) why["clock"] = clock.why;
  const settings = await readSettingFacts(link);
  if (settings.why !== null) why["settings"] = settings.why;
  const user = wish.probes.length === 0 ? null : await readUserFacts(link, wish.probes);
  if (user === null && wish.probes.length > 0) why["user"] = "no answer within the deadline";
  return {
    ...facts,
    persistence: facts.persistence && {
      ...facts.persistence,
      savesSnapshots: settings.savesSnapshots ?? facts.persistence.savesSnapshots,
    },
    replication: facts.replication && { ...facts.replication, leastReplicas: settings.leastReplicas },
    ...{ roundTripMs, user, why, channelLimit: settings.channelLimit },
    clock: "why" in clock ? null : clock,
  };
};

const shortestRoundTrip = async (link: Link, clock: Clock): Promise<number | Away> => {
  let shortest = Number.POSITIVE_INFINITY;
  for (let at = 0; at < PINGS; at += 1) {
    const fromMs = clock.monotonicMs();
    const reply = await link.ask("PING");
    if (reply.kind === "silent") return { cause: "timeout", detail: "connected, and no answer within the deadline" };
    // What may not be asked is answered, too: the way there and back is the same.
    if (reply.kind === "error" && !reply.message.startsWith("NOPERM")) return awayOfReply(reply.message);
    shortest = Math.min(shortest, clock.monotonicMs() - fromMs);
  }
  return shortest;
};

const clockFacts = async (link: Link, clock: Clock): Promise<ClockFacts | { readonly why: string }> => {
  let best: ClockFacts | null = null;
  for (let at = 0; at < PINGS; at += 1) {
    const fromMs = clock.monotonicMs();
    const reply = await link.ask("TIME");
    const errorMs = (clock.monotonicMs() - fromMs) / 2;
    const theirsMs = reply.kind === "value" ? epochMsIn(reply.value) : null;
    if (theirsMs === null) return { why: reply.kind === "value" ? "TIME replied no time" : wordsOf(reply) };
    // Ours, at the moment in the middle.
    if (best === null || errorMs < best.errorMs) best = { aheadMs: theirsMs - (clock.epochMs() - errorMs), errorMs };
  }
  return best ?? { why: "not asked" };
};

/** Seconds and microseconds. */
const epochMsIn = (reply: unknown): number | null => {
  if (!Array.isArray(reply)) return null;
  const [seconds, micros] = reply.map(Number);
  return seconds === undefined || micros === undefined ? null : seconds * 1_000 + micros / 1_000;
};
