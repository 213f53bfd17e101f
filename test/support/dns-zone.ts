/** A zone with everything in it that a DNS test asks for, answered by the production steering on a world that the test changes. */

import { createDecisionIds } from "#gtm/decision-id.ts";
import type { Client } from "#gtm/domain/client.ts";
import type { Conversation } from "#gtm/domain/conversation.ts";
import type { Pool } from "#gtm/domain/pool.ts";
import type { Region } from "#gtm/domain/region.ts";
import type { World } from "#gtm/domain/world.ts";
import { SOA_TIMERS, type Zone } from "#gtm/domain/zone.ts";
import { createCellSteer } from "#gtm/steering/cell.ts";
import { DEFAULT_POLICY } from "#gtm/steering/policy.ts";
import type { Entry, Ports } from "#gtm/steering/ports.ts";
import { createSteer } from "#gtm/steering/steer.ts";
import type { AnswererOptions } from "#gtm/wire/dns/answerer.ts";
import { DEFAULT_LIMITS, type DnsLimits } from "#gtm/wire/dns/limit.ts";
import { createRateLimiter, type RateLimitSettings } from "#gtm/wire/dns/rate-limit.ts";
import { createDnsServer, type DnsServerOptions } from "#gtm/wire/dns/server.ts";
import { createTally } from "#gtm/wire/dns/tally.ts";
import { type ConversationId, ModelId, PoolName } from "#shared/ids.ts";
import { createMetrics, type Metrics } from "#shared/metrics.ts";
import { createLabels, ephemeralLabelKeys, type Labels } from "#shared/pin-token.ts";
import { aClient, aPlacement, aPool, aRegion, aWorld, MODEL, type Place, regionId } from "./builders.ts";
import { RECORDS } from "./dns-records.ts";
import { createManualClock, type ManualClock } from "./manual-clock.ts";
import { recordingLog } from "./recording-log.ts";

export const ZONE: Zone = {
  name: "gslb.example.org",
  ns: [
    { name: "ns1.gslb.example.org", ipv4: ["198.51.100.1"], ipv6: ["2001:db8::1"] },
    { name: "ns2.gslb.example.org", ipv4: ["198.51.100.2"], ipv6: [] },
  ],
  soa: { rname: "hostmaster.example.org", serial: 7, ...SOA_TIMERS },
  apexPool: null,
  records: RECORDS,
};

export const CODER = ModelId.parse("Qwen/Qwen3-Coder");

const addressesOf = (count: number): readonly string[] => Array.from({ length: count }, (_, i) => `192.0.2.${i + 1}`);

/** Singapore has no IPv6, and like Paris does not say what it speaks over TLS. */
export const REGIONS: readonly Region[] = [
  aRegion("frankfurt", {
    endpoint: { url: "https://f", ipv4: ["192.0.2.10"], ipv6: ["2001:db8:10::10"] },
    alpn: ["h2", "http/1.1"],
  }),
  aRegion("virginia", {
    endpoint: { url: "https://v:8443", ipv4: ["192.0.2.20"], ipv6: ["2001:db8:20::20"] },
    alpn: ["h2"],
  }),
  aRegion("singapore", { endpoint: { url: "https://s", ipv4: ["192.0.2.30"], ipv6: [] } }),
  // 36 addresses: 576 octets of answer, too many without EDNS. 200: 3 200, too many for any datagram.
  aRegion("paris", { endpoint: { url: "https://p", ipv4: addressesOf(36), ipv6: [] } }),
  aRegion("huge", { place: "paris", endpoint: { url: "https://h", ipv4: addressesOf(200), ipv6: [] } }),
];

const poolOf = (name: string, regions: readonly string[], wish: Partial<Pool> = {}): Pool =>
  aPool([], { name: PoolName.parse(name), regions: regions.map(regionId), ...wish });

export const CHAT = poolOf("chat", ["frankfurt", "virginia", "singapore"], {
  models: [MODEL, CODER],
  lastResort: { kind: "regions", order: [regionId("singapore"), regionId("virginia")] },
});
export const POOLS: readonly Pool[] = [
  CHAT,
  poolOf("asia", ["singapore"], { lastResort: { kind: "servfail" } }),
  poolOf("quiet", ["singapore"], { lastResort: { kind: "nodata" } }),
  poolOf("spare", ["singapore"], { lastResort: { kind: "addresses", ipv4: ["203.0.113.99"], ipv6: ["2001:db8::99"] } }),
  poolOf("strict", ["singapore"], {
    jurisdictions: ["us"],
    lastResort: { kind: "regions", order: [regionId("virginia")] },
  }),
  poolOf("many", ["paris"]),
  poolOf("huge", ["huge"]),
  poolOf("sdk", ["frankfurt"], { answer: "front" }),
  poolOf("web", ["frankfurt", "virginia"], { lastResort: { kind: "regions", order: [regionId("virginia")] } }),
];

/** 192.0.2.0/24 is Frankfurt, 198.51.100.0/24 Virginia, 203.0.113.0/24 and its neighbour Singapore, 10.1.0.0/16 Paris; the rest nowhere. */
const PLACED: readonly (readonly [RegExp, Place, number])[] = [
  [/^192\.0\.2\./, "frankfurt", 24],
  [/^198\.51\.100\./, "virginia", 22],
  [/^203\.0\.11[23]\./, "singapore", 20],
  [/^10\.1\./, "paris", 16],
  [/^2001:db8:5:/, "singapore", 40],
];

export const locate = (subnet: string): Client => {
  const [, place, scopePrefixBits] = PLACED.find(([pattern]) => pattern.test(subnet)) ?? [];
  if (place !== undefined && scopePrefixBits !== undefined) return aClient(place, { subnet, scopePrefixBits });
  const bits = Number(subnet.split("/")[1]);
  return { subnet, location: null, area: null, place: null, source: "unknown", scopePrefixBits: bits };
};

export type DnsWish = Partial<Omit<DnsServerOptions, "limits" | "rateLimit">> & {
  readonly limits?: Partial<DnsLimits>;
  readonly rateLimit?: Partial<RateLimitSettings>;
  readonly findConversation?: Ports["findConversation"];
};

export type DnsSetting = {
  readonly options: DnsServerOptions;
  readonly clock: ManualClock;
  readonly metrics: Metrics;
  readonly log: ReturnType<typeof recordingLog>;
  readonly entries: readonly Entry[];
  readonly labels: Labels;
  /** The next snapshot; a new candidacy. */
  readonly setRegions: (change: (region: Region) => Region) => void;
  /** The next snapshot, in which nobody's candidacy changed. */
  readonly touchWorld: () => void;
  /** The next snapshot, with these facts; a new candidacy. */
  readonly setWorld: (facts: Partial<World>) => void;
  readonly remember: (conversation: Conversation) => void;
};

export const aDnsSetting = (wish: DnsWish = {}): DnsSetting => {
  const clock = createManualClock();
  const metrics = createMetrics();
  const log = recordingLog();
  const labels = createLabels(ephemeralLabelKeys());
  const entries: Entry[] = [];
  const conversations = new Map<ConversationId, Conversation>();
  let world: World = aWorld(REGIONS.map(withCoder), { takenAtMs: clock.monotonicMs() });
  const ports: Ports = {
    world: () => world,
    locate,
    findConversation: (id) => (id === null ? null : (conversations.get(id) ?? null)),
    record: (entry) => {
      entries.push(entry);
    },
    ...(wish.findConversation === undefined ? {} : { findConversation: wish.findConversation }),
  };
  const { limits, rateLimit, findConversation: _, ...rest } = wish;
  return {
    clock,
    metrics,
    log,
    entries,
    labels,
    setRegions: (change) => {
      const { version, candidacyVersion } = world;
      const regions = world.regions.map(change);
      world = { ...world, regions, version: version + 1, candidacyVersion: candidacyVersion + 1 };
    },
    touchWorld: () => {
      world = { ...world, version: world.version + 1, takenAtMs: clock.monotonicMs() };
    },
    setWorld: (facts) => {
      const { version, candidacyVersion } = world;
      world = { ...world, ...facts, version: version + 1, candidacyVersion: candidacyVersion + 1 };
    },
    remember: (conversation) => {
      conversations.set(conversation.id, conversation);
    },
    options: {
      zone: ZONE,
      listen: [{ address: "127.0.0.1", port: 0 }],
      ports,
      steer: createSteer(ports, DEFAULT_POLICY),
      decideCell: createCellSteer(ports, DEFAULT_POLICY),
      regions: REGIONS,
      pools: POOLS,
      models: [
        { id: MODEL, aliases: [], weightBytes: null, coldStartMs: null },
        { id: CODER, aliases: [], weightBytes: null, coldStartMs: null },
      ],
      defaultPool: CHAT,
      frontAddresses: { ipv4: ["198.51.100.8", "198.51.100.9"], ipv6: [] },
      challengeTexts: () => null,
      labels,
      findLabel: null,
      isShared: false,
      isBatched: true,
      rateTable: null,
      whyAllow: [],
      degraded: () => ({ degradations: [], worldAgeMs: 0, isWorldSaved: false }),
      ownSubnets: ["10.1.0.0/16"],
      cookieKeys: () => COOKIE_KEYS,
      nsid: null,
      newId: createDecisionIds(clock),
      clock,
      log,
      metrics,
      ...rest,
      limits: { ...DEFAULT_LIMITS, ...limits },
      rateLimit: { perPrefixQps: 200, slip: 2, exempt: ["127.0.0.0/8", "::1/128"], ...rateLimit },
    },
  };
};

const COOKIE_KEYS: readonly Uint8Array[] = [new Uint8Array(16).fill(7)];

/** The second model is in Virginia only. */
const withCoder = (region: Region): Region => {
  if (region.id !== "virginia") return region;
  return { ...region, placements: new Map([...region.placements, [CODER, aPlacement(region.id, { model: CODER })]]) };
};

export type RunningDns = DnsSetting & { readonly address: string; readonly port: number } & AsyncDisposable;

export const startDns = async (wish: DnsWish = {}): Promise<RunningDns> => {
  const setting = aDnsSetting(wish);
  const server = createDnsServer(setting.options);
  await server.start();
  const [{ address, port } = { address: "", port: 0 }] = server.addresses();
  return { ...setting, address, port, [Symbol.asyncDispose]: server.stop };
};

/** For the answer step alone, without sockets around it. */
export const answererOptions = (options: DnsServerOptions): AnswererOptions => ({
  ...options,
  tally: createTally(options.metrics),
  limiter: createRateLimiter(options.rateLimit),
  tcpIdleMs: options.limits.tcpIdleMs,
});
