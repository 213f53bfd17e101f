/** For whom a located answer holds: the shortest prefix around a client that lies wholly where its location came from. */
import { holdsAddress, lastOf, masked, mostPrefixBits, type Subnet } from "./subnet.ts";

/** Addresses that share one location, first to last; numbers as in `Subnet`. */
export type AddressRange = { readonly first: number; readonly last: number };

/**
 * A cached wide answer must not hide a narrower one (RFC 7871 §7.2.1): the scope leaves out every configured subnet that
 * lies within but is not the one the location came from. A range smaller than the longest prefix is answered by its first
 * address, so that the scope is never finer than that.
 *
 * @param subnet what the client showed of its address
 * @param configured the operator's own subnets
 * @param source of them, the one that the location came from; null: the location came from elsewhere
 * @returns bits, 0 to 24 (IPv4) or 48 (IPv6)
 */
export const scopePrefixBits = (
  subnet: Subnet,
  range: AddressRange,
  configured: readonly Subnet[],
  source: Subnet | null,
): number => {
  const { family, first } = subnet;
  for (let bits = 0; bits < mostPrefixBits(family); bits++) {
    const block = masked(family, first, bits);
    const isInRange = range.first <= block.first && lastOf(block) <= range.last;
    const isHiding = configured.some(
      (one) => one !== source && one.prefixBits >= bits && holdsAddress(block, one.family, one.first),
    );
    if (isInRange && !isHiding) return bits;
  }
  return mostPrefixBits(family);
};
