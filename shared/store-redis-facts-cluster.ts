/** What a Cluster knows of itself, and what each of its primaries says. */
import type { Clock } from "./clock.ts";
import { type Away, awayOfReply } from "./store-redis-facts-away.ts";
import { isAway, type Link, type OpenLink } from "./store-redis-facts-link.ts";
import { readServerFacts, type ServerFacts } from "./store-redis-facts-server.ts";
import type { ServerProbe } from "./store-redis-facts-user.ts";
import type { Endpoint } from "./store-url.ts";

export type ClusterFacts = {
  /** Slots that some primary is said to have, of 16 384; null: not known. */
  readonly assignedSlots: number | null;
  /** `cluster_state`; null: not known. */
  readonly state: string | null;
  /** Why one of them is null. */
  readonly why: string | null;
};

export const ALL_SLOTS = 16_384;

type Options = { readonly clock: Clock; readonly probes: readonly ServerProbe[] };
type Reading = { readonly cluster: ClusterFacts; readonly servers: readonly ServerFacts[]; readonly away: Away | null };
type Primary = { readonly endpoint: Endpoint; readonly slots: number };

/** Never rejects. Asks the seeds all at once: with some of them away the others tell. */
export const readClusterFacts = async (
  open: OpenLink,
  seeds: readonly Endpoint[],
  options: Options,
): Promise<Reading> => {
  const told = await Promise.all(seeds.map((seed) => mapOf(open, seed)));
  const map = told.find((one) => !("cause" in one));
  if (map === undefined || "cause" in map) {
    const away = told.find((one) => "cause" in one) ?? null;
    return { cluster: { assignedSlots: null, state: null, why: away?.detail ?? null }, servers: [], away };
  }
  const servers = await Promise.all(
    map.primaries.map(({ endpoint, slots }) =>
      readServerFacts(open, endpoint, { ...options, db: null, isExpected: true, slots }),
    ),
  );
  return {
    cluster: map.cluster,
    servers,
    away: servers.every(({ away }) => away !== null) ? (servers[0]?.away ?? null) : null,
  };
};

type ClusterMap = { readonly cluster: ClusterFacts; readonly primaries: readonly Primary[] };

const mapOf = async (open: OpenLink, seed: Endpoint): Promise<ClusterMap | Away> => {
  const link = await open(seed, "data");
  if (isAway(link)) return link;
  try {
    return await asked(link, seed);
  } finally {
    link.close();
  }
};

const asked = async ({ ask }: Link, seed: Endpoint): Promise<ClusterMap | Away> => {
  const slots = await ask("CLUSTER", "SLOTS");
  if (slots.kind === "silent") return { cause: "timeout", detail: "connected, and no answer within the deadline" };
  if (slots.kind === "error") return awayOfReply(slots.message);
  const primaries = primariesIn(slots.value, seed);
  const info = await ask("CLUSTER", "INFO");
  const state = info.kind === "value" ? (/cluster_state:(\w+)/.exec(String(info.value))?.[1] ?? null) : null;
  return {
    primaries,
    cluster: {
      assignedSlots: primaries.reduce((sum, one) => sum + one.slots, 0),
      state,
      why: info.kind === "error" ? info.message : null,
    },
  };
};

/** Ranges: first, last, primary, replicas…; a server is its host, port and more. An empty host is the one that was asked. */
const primariesIn = (reply: unknown, seed: Endpoint): readonly Primary[] => {
  const found = new Map<string, Primary>();
  for (const range of Array.isArray(reply) ? reply : []) {
    if (!Array.isArray(range) || !Array.isArray(range[2])) continue;
    const [first, last, [said, port]] = [Number(range[0]), Number(range[1]), range[2]];
    const host = typeof said === "string" && said !== "" ? said : seed.host;
    const key = `${host} ${port}`;
    const slots = (found.get(key)?.slots ?? 0) + last - first + 1;
    found.set(key, { endpoint: { host, port: Number(port) }, slots });
  }
  return [...found.values()];
};
