/** The configurations of the demo's GTM and agents: what their owners would write in YAML. */
import { AgentConfig } from "#edge-agent/config.ts";
import { type GtmConfig, parseGtmConfig } from "#gtm/config.ts";
import { AgentId, InstanceId } from "#shared/ids.ts";
import { ENGINE, type GtmPorts, MODEL, MODEL_ALIAS, PLACES, type Place, ZONE } from "./places.ts";

/** Llama-3.3-70B at 16 bits. */
const WEIGHTS = "141 GB";
const COLD_START = "80s";

/** The admin API's caller, as orders name it. */
export const DEMO_ACTOR = "demo";
/** The GTMs, where two share a Redis. */
export const INSTANCES = [InstanceId.parse("demo-1"), InstanceId.parse("demo-2")] as const;
/** The GTM that is alone. */
export const ONLY_INSTANCE = InstanceId.parse("demo");

/** @param port of every engine */
export const engineUrl = (place: Place, port: number): string => `http://${place.address}:${port}`;

export type GtmWish = {
  readonly instance: string;
  readonly ports: GtmPorts;
  readonly enginePort: number;
  readonly tokensFile: string;
  readonly keys: { readonly identity_file: string; readonly signing_file: string; readonly reports_file: string };
  readonly storeUrl: string;
};

export const gtmConfigAt = (wish: GtmWish): GtmConfig => {
  const { ports, enginePort } = wish;
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
      regions: PLACES.map((place) => ({
        id: place.region,
        location: { lat: place.location.latitude, lon: place.location.longitude },
        jurisdiction: place.jurisdiction,
        endpoint: { url: engineUrl(place, enginePort), a: [place.address] },
        probe: { url: `${engineUrl(place, enginePort)}/health` },
        affinity: true,
      })),
      models: [{ id: MODEL, aliases: [MODEL_ALIAS], weight_bytes: WEIGHTS, cold_start: COLD_START }],
      pools: [
        {
          name: "chat",
          models: [MODEL],
          regions: PLACES.map((place) => place.region),
          last_resort: { kind: "regions", order: PLACES.map((place) => place.region) },
        },
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

export type AgentWish = { readonly enginePort: number; readonly keyFile: string; readonly storeUrl: string };

/** As its reports and Redis name it. */
export const agentIdOf = (place: Place): AgentId => AgentId.parse(`agent-${place.region}`);

export const agentConfigOf = (place: Place, { enginePort, keyFile, storeUrl }: AgentWish): AgentConfig =>
  AgentConfig.parse({
    version: 1,
    region: place.region,
    agent: agentIdOf(place),
    store: { url: storeUrl },
    report: { key_file: keyFile },
    engines: [{ url: engineUrl(place, enginePort), engine: "vllm" }],
    gpus: { dcgm_url: `${engineUrl(place, enginePort)}/dcgm/metrics` },
    models: [
      {
        id: MODEL,
        weight_bytes: WEIGHTS,
        cold_start: COLD_START,
        prefill_tokens_per_second: ENGINE.prefillTokensPerSecond,
        kv_capacity_tokens: ENGINE.kvTokensPerReplica,
      },
    ],
  });

/** The engine simulator's command line for a place. */
export const engineArgs = (place: Place, port: number): readonly string[] => [
  ...["--listen", `${place.address}:${port}`],
  ...["--region", place.region],
  ...["--model", MODEL],
  ...["--alias", MODEL_ALIAS],
  ...["--replicas", String(ENGINE.replicas)],
  ...["--prefill-tokens-per-second", String(ENGINE.prefillTokensPerSecond)],
  ...["--kv-tokens", String(ENGINE.kvTokensPerReplica)],
];
