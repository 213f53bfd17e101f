/** The regions of the demo, the networks its clients come from, and the ports everything listens on. */
import { RegionId } from "#shared/ids.ts";

export type Site = {
  readonly region: RegionId;
  readonly city: string;
  readonly location: { readonly latitude: number; readonly longitude: number };
  readonly jurisdiction: string;
  /** Each region has a loopback address of its own, so that what DNS answers and what `Location` says leads somewhere real. */
  readonly address: string;
};

export type Place = Site & {
  /** Documentation network (RFC 5737) that the demo takes for clients near this region. */
  readonly clients: string;
};

export const PLACES: readonly Place[] = [
  {
    region: RegionId.parse("eu-central"),
    city: "Frankfurt",
    location: { latitude: 50.11, longitude: 8.68 },
    jurisdiction: "eu",
    address: "127.0.1.1",
    clients: "192.0.2.0/24",
  },
  {
    region: RegionId.parse("us-east"),
    city: "Virginia",
    location: { latitude: 38.95, longitude: -77.45 },
    jurisdiction: "us",
    address: "127.0.1.2",
    clients: "198.51.100.0/24",
  },
  {
    region: RegionId.parse("ap-southeast"),
    city: "Singapore",
    location: { latitude: 1.35, longitude: 103.82 },
    jurisdiction: "sg",
    address: "127.0.1.3",
    clients: "203.0.113.0/24",
  },
];

/** Serves a pool of its own, over TLS. */
export const SECURE_SITE: Site = {
  region: RegionId.parse("eu-west"),
  city: "Dublin",
  location: { latitude: 53.35, longitude: -6.26 },
  jurisdiction: "eu",
  address: "127.0.1.4",
};
export const SITES: readonly Site[] = [...PLACES, SECURE_SITE];

/** @throws {Error} for a name that is no region of the demo's conversations */
export const placeOf = (region: string): Place => {
  const place = PLACES.find((one) => one.region === region);
  if (place === undefined) throw new Error(`${region} is no region of the demo`);
  return place;
};

/** An address in the place's client network. @param host 1 to 254 */
export const clientAddress = (place: Place, host: number): string => place.clients.replace("0/24", String(host));

export const ZONE = "llm.test";
export const MODEL = "meta-llama/Llama-3.3-70B-Instruct";
export const MODEL_ALIAS = "llama-3.3-70b";

/** Of one GTM. */
export type GtmPorts = {
  readonly dns: number;
  readonly http: number;
  readonly admin: number;
  readonly metrics: number;
};

const FIRST_PORTS: GtmPorts = { dns: 5_300, http: 8_080, admin: 9_443, metrics: 9_153 };
const ENGINE_PORT = 8_000;
// Odd, and far apart: a second demo at the next offset, which is even, takes none of them.
const ENGINE_SGLANG_PORT = 8_001;
const ENGINE_LLAMA_CPP_PORT = 8_081;
const GATEWAY_PORT = 8_090;
const GATEWAY_TLS_PORT = 8_443;
const GATEWAY_METRICS_PORT = 9_155;

export const LOWEST_PORT = FIRST_PORTS.dns;
/** The second GTM's admin API. */
export const HIGHEST_PORT = FIRST_PORTS.admin + 1;

/**
 * @param offset added to every port, so that several demos fit on one machine
 * @param at 0: the first GTM, 1: the second, on the port beside each of the first one's
 */
export const gtmPortsAt = (offset: number, at: 0 | 1): GtmPorts => ({
  dns: FIRST_PORTS.dns + offset + at,
  http: FIRST_PORTS.http + offset + at,
  admin: FIRST_PORTS.admin + offset + at,
  metrics: FIRST_PORTS.metrics + offset + at,
});

/** Of every region: their addresses differ. */
export type RegionPorts = {
  readonly engine: number;
  /** Where engines of these kinds stand beside it. */
  readonly engineSglang: number;
  readonly engineLlamaCpp: number;
  readonly gateway: number;
  readonly gatewayTls: number;
  readonly gatewayMetrics: number;
};

/** @param offset as `gtmPortsAt` */
export const regionPortsAt = (offset: number): RegionPorts => ({
  engine: ENGINE_PORT + offset,
  engineSglang: ENGINE_SGLANG_PORT + offset,
  engineLlamaCpp: ENGINE_LLAMA_CPP_PORT + offset,
  gateway: GATEWAY_PORT + offset,
  gatewayTls: GATEWAY_TLS_PORT + offset,
  gatewayMetrics: GATEWAY_METRICS_PORT + offset,
});

/** What the engines ask for, so that a credential that gets lost shows. */
export const ENGINE_KEY = "demo-key";

/** What an engine of the demo can do. */
export const ENGINE = {
  replicas: 2,
  prefillTokensPerSecond: 8_000,
  kvTokensPerReplica: 400_000,
  /** Uncached tokens of a filler that `POST /sim/hold` keeps in a queue. */
  fillerTokens: 4_000,
} as const;
