/** The configurations of the demo's GTM and agents: what their owners would write in YAML. */
import { AgentConfig } from "#edge-agent/config.ts";
import { type GtmConfig, parseGtmConfig } from "#gtm/config.ts";
import { ENGINE, MODEL, MODEL_ALIAS, PLACES, type Place, type Ports, ZONE } from "./places.ts";

/** Llama-3.3-70B at 16 bits. */
const WEIGHTS = "141 GB";
const COLD_START = "80s";

export const engineUrl = (place: Place, ports: Ports): string => `http://${place.address}:${ports.engine}`;

export const gtmConfigAt = (ports: Ports, tokensFile: string): GtmConfig =>
  parseGtmConfig(
    // JSON is YAML.
    JSON.stringify({
      version: 1,
      instance: "demo",
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
      },
      http: {
        listen: `127.0.0.1:${ports.http}`,
        addresses: ["127.0.0.1"],
        default_pool: "chat",
        trusted_proxies: ["127.0.0.0/8"],
      },
      admin: { listen: `127.0.0.1:${ports.admin}`, auth: { tokens_file: tokensFile } },
      metrics: { listen: `127.0.0.1:${ports.metrics}` },
      regions: PLACES.map((place) => ({
        id: place.region,
        location: { lat: place.location.latitude, lon: place.location.longitude },
        jurisdiction: place.jurisdiction,
        endpoint: { url: engineUrl(place, ports), a: [place.address] },
        probe: { url: `${engineUrl(place, ports)}/health` },
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

export const agentConfigOf = (place: Place, ports: Ports): AgentConfig =>
  AgentConfig.parse({
    version: 1,
    region: place.region,
    agent: `agent-${place.region}`,
    store: { url: "memory:" },
    engines: [{ url: engineUrl(place, ports), engine: "vllm" }],
    gpus: { dcgm_url: `${engineUrl(place, ports)}/dcgm/metrics` },
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
export const engineArgs = (place: Place, ports: Ports): readonly string[] => [
  ...["--listen", `${place.address}:${ports.engine}`],
  ...["--region", place.region],
  ...["--model", MODEL],
  ...["--alias", MODEL_ALIAS],
  ...["--replicas", String(ENGINE.replicas)],
  ...["--prefill-tokens-per-second", String(ENGINE.prefillTokensPerSecond)],
  ...["--kv-tokens", String(ENGINE.kvTokensPerReplica)],
];
