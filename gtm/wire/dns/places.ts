/** From a query's client network to the cell that answers it: located once, and then one look-up a query. */
import type { Client } from "#gtm/domain/client.ts";
import type { Cells, StandingCell } from "./cells.ts";
import type { DnsQuery } from "./dns-query.ts";
import { createGenerations } from "./generations.ts";
import { MOST_BITS, networkKey, networkOf, prefixText, sourceKey } from "./prefix.ts";
import type { PrivateScope } from "./private-scope.ts";
import type { SteeredName } from "./steered-name.ts";

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
  /** @returns null: the name has no addresses of this family, whoever asks */
  readonly find: (query: DnsQuery, name: SteeredName, family: 4 | 6) => StandingCell | null;
  /** For whom what was found last holds: what the reply says to a client subnet; 0 where the subnet was not used. */
  readonly scopeBits: () => number;
};

export type PlacesOptions = {
  readonly locate: (subnet: string) => Client;
  readonly privateScope: PrivateScope;
  readonly cells: Cells;
};

/** Networks remembered, for all names and families together; each is about two hundred octets. */
const MOST_PLACES = 131_072;
/** One that lies nowhere has a cell and a decision to itself, of about two kilobytes: forged addresses are such. */
const WEIGHT_NOWHERE = 10;

export const createPlaces = ({ locate, privateScope, cells }: PlacesOptions): Places => {
  const places = createGenerations<Place>(MOST_PLACES, ({ client }) => (client.area === null ? WEIGHT_NOWHERE : 1));
  let scopeBits = 0;

  const locatePlace = (key: number): Place => {
    const network = networkOf(key);
    const client = locate(prefixText(network));
    const privateBits = client.source === "unknown" ? privateScope(network) : null;
    const scopeBits = privateBits ?? Math.min(Math.max(0, client.scopePrefixBits), MOST_BITS[network.family]);
    return { standing: null, scopeBits, isPrivate: privateBits !== null, client };
  };
  const placeOf = (asked: number, key: number): Place => {
    const known = places.get(asked, key);
    if (known !== undefined) return known;
    const made = locatePlace(key);
    places.add(asked, key, made);
    return made;
  };
  /** SOURCE 0 asks not to use the address (RFC 7871 §7.1.2). */
  const choose = (query: DnsQuery, asked: number): Place => {
    scopeBits = 0;
    if (query.hasSubnet && query.subnetBits > 0) {
      const told = placeOf(asked, subnetKey(query));
      scopeBits = told.scopeBits;
      if (!told.isPrivate) return told;
    }
    return placeOf(asked, sourceKey(query.peer));
  };

  return {
    find: (query, name, family) => {
      const pool = family === 4 ? name.ipv4 : name.ipv6;
      if (pool === null) return null;
      const place = choose(query, name.index * 2 + (family === 4 ? 0 : 1));
      if (place.standing === null) place.standing = cells.enter(pool, place.client, family);
      else cells.renew(place.standing);
      return place.standing;
    },
    scopeBits: () => scopeBits,
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
