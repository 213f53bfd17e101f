/** The configurations of the demo's GTM, agents and gateways: what their owners would write in YAML. */
import { AgentConfig } from "#edge-agent/config.ts";
import { GatewayConfig } from "#edge-agent/gateway/config.ts";
import { type GtmConfig, parseGtmConfig } from "#gtm/config.ts";
import { AgentId, InstanceId } from "#shared/ids.ts";
import { enginesOf, engineUrl } from "./engines.ts";
import type { DemoKeys, RegionKeys } from "./keys.ts";
import {
  ENGINE,
  type GtmPorts,
  MODEL,
  MODEL_ALIAS,
  PLACES,
  type RegionPorts,
  SECURE_SITE,
  SITES,
  type Site,
  ZONE,
} from "./places.ts";

/** Llama-3.3-70B at 16 bits. */
const WEIGHTS = "141 GB";
const COLD_START = "80s";

/** The admin API's caller, as orders name it. */
export const DEMO_ACTOR = "demo";
/** The GTMs, where two share a Redis. */
export const INSTANCES = [InstanceId.parse("demo-1"), InstanceId.parse("demo-2")] as const;
/** The GTM that is alone. */
export const ONLY_INSTANCE = InstanceId.parse("demo");

/** How clients reach a region: its gateway. The region of the TLS pool is called by the name that its certificate has. */
export const regionUrl = (site: Site, { gateway, gatewayTls }: RegionPorts): string =>
  site === SECURE_SITE ? `https://${site.region}.r.${ZONE}:${gatewayTls}` : `http://${site.address}:${gateway}`;

/** Of the gateway that serves the TLS pool. */
export const SECURE_POOL = "secure";
export const SECURE_NAMES = [`${SECURE_POOL}.${ZONE}`, `${SECURE_SITE.region}.r.${ZONE}`, `*.c.${ZONE}`] as const;

export type GtmWish = {
  readonly instance: string;
  readonly ports: GtmPorts;
  readonly regionPorts: RegionPorts;
  readonly tokensFile: string;
  readonly keys: DemoKeys["gtm"];
  readonly storeUrl: string;
};

export const gtmConfigAt = (wish: GtmWish): GtmConfig => {
  const { ports, regionPorts } = wish;
  const config = parseGtmConfig(
    // JSON is YAML.
    JSON.stringify({
      version: 1,
      instance: wish.instance,
      keys: wish.keys,
      log: { level: "warn" },
      dns: {
        listen: [`127.0.0.1:${ports.dns}`, `127.0.0.2:${ports.dns}`],
        zone: ZONE,
        ns: [
          { name: `ns1.${ZONE}`, a: ["127.0.0.1"] },
          { name: `ns2.${ZONE}`, a: ["127.0.0.2"] },
        ],
        soa: { rname: `hostmaster.${ZONE}` },
        default_pool: "chat",
        why: { allow: ["127.0.0.0/8"] },
        rate_limit: { exempt: ["127.0.0.0/8"] },
      },
      http: {
        listen: `127.0.0.1:${ports.http}`,
        addresses: ["127.0.0.1"],
        default_pool: "chat",
        trusted_proxies: ["127.0.0.0/8"],
      },
      admin: { listen: `127.0.0.1:${ports.admin}`, auth: { tokens_file: wish.tokensFile } },
      metrics: { listen: `127.0.0.1:${ports.metrics}` },
      regions: SITES.map((site) => ({
        id: site.region,
        location: { lat: site.location.latitude, lon: site.location.longitude },
        jurisdiction: site.jurisdiction,
        endpoint: {
          url: regionUrl(site, regionPorts),
          a: [site.address],
          alpn: site === SECURE_SITE ? ["h2", "http/1.1"] : [],
        },
        probe: { url: `http://${site.address}:${regionPorts.gateway}/healthz` },
        gateway: true,
      })),
      models: [{ id: MODEL, aliases: [MODEL_ALIAS], weight_bytes: WEIGHTS, cold_start: COLD_START }],
      pools: [
        {
          name: "chat",
          models: [MODEL],
          regions: PLACES.map((place) => place.region),
          last_resort: { kind: "regions", order: PLACES.map((place) => place.region) },
        },
        { name: SECURE_POOL, models: [MODEL], regions: [SECURE_SITE.region] },
      ],
      geo: {
        provider: "static",
        static: PLACES.map((place) => ({
          cidr: place.clients,
          lat: place.location.latitude,
          lon: place.location.longitude,
          name: place.city,
        })),
      },
    }),
    "demo",
    {},
  );
  // Not by way of the text above, where `${` in a password would be taken for a variable.
  return { ...config, store: { ...config.store, url: wish.storeUrl } };
};

export type RegionWish = {
  readonly ports: RegionPorts;
  readonly keys: RegionKeys;
  /** Holds `ENGINE_KEY`. */
  readonly engineKeyFile: string;
  /** Of the TLS pool's gateway. */
  readonly tls: { readonly cert_file: string; readonly key_file: string };
  readonly storeUrl: string;
};

/** As its reports and Redis name it. */
export const agentIdOf = (site: Site): AgentId => AgentId.parse(`agent-${site.region}`);
export const gatewayIdOf = (site: Site): AgentId => AgentId.parse(`gateway-${site.region}`);

const SERVED = {
  id: MODEL,
  prefill_tokens_per_second: ENGINE.prefillTokensPerSecond,
  kv_capacity_tokens: ENGINE.kvTokensPerReplica,
};

export const agentConfigOf = (site: Site, wish: RegionWish): AgentConfig =>
  AgentConfig.parse({
    version: 1,
    region: site.region,
    agent: agentIdOf(site),
    store: { url: wish.storeUrl },
    report: { key_file: wish.keys.reportFile },
    engines: enginesOf(site, wish.ports, wish.engineKeyFile),
    gateways: [{ url: `http://${site.address}:${wish.ports.gatewayMetrics}` }],
    gpus: { dcgm_url: `${engineUrl(site, wish.ports)}/dcgm/metrics` },
    models: [{ ...SERVED, weight_bytes: WEIGHTS, cold_start: COLD_START }],
  });

export const gatewayConfigOf = (site: Site, wish: RegionWish): GatewayConfig => {
  const { ports } = wish;
  const isSecure = site === SECURE_SITE;
  return GatewayConfig.parse({
    version: 1,
    region: site.region,
    gateway: gatewayIdOf(site),
    zone: ZONE,
    pools: [isSecure ? SECURE_POOL : "chat"],
    hosts: [site.address],
    store: { url: wish.storeUrl },
    listen: [
      { address: `${site.address}:${ports.gateway}`, tls: false },
      ...(isSecure ? [{ address: `${site.address}:${ports.gatewayTls}`, tls: true }] : []),
    ],
    tls: isSecure ? wish.tls : null,
    keys: wish.keys.gateway,
    engines: enginesOf(site, ports, wish.engineKeyFile),
    models: [SERVED],
    drain: { linger: "0ms", deadline: "2s" },
    metrics: { listen: `${site.address}:${ports.gatewayMetrics}` },
  });
};
