/** The three regions that tests steer between, and what their GTM is told of them. */
import type { DemoKeys } from "#deploy/demo/keys.ts";
import { RegionId } from "#shared/ids.ts";
import { SIMULATED_ALIAS, SIMULATED_MODEL } from "./engine-simulators.ts";

export const ZONE = "llm.test";

export type SteeredRegionSite = {
  readonly id: RegionId;
  /** Of loopback, its own. */
  readonly address: string;
  readonly lat: number;
  readonly lon: number;
  /** A client of this network is near. */
  readonly client: string;
};

const site = (id: string, address: string, lat: number, lon: number, client: string): SteeredRegionSite => ({
  ...{ id: RegionId.parse(id), address, lat, lon, client },
});
const EU = site("eu-central", "127.0.4.1", 50.11, 8.68, "192.0.2.7");
const US = site("us-east", "127.0.4.2", 38.95, -77.45, "198.51.100.7");
const AP = site("ap-southeast", "127.0.4.3", 1.35, 103.82, "203.0.113.7");
export const STEERED_SITES = [EU, US, AP] as const;

export type GtmFiles = { readonly keys: DemoKeys["gtm"]; readonly authorityFile: string };

type Settled = {
  readonly originOf: (place: SteeredRegionSite) => string;
  /** null: by their reports alone. A busy machine answers no probe in time, and only who dies has to be probed. */
  readonly probeOf: (place: SteeredRegionSite) => object | null;
};

export const gtmSettings = (files: GtmFiles, { originOf, probeOf }: Settled) => ({
  version: 1,
  instance: "test",
  keys: files.keys,
  dns: {
    listen: ["127.0.0.1:0"],
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
    listen: "127.0.0.1:0",
    addresses: ["127.0.0.1"],
    default_pool: "chat",
    trusted_proxies: ["127.0.0.0/8"],
    regions_ca_file: files.authorityFile,
  },
  admin: { listen: "127.0.0.1:0" },
  metrics: { listen: "127.0.0.1:0" },
  regions: STEERED_SITES.map((place) => ({
    id: place.id,
    location: { lat: place.lat, lon: place.lon },
    endpoint: { url: originOf(place), a: [place.address] },
    probe: probeOf(place),
    gateway: true,
  })),
  models: [{ id: SIMULATED_MODEL, aliases: [SIMULATED_ALIAS] }],
  pools: [poolOf("chat", "redirect"), poolOf("through", "forward")],
  geo: {
    provider: "static",
    static: STEERED_SITES.map(({ client, lat, lon, id }) => ({
      cidr: client.replace(/\.7$/, ".0/24"),
      ...{ lat, lon, name: id },
    })),
  },
});

const poolOf = (name: string, mode: string) => ({
  ...{ name, mode, models: [SIMULATED_MODEL], regions: STEERED_SITES.map(({ id }) => id) },
});
