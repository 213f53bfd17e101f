/** For whom a location holds: the range of addresses that it was found for, and its neighbours that are the same place. */
import { firstAddressText, isRouted, type Subnet } from "./subnet.ts";
import type { AddressRange } from "./subnet-scope.ts";

/** What the data says of the range that an address lies in; null: nothing. */
export type RangeLookup<T extends { readonly range: AddressRange | null }> = (address: string) => T | null;

/**
 * On each side; every one is another look-up, once a network. The data has few neighbours alike: of 20 000 random networks
 * two on each side shorten the mean scope from 17.2 to 17.1 bits, and any number of them to 17.0.
 */
const MOST_NEIGHBOURS = 2;
const LAST_IPV4 = 2 ** 32 - 1;

/**
 * IPv4 only: of IPv6 the data has no ranges.
 *
 * @param isSame whether a neighbour gets the same answer
 */
export const widened = <T extends { readonly range: AddressRange | null }>(
  range: AddressRange,
  isSame: (found: T) => boolean,
  lookup: RangeLookup<T>,
): AddressRange => {
  const neighbour = (address: number): AddressRange | null => {
    if (address < 0 || address > LAST_IPV4) return null;
    const subnet: Subnet = { family: 4, first: address, prefixBits: 32 };
    const found = isRouted(subnet) ? lookup(firstAddressText(subnet)) : null;
    return found !== null && isSame(found) ? found.range : null;
  };
  let { first, last } = range;
  for (let i = 0; i < MOST_NEIGHBOURS; i++) {
    first = neighbour(first - 1)?.first ?? first;
    last = neighbour(last + 1)?.last ?? last;
  }
  return { first, last };
};
