/** From a query's client network to the cell that answers it: located once, and then one look-up a query. */
import type { Client } from "#gtm/domain/client.ts";
import type { Cells, StandingCell } from "./cells.ts";
import type { DnsQuery } from "./dns-query.ts";
import { createGenerations, type Generations } from "./generations.ts";
import { MOST_BITS, networkKey, networkOf, prefixText, sourceKey } from "./prefix.ts";
import type { PrivateScope } from "./private-scope.ts";
import type { SteeredName } from "./zone-names.ts";

/** One network as one name and family see it. */
type Place = {
  /** null: not asked for yet. */
  standing: StandingCell | null;
  /** For whom an answer that was made for this network holds, bits. */
  readonly scopeBits: number;
  /** The network says nothing about where the client is; as a client subnet it is not used. */
  readonly isPrivate: boolean;
  readonly client: Client;
};

export type Places = {
  /**
   * @param scope filled with what the reply says to a client subnet; 0 where the subnet was not used
   * @returns null: the name has no addresses of this family, whoever asks
   */
  readonly find: (query: DnsQuery, name: SteeredName, family: 4 | 6, scope: { bits: number }) => StandingCell | null;
};

export type PlacesOptions = {
  readonly locate: (subnet: string) => Client;
  readonly privateScope: PrivateScope;
  readonly cells: Cells;
};

/** Networks remembered, a name and family; each is about a hundred octets. */
const MOST_PLACES = 32_768;

export const createPlaces = ({ locate, privateScope, cells }: PlacesOptions): Places => {
  const byName: Generations<number, Place>[] = [];

  const locatePlace = (key: number): Place => {
    const network = networkOf(key);
    const client = locate(prefixText(network));
    const privateBits = client.source === "unknown" ? privateScope(network) : null;
    const scopeBits = privateBits ?? Math.min(Math.max(0, client.scopePrefixBits), MOST_BITS[network.family]);
    return { standing: null, scopeBits, isPrivate: privateBits !== null, client };
  };
  const placeOf = (places: Generations<number, Place>, key: number): Place => {
    const known = places.get(key);
    if (known !== undefined) return known;
    const made = locatePlace(key);
    places.set(key, made);
    return made;
  };
  const placesOf = (name: SteeredName, family: 4 | 6): Generations<number, Place> => {
    const at = name.index * 2 + (family === 4 ? 0 : 1);
    byName[at] ??= createGenerations(MOST_PLACES);
    return byName[at];
  };
  /** SOURCE 0 asks not to use the address (RFC 7871 §7.1.2). */
  const choose = (query: DnsQuery, places: Generations<number, Place>, scope: { bits: number }): Place => {
    scope.bits = 0;
    if (query.hasSubnet && query.subnetBits > 0) {
      const told = placeOf(places, subnetKey(query));
      scope.bits = told.scopeBits;
      if (!told.isPrivate) return told;
    }
    return placeOf(places, sourceKey(query.peer));
  };

  return {
    find: (query, name, family, scope) => {
      const pool = family === 4 ? name.ipv4 : name.ipv6;
      if (pool === null) return null;
      const place = choose(query, placesOf(name, family), scope);
      if (place.standing === null) place.standing = cells.enter(pool, place.client, family);
      else cells.renew(place.standing);
      return place.standing;
    },
  };
};

/** Of the client subnet, cut to what is looked at; octets that the option leaves out are 0. */
const subnetKey = ({ octets, subnetAt, subnetFamily, subnetBits }: DnsQuery): number => {
  const wanted = subnetFamily === 4 ? 3 : 6;
  const told = (subnetBits + 7) >>> 3;
  let value = 0;
  for (let i = 0; i < wanted; i++) value = value * 256 + (i < told ? (octets[subnetAt + 4 + i] ?? 0) : 0);
  return networkKey(subnetFamily, value, Math.min(subnetBits, MOST_BITS[subnetFamily]));
};
