/** Where a client's network is: the operator's own subnets first, then the geoip-lite data, else nowhere. The one door to geoip-lite. */
import { LRUCache } from "lru-cache";
import type { Client } from "#gtm/domain/client.ts";
import type { Location } from "#gtm/domain/topology.ts";
import type { Part } from "#shared/lifecycle.ts";
import type { Logger } from "#shared/logger.ts";
import type { Metrics } from "#shared/metrics.ts";
import { widened } from "./geo-range.ts";
import {
  firstAddressText,
  holdsAddress,
  isRouted,
  lastOf,
  parseSubnet,
  type Subnet,
  subnetText,
  truncated,
} from "./subnet.ts";
import { type AddressRange, scopePrefixBits } from "./subnet-scope.ts";

export type StaticSubnet = {
  readonly cidr: string;
  readonly location: Location;
  /** The operator's word for the area; null: its coordinates name it. */
  readonly name: string | null;
};

/** What the data says of one address; `range` null: not for whom else that holds. */
export type GeoRecord = {
  readonly location: Location;
  readonly country: string | null;
  readonly range: AddressRange | null;
};
export type GeoLookup = (address: string) => GeoRecord | null;

export type GeoipOptions = {
  /** `builtin`: the data of geoip-lite, loaded at start; `static`: nothing but the operator's own subnets. */
  readonly provider: "builtin" | "static";
  readonly static: readonly StaticSubnet[];
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Loads the data; what geoip-lite says where absent. */
  readonly load?: () => Promise<GeoLookup>;
};

export type Geoip = Part & {
  /** Never throws and never waits; until the data is loaded only the operator's own subnets have a place. */
  readonly locate: (clientSubnet: string) => Client;
  /** From now on these are the operator's own subnets. @throws as createGeoip, and nothing has changed */
  readonly relocate: (subnets: readonly StaticSubnet[]) => void;
};

/** About 200 bytes each; a look-up costs some microseconds, mostly for the numbers (test/bench/geoip.bench.ts). */
const MOST_CACHED = 65_536;

/** @throws {Error} when a configured CIDR is none: the configuration's schema refuses it, so this is a bug */
export const createGeoip = (options: GeoipOptions): Geoip => {
  let configured = subnetsOf(options.static);
  let subnets = configured.map(({ subnet }) => subnet);
  const cache = new LRUCache<string, Client>({ max: MOST_CACHED });
  let lookup: GeoLookup = () => null;
  const lookups = options.metrics.counter({
    name: "gtm_geo_lookups_total",
    help: "Client networks that were located anew, by where the location came from.",
    labels: ["source"],
  });

  const failures = options.metrics.counter({
    name: "gtm_geo_load_failures_total",
    help: "Times that the geography data could not be loaded; only the operator's own subnets have a place then.",
  });

  const locateAnew = (clientSubnet: string): Client => {
    const parsed = parseSubnet(clientSubnet);
    if (parsed === null) return nowhere(clientSubnet, 0);
    const subnet = truncated(parsed);
    const matches = configured.filter((one) => holdsAddress(one.subnet, subnet.family, subnet.first));
    const [own] = matches.sort((a, b) => b.subnet.prefixBits - a.subnet.prefixBits);
    if (own !== undefined) {
      return clientAt(own.own.location, {
        subnet: subnetText(subnet),
        name: own.own.name,
        place: own.own.name,
        source: "static",
        scopePrefixBits: scopePrefixBits(subnet, rangeOf(own.subnet), subnets, own.subnet),
      });
    }
    const found = isRouted(subnet) ? lookup(firstAddressText(subnet)) : null;
    if (found === null) {
      return nowhere(subnetText(subnet), scopePrefixBits(subnet, rangeOf(subnet), subnets, null));
    }
    const area = areaOf(found.location);
    const isSame = (other: GeoRecord): boolean => other.country === found.country && areaOf(other.location) === area;
    const range = found.range === null ? rangeOf(subnet) : widened(found.range, isSame, lookup);
    return clientAt(found.location, {
      subnet: subnetText(subnet),
      name: null,
      place: found.country,
      source: "geo",
      scopePrefixBits: scopePrefixBits(subnet, range, subnets, null),
    });
  };

  return {
    name: "geoip",
    start: async () => {
      if (options.provider === "static") return;
      try {
        lookup = await (options.load ?? loadGeoipLite)();
        cache.clear();
        options.log.info("geo.loaded");
      } catch (cause) {
        // Clients have no place then, and that is a configuration to be mended, not a reason to answer nobody.
        failures.inc();
        options.log.error("geo.unavailable", { code: "GTM_GEO_UNAVAILABLE", cause: String(cause) });
      }
    },
    stop: async () => {},
    relocate: (wanted) => {
      configured = subnetsOf(wanted);
      subnets = configured.map(({ subnet }) => subnet);
      cache.clear();
    },
    locate: (clientSubnet) => {
      const known = cache.get(clientSubnet);
      if (known !== undefined) return known;
      const client = locateAnew(clientSubnet);
      lookups.inc({ source: client.source });
      cache.set(clientSubnet, client);
      return client;
    },
  };
};

const subnetsOf = (some: readonly StaticSubnet[]) => some.map((own) => ({ own, subnet: requireSubnet(own.cidr) }));

const requireSubnet = (cidr: string): Subnet => {
  const subnet = parseSubnet(cidr);
  if (subnet === null) throw new Error(`"${cidr}" is no network`);
  return subnet;
};

const rangeOf = (subnet: Subnet): AddressRange => ({ first: subnet.first, last: lastOf(subnet) });

const nowhere = (subnet: string, scope: number): Client => ({
  subnet,
  location: null,
  area: null,
  place: null,
  source: "unknown",
  scopePrefixBits: scope,
});

type Found = Pick<Client, "subnet" | "place" | "source" | "scopePrefixBits"> & { readonly name: string | null };

const clientAt = (location: Location, { name, ...found }: Found): Client => ({
  ...found,
  location,
  area: name ?? areaOf(location),
});

const areaOf = ({ latitude, longitude }: Location): string => `${halfDegree(latitude)},${halfDegree(longitude)}`;

/** "8.5": about 55 km of latitude; the meridian of 180° has one name. */
const halfDegree = (degrees: number): string => {
  const rounded = Math.round(degrees * 2) / 2;
  return (rounded === -180 ? 180 : rounded).toFixed(1);
};

/** Importing costs most of a second and over 100 MB, so it happens here, once, and before anybody is answered. */
const loadGeoipLite = async (): Promise<GeoLookup> => {
  const { default: geoip } = await import("geoip-lite");
  return (address) => {
    const found = geoip.lookup(address);
    if (found === null) return null;
    const location = locationOf(found.ll);
    if (location === null) return null;
    const range = found.range === "" ? null : { first: found.range[0], last: found.range[1] };
    return { location, country: found.country === "" ? null : found.country, range };
  };
};

/** Where it has no coordinates the data says nulls, or zeros: a place in the Gulf of Guinea where nobody lives. */
export const locationOf = ([latitude, longitude]: readonly [number | null, number | null]): Location | null => {
  if (latitude === null || longitude === null || (latitude === 0 && longitude === 0)) return null;
  return Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180 ? { latitude, longitude } : null;
};
