/** What the fault suite's GTMs and agents are configured with, as their owners would write it. */
import { join } from "node:path";
import { SIMULATED_ALIAS, SIMULATED_MODEL } from "#test/support/engine-simulators.ts";
import type { GtmName } from "./history.ts";

export type Place = {
  readonly id: string;
  readonly lat: number;
  readonly lon: number;
  /** What DNS answers; nobody listens there. */
  readonly address: string;
  /** Documentation networks (RFC 5737, RFC 2544) that stand for the clients near it. */
  readonly clients: string;
};

/** One is drained, one dies, and two are left that may be confused. */
export const PLACES: readonly Place[] = [
  { id: "north", lat: 59.33, lon: 18.06, address: "192.0.2.1", clients: "198.18.1.0/24" },
  { id: "east", lat: 52.23, lon: 21.01, address: "192.0.2.2", clients: "198.18.2.0/24" },
  { id: "south", lat: 41.9, lon: 12.49, address: "192.0.2.3", clients: "198.18.3.0/24" },
  { id: "west", lat: 53.35, lon: -6.26, address: "192.0.2.4", clients: "198.18.4.0/24" },
];

export const ZONE = "llm.test";

/** The defaults, but for 200 ms more patience: engines and network live in the test's process, which has its own work. */
export const PROBE = { intervalMs: 1_000, timeoutMs: 1_000, fall: 3, rise: 2 } as const;
/** From a region's end to the last answer that names it. */
export const DOWN_WITHIN_MS = PROBE.fall * PROBE.intervalMs + PROBE.timeoutMs + 500;

export type GtmPorts = {
  readonly dns: number;
  readonly http: number;
  readonly admin: number;
  readonly metrics: number;
};

export type GtmWish = {
  readonly name: GtmName;
  readonly ports: GtmPorts;
  readonly storeUrl: string;
  /** Of this GTM alone. */
  readonly folder: string;
  /** Where `gtm keys init` put what both have. */
  readonly keysFolder: string;
  /** Of each region's engines, by region; what a probe asks, too. */
  readonly origins: ReadonlyMap<string, string>;
};

/** JSON is YAML. */
export const gtmYaml = ({ name, ports, storeUrl, folder, keysFolder, origins }: GtmWish): string => {
  const local = (port: number): string => `127.0.0.1:${port}`;
  return JSON.stringify({
    version: 1,
    instance: name,
    store: { url: storeUrl, world_file: join(folder, "world.json") },
    keys: {
      identity_file: join(keysFolder, "identity.key"),
      signing_file: join(keysFolder, "signing.keys"),
      ticket_file: join(keysFolder, "ticket.keys"),
      reports_file: join(keysFolder, "reports.keys"),
    },
    dns: {
      listen: [local(ports.dns)],
      zone: ZONE,
      ns: [
        { name: `ns1.${ZONE}`, a: ["127.0.0.1"] },
        { name: `ns2.${ZONE}`, a: ["127.0.0.2"] },
      ],
      soa: { rname: `hostmaster.${ZONE}` },
      default_pool: "chat",
      rate_limit: { exempt: ["127.0.0.0/8"] },
    },
    http: {
      listen: local(ports.http),
      addresses: ["127.0.0.1"],
      default_pool: "chat",
      trusted_proxies: ["127.0.0.0/8"],
    },
    admin: { listen: local(ports.admin) },
    metrics: { listen: local(ports.metrics) },
    regions: PLACES.map(({ id, lat, lon, address }) => ({
      id,
      location: { lat, lon },
      endpoint: { url: origins.get(id), a: [address] },
      probe: {
        url: `${origins.get(id)}/health`,
        interval: `${PROBE.intervalMs}ms`,
        timeout: `${PROBE.timeoutMs}ms`,
        fall: PROBE.fall,
        rise: PROBE.rise,
      },
      affinity: true,
    })),
    models: [{ id: SIMULATED_MODEL, aliases: [SIMULATED_ALIAS] }],
    pools: [
      {
        name: "chat",
        models: [SIMULATED_MODEL],
        regions: PLACES.map(({ id }) => id),
        last_resort: { kind: "regions", order: PLACES.map(({ id }) => id) },
      },
    ],
    // What moves a conversation here is what breaks, never a queue.
    policy: { margin: "5s" },
    geo: {
      provider: "static",
      static: PLACES.map(({ id, clients, lat, lon }) => ({ cidr: clients, lat, lon, name: id })),
    },
  });
};

export type AgentWish = {
  readonly region: string;
  readonly storeUrl: string;
  /** Where its engine listens. */
  readonly engineUrl: string;
  /** null: it does not sign. */
  readonly keyFile: string | null;
};

export const agentYaml = ({ region, storeUrl, engineUrl, keyFile }: AgentWish): string =>
  JSON.stringify({
    version: 1,
    region,
    agent: `agent-${region}`,
    store: { url: storeUrl },
    report: { interval: "500ms", key_file: keyFile },
    engines: [{ url: engineUrl, engine: "vllm" }],
    gpus: { dcgm_url: `${engineUrl}/dcgm/metrics` },
    models: [{ id: SIMULATED_MODEL, prefill_tokens_per_second: 8_000, kv_capacity_tokens: 400_000 }],
    metrics: { listen: "127.0.0.1:0" },
  });
