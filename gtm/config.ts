/** The GTM's configuration: read from YAML, checked as a whole, and handed on in the domain's words. */
import { isIPv4 } from "node:net";
import { loadConfig, parseConfig, type ReadConfig, readConfig } from "#shared/config.ts";
import type { InstanceId, ModelId, RegionId } from "#shared/ids.ts";
import { adminAuthOf } from "./config/admin-settings.ts";
import { crossFaults, type Fault } from "./config/cross-checks.ts";
import { rateLimitOf, tcpLimitsOf } from "./config/dns-limit-settings.ts";
import type { DnsListen } from "./config/dns-listen-settings.ts";
import { keyFilesOf } from "./config/key-settings.ts";
import { policyOf } from "./config/policy-settings.ts";
import { safetyOf } from "./config/safety-settings.ts";
import { GtmSettings } from "./config/schema.ts";
import { zoneOf } from "./config/zone-settings.ts";
import type { IdentitySource } from "./domain/identity-source.ts";
import type { Model } from "./domain/model.ts";
import type { Pool } from "./domain/pool.ts";
import type { RegionSite } from "./domain/region.ts";
import type { SafetyLimits } from "./domain/safety-limits.ts";
import type { Location } from "./domain/topology.ts";
import type { Zone } from "./domain/zone.ts";
import type { KeyFiles } from "./keys/key-files.ts";
import type { Policy } from "./steering/policy.ts";

export type Address = { readonly address: string; readonly port: number };

export type GtmConfig = {
  /** What all of this is made from, in the words of a file. */
  readonly given: GtmSettings;
  readonly instance: InstanceId;
  readonly logLevel: "debug" | "info" | "warn" | "error";
  readonly store: GtmSettings["store"];
  readonly keys: KeyFiles;
  readonly dns: {
    readonly listen: readonly DnsListen[];
    /** Threads that answer; 1: the main one. */
    readonly workers: number;
    /** Whether datagrams are received and sent several at a time, where the system can. */
    readonly isBatched: boolean;
    readonly zone: Zone;
    readonly defaultPool: Pool;
    readonly whyAllow: readonly string[];
    readonly rateLimit: ReturnType<typeof rateLimitOf>;
    readonly tcp: ReturnType<typeof tcpLimitsOf>;
    /** null: nobody is told who answers. */
    readonly nsid: string | null;
  };
  readonly http: {
    readonly listen: Address;
    /** What front.<zone> answers. */
    readonly addresses: { readonly ipv4: readonly string[]; readonly ipv6: readonly string[] };
    readonly defaultPool: Pool | null;
    readonly trustedProxies: readonly string[];
    readonly tenantHeader: string | null;
    readonly offersLabels: boolean;
    readonly identityOrder: readonly IdentitySource[];
    /** In lower case. */
    readonly ticketHeaders: readonly string[];
    /** null: plain HTTP. */
    readonly tls: { readonly certFile: string; readonly keyFile: string } | null;
    readonly proxyProtocol: boolean;
    /** null: those that Node trusts. */
    readonly regionsCaFile: string | null;
  };
  readonly admin: { readonly listen: Address; readonly auth: ReturnType<typeof adminAuthOf> };
  readonly metrics: { readonly listen: Address };
  readonly sites: readonly RegionSite[];
  readonly probes: readonly ProbeSettings[];
  readonly models: readonly Model[];
  readonly pools: readonly Pool[];
  readonly policy: Policy;
  readonly safety: SafetyLimits;
  readonly geo: {
    readonly provider: "builtin" | "static";
    readonly static: readonly { readonly cidr: string; readonly location: Location; readonly name: string | null }[];
  };
};

export type ProbeSettings = {
  readonly region: RegionId;
  readonly url: string;
  /** What the region calls itself, where `url` names an address. */
  readonly host: string | null;
  readonly intervalMs: number;
  readonly timeoutMs: number;
  readonly fall: number;
  readonly rise: number;
};

type Env = Readonly<Record<string, string | undefined>>;

/** Cross checks run also where the schema found faults, each on the sections it needs: all faults are told at once. */
const Checked = GtmSettings.superRefine(
  (settings, context) => {
    const faulty = new Set(context.issues.map(({ path }) => path?.[0]));
    const faults = crossFaults(settings, (section) => settings[section] !== undefined && !faulty.has(section));
    for (const { path, message } of faults) context.addIssue({ code: "custom", path: [...path], message });
  },
  { when: ({ value }) => typeof value === "object" && value !== null },
);

/** @throws {OperationalError} GTM_CONFIG_INVALID naming every fault with its line, GTM_CONFIG_UNREADABLE */
export const loadGtmConfig = (path: string, env: Env): GtmConfig =>
  configOf(loadConfig(Checked, path, { env, code: "GTM_CONFIG_INVALID" }));

/** @throws {OperationalError} GTM_CONFIG_INVALID naming every fault with its line */
export const parseGtmConfig = (yamlText: string, source: string, env: Env): GtmConfig =>
  configOf(parseConfig(Checked, yamlText, { source, env, code: "GTM_CONFIG_INVALID" }));

/** What a text says, or everything that is wrong with it. */
export const readGtmSettings = (yamlText: string, env: Env): ReadConfig<typeof GtmSettings> =>
  readConfig(Checked, yamlText, env);

/** What is wrong between the parts of settings that were put together of two sound ones. */
export const faultsBetween = (settings: GtmSettings): readonly Fault[] => crossFaults(settings, () => true);

/** @param settings sound as a whole */
export const configOf = (settings: GtmSettings): GtmConfig => {
  const pools = settings.pools.map(poolOf);
  const poolCalled = (name: string): Pool => {
    const found = pools.find((pool) => pool.name === name);
    if (found === undefined) throw new Error(`pool ${name} is missing: the cross checks refuse that`);
    return found;
  };
  const { dns, http, admin, metrics, geo } = settings;
  return {
    given: settings,
    instance: settings.instance,
    logLevel: settings.log.level,
    store: settings.store,
    keys: keyFilesOf(settings.keys),
    dns: {
      listen: dns.listen,
      workers: dns.workers,
      isBatched: dns.batches,
      zone: zoneOf(settings),
      defaultPool: poolCalled(dns.default_pool),
      whyAllow: dns.why.allow,
      rateLimit: rateLimitOf(dns.rate_limit),
      tcp: tcpLimitsOf(dns.tcp),
      nsid: dns.nsid,
    },
    http: {
      listen: http.listen,
      addresses: { ipv4: http.addresses.filter(isIPv4), ipv6: http.addresses.filter((one) => !isIPv4(one)) },
      defaultPool: http.default_pool === null ? null : poolCalled(http.default_pool),
      trustedProxies: http.trusted_proxies,
      tenantHeader: http.tenant_header,
      offersLabels: http.labels,
      identityOrder: http.identity,
      ticketHeaders: http.ticket_headers,
      tls: http.tls === null ? null : { certFile: http.tls.cert_file, keyFile: http.tls.key_file },
      proxyProtocol: http.proxy_protocol,
      regionsCaFile: http.regions_ca_file,
    },
    admin: { listen: admin.listen, auth: adminAuthOf(admin.auth) },
    metrics: { listen: metrics.listen },
    sites: settings.regions.map((region) => siteOf(region, dns.zone)),
    probes: settings.regions.flatMap((region) => probeOf(region, dns.zone)),
    models: settings.models.map(({ id, aliases, weight_bytes, cold_start }) => ({
      id,
      aliases,
      weightBytes: weight_bytes,
      coldStartMs: cold_start,
    })),
    pools,
    policy: policyOf(settings.policy),
    safety: safetyOf(settings.safety),
    geo: {
      provider: geo.provider,
      static: geo.static.map(({ lat, lon, ...rest }) => ({ ...rest, location: { latitude: lat, longitude: lon } })),
    },
  };
};

type RegionSettings = GtmSettings["regions"][number];

const urlOf = (region: RegionSettings, zone: string): string => region.endpoint.url ?? `https://${region.id}.r.${zone}`;

const siteOf = (region: RegionSettings, zone: string): RegionSite => ({
  id: region.id,
  location: region.location === null ? null : { latitude: region.location.lat, longitude: region.location.lon },
  jurisdiction: region.jurisdiction,
  endpoint: { url: urlOf(region, zone), ipv4: region.endpoint.a, ipv6: region.endpoint.aaaa },
  alpn: region.endpoint.alpn,
  hasAffinity: region.affinity,
  hasGateway: region.gateway,
});

const probeOf = (region: RegionSettings, zone: string): readonly ProbeSettings[] => {
  const { probe } = region;
  if (probe === null) return [];
  const { url, interval, timeout, fall, rise } = probe;
  const host = new URL(urlOf(region, zone)).hostname;
  return [{ region: region.id, url, host, intervalMs: interval, timeoutMs: timeout, fall, rise }];
};

const poolOf = (pool: GtmSettings["pools"][number]): Pool => ({
  name: pool.name,
  models: pool.models as readonly ModelId[],
  regions: pool.regions,
  jurisdictions: pool.allow?.jurisdictions ?? null,
  lastResort: lastResortOf(pool.last_resort),
  answer: pool.answer,
  paths: pool.paths,
  mode: pool.mode,
  sharesResponses: pool.shared_responses,
  steering: pool.steering,
});

const lastResortOf = (settings: GtmSettings["pools"][number]["last_resort"]): Pool["lastResort"] =>
  settings.kind === "addresses" ? { kind: "addresses", ipv4: settings.a, ipv6: settings.aaaa } : settings;
