/** Where a query comes from: its client's network, located once and remembered. */
import { LRUCache } from "lru-cache";
import type { Client } from "#gtm/domain/client.ts";
import type { DnsQuery } from "./dns-query.ts";
import { ipv4Value, MOST_BITS, type Prefix, prefixKey, prefixText, sourcePrefix, truncated } from "./prefix.ts";
import type { PrivateScope } from "./private-scope.ts";

export type Area<Slot> = {
  readonly client: Client;
  /** For whom an answer that was made for this network holds, bits. */
  readonly scopeBits: number;
  /** The subnet says nothing about where the client is; the resolver's own address decides. */
  readonly isPrivate: boolean;
  /** What the owner of the answers remembers here, by the name's index and family. */
  readonly slots: Slot[];
};

/** One answerer's register: filled anew by each query. */
export type Asker<Slot> = {
  area: Area<Slot>;
  /** What the reply to a client subnet says; 0 where the subnet was not used. */
  scopeBits: number;
};

export type Areas<Slot> = {
  readonly find: (query: DnsQuery, asker: Asker<Slot>) => void;
  /** The network of an address, without a port. */
  readonly ofSource: (address: string) => Area<Slot>;
};

/** A look-up costs microseconds, an area about half a kilobyte. */
const MOST_AREAS = 32_768;

export const createAreas = <Slot>(locate: (subnet: string) => Client, privateScope: PrivateScope): Areas<Slot> => {
  const areas = {
    4: new LRUCache<number, Area<Slot>>({ max: MOST_AREAS }),
    6: new LRUCache<number, Area<Slot>>({ max: MOST_AREAS }),
  };

  const areaOf = (family: 4 | 6, value: number, bits: number): Area<Slot> => {
    const key = prefixKey(family, value, bits);
    const known = areas[family].get(key);
    if (known !== undefined) return known;
    const made = locateArea({ family, value: truncated(value, bits, MOST_BITS[family]), bits });
    areas[family].set(key, made);
    return made;
  };
  const locateArea = (subnet: Prefix): Area<Slot> => {
    const client = locate(prefixText(subnet));
    const mostBits = MOST_BITS[subnet.family];
    const privateBits = client.source === "unknown" ? privateScope(subnet) : null;
    const scopeBits = privateBits ?? Math.min(Math.max(0, client.scopePrefixBits), mostBits);
    return { client, scopeBits, isPrivate: privateBits !== null, slots: [] };
  };
  const ofSource = (address: string): Area<Slot> => {
    const value = ipv4Value(address);
    if (!Number.isNaN(value)) return areaOf(4, value, MOST_BITS[4]);
    const source = sourcePrefix(address);
    return areaOf(source.family, source.value, source.bits);
  };

  return {
    ofSource,
    find: (query, asker) => {
      // SOURCE 0 asks not to use the address (RFC 7871 §7.1.2).
      if (!query.hasSubnet || query.subnetBits === 0) {
        asker.area = ofSource(query.peer);
        asker.scopeBits = 0;
        return;
      }
      const { subnetFamily } = query;
      const told = areaOf(subnetFamily, subnetValue(query), Math.min(query.subnetBits, MOST_BITS[subnetFamily]));
      asker.area = told.isPrivate ? ofSource(query.peer) : told;
      asker.scopeBits = told.scopeBits;
    },
  };
};

/** The first 24 or 48 bits of the option's address; octets that it leaves out are 0. */
const subnetValue = ({ octets, subnetAt, subnetFamily, subnetBits }: DnsQuery): number => {
  const wanted = subnetFamily === 4 ? 3 : 6;
  const told = (subnetBits + 7) >>> 3;
  let value = 0;
  for (let i = 0; i < wanted; i++) value = value * 256 + (i < told ? (octets[subnetAt + 4 + i] ?? 0) : 0);
  return value;
};
